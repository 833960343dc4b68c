package import DaybookFormat
import DaybookSync

/// The server's data in memory, folded from the entries of its stream. Not safe to share: its owner
/// guards it.
package final class ServerState {
  /// Who the server is; `nil` before the first entry.
  package private(set) var history: HistoryIdentity?
  var records: [RecordKey: ServerRecord] = [:]
  var logs: [String: ScopeLog] = [:]
  var verdicts: [Identifier: VerdictRow] = [:]
  var numbers: [Identifier: [UInt64: Identifier]] = [:]
  /// The operations of each incarnation that were settled before they arrived, with the numbers
  /// that keep their verdicts.
  var unseen: [Identifier: [Identifier: UInt64]] = [:]
  var incarnations: [Identifier: IncarnationRow] = [:]

  /// A record with the change that made it what it is.
  struct ServerRecord {
    var current: CurrentRecord
    var lastChange: Change
  }

  /// One scope's changes and the keys of its live rows.
  struct ScopeLog {
    var hash: [UInt8]
    var changes: [Change] = []
    var keys: [RecordKey] = []
  }

  /// The state of an empty stream.
  package init() {}

  /// The state of a stream whose only entry says who the server is.
  package init(history: HistoryIdentity) { self.history = history }

  /// Folds one entry. Entries of a device's streams have no meaning here.
  ///
  /// - Throws: the problem that a change does not follow the one before it, which checked bytes
  ///   never show: the stream is not this server's.
  package func apply(_ entry: Entry) throws(ServerProblem) {
    switch entry {
    case .history(let identity): history = identity
    case .change(let change):
      let log = logs[change.scope] ?? emptyLog(change.scope)
      let hash = change.runningHash(after: log.hash)
      guard change.sequence == UInt64(log.changes.count) + 1,
        Change.mark(of: hash) == change.version.mark
      else {
        throw ServerProblem(
          .storage, "The change log does not continue at \(change.scope) \(change.sequence).")
      }
      fold(change, hash: hash)
    case .verdict(let row): put(row)
    case .incarnation(let row): put(row)
    default: break
    }
  }

  func emptyLog(_ scope: String) -> ScopeLog {
    ScopeLog(hash: Change.initialHash(epoch: history?.epoch ?? .zero, scope: scope))
  }

  func fold(_ change: Change, hash: [UInt8]) {
    var log = logs.removeValue(forKey: change.scope) ?? emptyLog(change.scope)
    log.hash = hash
    log.changes.append(change)
    let before = records[change.record]?.current
    let after = ServerState.record(after: change, before: before)
    switch (before?.row != nil, after.row != nil) {
    case (false, true):
      log.keys.insert(change.record, at: ServerState.place(of: change.record, in: log.keys))
    case (true, false): log.keys.remove(at: ServerState.place(of: change.record, in: log.keys))
    default: break
    }
    records[change.record] = ServerRecord(current: after, lastChange: change)
    logs[change.scope] = log
  }

  /// The record as `change` leaves it.
  static func record(after change: Change, before: CurrentRecord?) -> CurrentRecord {
    let row: ValueMap?
    if change.isSuperfluous {
      row = before?.row
    } else {
      switch change.extent {
      case .row: row = change.fields
      case .removal: row = nil
      case .delta: row = before?.row?.applying(set: change.fields, unset: change.unset)
      }
    }
    let lastWrite =
      change.isSuperfluous ? before?.lastWrite ?? change.deviceClock : change.deviceClock
    return CurrentRecord(
      row: row, version: change.version, scope: change.scope, lastWrite: lastWrite)
  }

  func put(_ row: VerdictRow) {
    verdicts[row.settlement.operationID] = row
    let id = row.settlement.operationID
    if row.digest.isEmpty {
      unseen[row.incarnation, default: [:]][id] = row.number
    } else {
      numbers[row.incarnation, default: [:]][row.number] = id
    }
  }

  func put(_ row: IncarnationRow) {
    let before = incarnations[row.incarnation]?.watermark ?? 0
    incarnations[row.incarnation] = row
    guard row.watermark > before else { return }
    for (number, id) in numbers[row.incarnation] ?? [:] where number < row.watermark {
      numbers[row.incarnation]?[number] = nil
      forget(id, of: row.incarnation)
    }
    for (id, number) in unseen[row.incarnation] ?? [:] where number < row.watermark {
      unseen[row.incarnation]?[id] = nil
      forget(id, of: row.incarnation)
    }
  }

  /// Forgets a verdict, unless another life of the log keeps it.
  private func forget(_ id: Identifier, of incarnation: Identifier) {
    if verdicts[id]?.incarnation == incarnation { verdicts[id] = nil }
  }

  /// The first place in `keys` whose key is not before `key`.
  static func place(of key: RecordKey, in keys: [RecordKey]) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
