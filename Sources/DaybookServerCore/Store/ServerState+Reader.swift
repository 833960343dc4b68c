package import DaybookFormat
package import DaybookSync

extension ServerState: ServerReader {
  /// The record, as a row or a tombstone.
  package func record(_ key: RecordKey) -> CurrentRecord? { records[key]?.current }

  /// The head of `scope`.
  package func head(of scope: String) -> ScopeHead {
    let log = logs[scope] ?? emptyLog(scope)
    return ScopeHead(sequence: UInt64(log.changes.count), hash: log.hash)
  }

  /// The row of an op id, while it is kept.
  package func verdict(of operationID: Identifier) -> VerdictRow? { verdicts[operationID] }

  /// The op id that a number of an incarnation was used for.
  package func operationID(incarnation: Identifier, number: UInt64) -> Identifier? {
    numbers[incarnation]?[number]
  }

  /// What is known of an incarnation.
  package func incarnation(_ id: Identifier) -> IncarnationRow? { incarnations[id] }

  /// Whether `position` lies in this history of `scope`.
  package func contains(_ position: ScopePosition, of scope: String) -> Bool? {
    let log = logs[scope] ?? emptyLog(scope)
    if position.sequence == 0 {
      let initial = emptyLog(scope).hash
      return position.mark == Change.mark(of: initial)
    }
    guard position.sequence <= UInt64(log.changes.count) else { return false }
    return log.changes[Int(position.sequence) - 1].version.mark == position.mark
  }

  /// The names of the scopes in which something has happened, in byte order.
  package var scopes: [String] { logs.keys.sorted(by: ByteOrder.precedes) }

  /// Up to `limit` changes of `scope` above `sequence`.
  package func changes(
    of scope: String, after sequence: UInt64, limit: Int
  ) -> ArraySlice<Change> {
    guard let changes = logs[scope]?.changes, sequence < UInt64(changes.count) else { return [] }
    return changes[Int(sequence)...].prefix(limit)
  }

  /// Up to `limit` live rows of `scope` behind `key`.
  package func rows(of scope: String, after key: RecordKey?, limit: Int) -> [Change] {
    guard let keys = logs[scope]?.keys else { return [] }
    var start = 0
    if let key {
      start = ServerState.place(of: key, in: keys)
      if start < keys.count, keys[start] == key { start += 1 }
    }
    return keys[start...].prefix(limit).compactMap { key in
      guard let record = records[key], let row = record.current.row else { return nil }
      return record.lastChange.carrying(row: row)
    }
  }

  /// The ids of the collection's records, tombstones included, in no order.
  package func keys(of collection: String) -> [String] {
    records.keys.filter { $0.collection == collection }.map(\.id)
  }
}
