import Daybook
import DaybookFormat
import DaybookLog
import DaybookSync
import DaybookTestKit
import Synchronization

/// A device's log on a simulated disk, written as a store would, with a server of a few lines. The
/// server's clock goes a minute with each write.
final class LoggedDevice {
  static let directory = SimulatedDisk.root + "/log"
  static let schema = Schema(
    name: "shop",
    collections: [
      CollectionSchema(
        name: "orders", fields: ["note": FieldSchema(.text, isOptional: true)],
        scope: .constant("sales"), indexes: ["note"]),
      CollectionSchema(
        name: "visits", fields: ["note": FieldSchema(.text, isOptional: true)],
        scope: .constant("sales"), history: .keep),
    ])
  /// Ten writes.
  static let horizon: Int64 = 10 * 60_000

  let disk: SimulatedDisk
  private(set) var log: Log
  private(set) var state: ClientState
  private var random: SplitMix64
  private var now: Int64 = 1_772_438_400_000
  private var sequence: UInt64 = 0
  private var versions: [RecordKey: UInt64] = [:]
  private var pending: [Change] = []

  init(_ disk: SimulatedDisk, seed: UInt64) throws {
    self.disk = disk
    random = SplitMix64(seed: seed)
    (log, state) = try LoggedDevice.open(disk, seed: seed)
    try feed([
      .bootstrap(
        .begin(
          scope: "sales", epoch: Identifier(high: 7, low: 7),
          position: ScopePosition(sequence: 0, mark: 0))), .bootstrap(.end(scope: "sales")),
    ])
  }

  static func configuration(_ disk: SimulatedDisk, seed: UInt64) -> LogConfiguration {
    var feed = StreamOptions.feed
    feed.segmentByteLimit = 24 << 10
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = 64 << 10
    let random = Mutex(SplitMix64(seed: seed))
    return LogConfiguration(
      streams: [feed, outbox], account: "rep", fileSystem: disk,
      random: { random.withLock { $0.next() } },
      clock: { HybridTime(Timestamp(milliseconds: 1_772_438_400_000)) }, idleMarkDelay: nil)
  }

  /// Opens the log and folds it.
  static func open(_ disk: SimulatedDisk, seed: UInt64) throws -> (Log, ClientState) {
    var folded: ClientState?
    let log = try Log.open(directory, configuration(disk, seed: seed)) {
      identity, found throws(LogError) in
      var state = folded ?? ClientState(schema: schema, incarnation: identity.incarnation)
      do throws(EntryError) {
        if let entry = try Entry(kind: found.kind, bytes: found.bytes) {
          state.apply(entry, position: found.number)
        }
      } catch {
        throw .unreadableEntry(
          file: found.file, offset: found.frameOffset, stream: found.stream, number: found.number)
      }
      folded = state
    }
    var state = folded ?? ClientState(schema: schema, incarnation: log.identity.incarnation)
    state.endReplay()
    return (log, state)
  }

  /// The state that opening a disk gives; the log is closed again.
  static func replayed(_ disk: SimulatedDisk, seed: UInt64 = 99) throws -> ClientState {
    let (log, state) = try open(disk, seed: seed)
    if let loss = log.findings.first(where: \.isLoss) { throw LogError.damaged(loss) }
    try log.close()
    return state
  }

  static let limits: MaintenanceLimits = {
    var limits = MaintenanceLimits()
    limits.rawByteLimit = 128 << 10
    limits.rawFileLimit = 8
    limits.inputByteLimit = 512 << 10
    limits.mergeFileLimit = 3
    limits.garbageByteLimit = 8 << 10
    limits.snapshotByteLimit = 24 << 10
    limits.supersededByteLimit = 256 << 10
    return limits
  }()

  /// One round of upkeep of the log on `disk`.
  @discardableResult
  static func upkeep(
    _ disk: SimulatedDisk, seed: UInt64 = 5, thorough: Bool = true
  ) throws(LogError) -> LogUpkeep.Outcome {
    let random = Mutex(SplitMix64(seed: seed))
    var upkeep = LogUpkeep(
      directory, fileSystem: disk, schema: schema, limits: limits, horizonMilliseconds: horizon,
      random: { random.withLock { $0.next() } },
      clock: { HybridTime(Timestamp(milliseconds: 1_772_438_400_000)) })
    return try upkeep.run(thorough: thorough)
  }

  /// Closes the log.
  func close() throws { try log.close() }

  /// Closes the log and opens it again.
  func reopen(seed: UInt64) throws {
    try log.close()
    (log, state) = try LoggedDevice.open(disk, seed: seed)
  }

  private func outbox(_ entries: [Entry]) throws { try append("outbox", entries) }

  private func feed(_ entries: [Entry]) throws { try append("feed", entries) }

  private func append(_ stream: String, _ entries: [Entry]) throws {
    if entries.isEmpty { return }
    let new = entries.map { NewEntry(kind: $0.kind.rawValue, bytes: $0.bytes) }
    let first = try log.appendAndWait(stream, [new])
    for (place, entry) in entries.enumerated() {
      state.apply(entry, position: first + UInt64(place))
    }
  }

  private func chance(_ count: UInt64, in all: UInt64) -> Bool { random.next() % all < count }

  /// Writes `count` operations, and lets the server answer what it will.
  func work(_ count: Int) throws {
    for _ in 0..<count {
      now += 60_000
      try write()
      if chance(1, in: 3) { try push() }
      if chance(1, in: 4) { try pull() }
      if chance(1, in: 8), let group = state.setAside.first {
        try outbox([
          .decision(
            Decision(
              kind: chance(1, in: 2) ? .discarded : .retried, root: group.root,
              time: Timestamp(milliseconds: now)))
        ])
      }
    }
  }

  private func write() throws {
    let key = RecordKey(chance(1, in: 4) ? "visits" : "orders", "\(random.next() % 12)")
    let isNew = state.shown(key) == nil && state.base(for: key) == .none
    let old = state.setAside.first?.operations.first?.operation
    let id = Identifier.version7(milliseconds: now, random: (random.next(), random.next()))
    let note = String(repeating: "note \(random.next() % 1_000) ", count: 12)
    try outbox([
      .operation(
        Operation(
          id: id, incarnation: state.incarnation, number: state.nextNumber,
          clock: HybridTime(Timestamp(milliseconds: now)), account: "rep", device: "phone",
          record: key, scope: "sales", action: isNew ? .create : .patch, base: state.base(for: key),
          supersedes: chance(1, in: 8) ? old?.id : nil, fields: ["note": .text(note)]))
    ])
  }

  /// Sends up to five, of which the server refuses some; a reply may be lost.
  private func push() throws {
    let batch = state.unsettled.prefix(5).map(\.operation)
    if batch.isEmpty { return }
    let fresh = batch.filter { state.operation($0.id)?.isAttempted == false }
    if !fresh.isEmpty { try outbox([.attempt(Attempt(operationIDs: fresh.map(\.id)))]) }
    var settlements: [Settlement] = []
    for operation in batch {
      let time = Timestamp(milliseconds: now)
      if chance(1, in: 8) {
        settlements.append(
          Settlement(
            operationID: operation.id, serverTime: time,
            verdict: .refused(Settlement.Refusal(code: .stateRule, message: "No."))))
        continue
      }
      sequence += 1
      let number = (versions[operation.record] ?? sequence - 1) + 1
      versions[operation.record] = number
      let version = Version(number: number, mark: random.next())
      pending.append(
        Change(
          operationID: operation.id, sequence: sequence, version: version, seen: 0,
          deviceClock: operation.clock, serverTime: time, action: operation.action, extent: .row,
          scope: "sales", record: operation.record, account: "rep", device: "phone",
          fields: operation.fields, unset: []))
      settlements.append(
        Settlement(
          operationID: operation.id, serverTime: time,
          verdict: .accepted(
            Settlement.Acceptance(scope: "sales", sequence: sequence, version: version))))
    }
    // A lost reply: the feed tells of it first, and of what was refused nothing does.
    let known = chance(1, in: 4) ? [] : settlements
    let groups = state.departures(because: known)
    try outbox(known.map(Entry.settlement) + groups.map(Entry.departure))
  }

  private func pull() throws {
    guard let last = pending.last else { return }
    let place = ScopePosition(sequence: last.sequence, mark: last.version.mark)
    try feed(
      pending.map(Entry.change) + [
        .cursor(Cursor(epoch: Identifier(high: 7, low: 7), positions: ["sales": place]))
      ])
    pending = []
    if chance(2, in: 3) { try outbox(state.unrecordedSettlements.map(Entry.settlement)) }
  }
}
