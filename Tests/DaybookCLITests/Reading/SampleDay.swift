import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization

/// One morning with fixed ids and clocks, as the logs of one device and of its server: a rep takes
/// an order, the office cancels it, the rep's edit comes too late and is refused, and two more
/// orders wait.
struct SampleDay {
  static let serverID = Identifier(high: 0x5E, low: 1)
  static let epoch = Identifier(high: 0xE0, low: 1)
  static let incarnation = Identifier(high: 0x1C, low: 7)
  static let scope = "rep/rep-7"
  static let order = RecordKey("orders", "1001")

  /// The `n`th operation of the morning.
  static func id(_ number: UInt64) -> Identifier { Identifier(high: 0x0A, low: number) }

  /// 2026-03-02, at this hour and minute.
  static func time(_ hour: Int64, _ minute: Int64) -> Timestamp {
    Timestamp(milliseconds: 1_772_409_600_000 + (hour * 60 + minute) * 60_000)
  }

  static let created = Version(number: 1, mark: 0xC0FF_EE00_0000_0001)
  static let cancelled = Version(number: 2, mark: 0xC0FF_EE00_0000_0002)
  static let row: ValueMap = [
    "shop": .text("17"), "quantity": .int(10), "status": .text("open"),
  ]

  static func operation(
    _ number: UInt64, at time: Timestamp, seen: UInt64 = 0, record: RecordKey, action: Action,
    base: Base = .none, fields: ValueMap, unset: [String] = [],
    transaction: Operation.Membership? = nil
  ) -> Operation {
    Operation(
      id: id(number), incarnation: incarnation, number: number, clock: HybridTime(time),
      seen: seen, account: "rep-7", device: "phone-7", record: record, scope: scope,
      action: action, base: base, transaction: transaction, fields: fields, unset: unset)
  }

  static let create = operation(
    1, at: time(9, 0), record: order, action: .create, fields: row)
  static let edit = operation(
    2, at: time(10, 58), seen: 1, record: order, action: .patch, base: .version(created),
    fields: ["quantity": .int(12)])
  static let visit = Operation.Membership(id: Identifier(high: 0x77, low: 1), index: 0, count: 2)
  static let next = operation(
    3, at: time(11, 20), seen: 2, record: RecordKey("orders", "1002"), action: .create,
    fields: ["quantity": .int(3), "status": .text("open")], transaction: visit)
  static let nextVisit = operation(
    4, at: time(11, 20), seen: 2, record: RecordKey("visits", "v-1"), action: .create,
    fields: ["shop": .text("17")],
    transaction: Operation.Membership(id: visit.id, index: 1, count: 2))

  static func change(
    _ number: UInt64, _ sequence: UInt64, _ version: Version, seen: UInt64, made: Timestamp,
    taken: Timestamp, action: Action, extent: Change.Extent, by account: String, on device: String,
    fields: ValueMap
  ) -> Change {
    Change(
      operationID: id(number), sequence: sequence, version: version, seen: seen,
      deviceClock: HybridTime(made), serverTime: taken, action: action, extent: extent,
      scope: scope, record: order, account: account, device: device, fields: fields)
  }

  static let createChange = change(
    1, 1, created, seen: 0, made: time(9, 0), taken: time(9, 1), action: .create, extent: .row,
    by: "rep-7", on: "phone-7", fields: row)
  static let cancelChange = change(
    100, 2, cancelled, seen: 1, made: time(11, 0), taken: time(11, 0), action: .named("cancel"),
    extent: .delta, by: "office", on: "desk-1", fields: ["status": .text("cancelled")])

  static let acceptance = Settlement(
    operationID: id(1), serverTime: time(9, 1),
    verdict: .accepted(.init(scope: scope, sequence: 1, version: created)))
  static let refusal = Settlement(
    operationID: id(2), serverTime: time(11, 3),
    verdict: .refused(
      .init(
        code: .staleBase, message: "The record has changed since it was read.",
        currentVersion: cancelled,
        currentRow: row.applying(set: ["status": .text("cancelled")], unset: []))))

  static func position(_ version: Version) -> ScopePosition {
    ScopePosition(sequence: version.number, mark: version.mark)
  }
}

extension SampleDay {
  /// What a device's log holds, in the order of writing: the stream and one append.
  static let deviceEntries: [(stream: String, time: Timestamp, entries: [Entry])] = [
    (
      "outbox", time(8, 0),
      [.binding(Binding(serverID: serverID, incarnation: incarnation))]
    ),
    (
      "feed", time(8, 0),
      [
        .bootstrap(
          .begin(scope: scope, epoch: epoch, position: ScopePosition(sequence: 0, mark: 0))),
        .bootstrap(.end(scope: scope)),
      ]
    ),
    ("outbox", time(9, 0), [.operation(create)]),
    ("outbox", time(9, 1), [.attempt(Attempt(operationIDs: [create.id]))]),
    ("outbox", time(9, 1), [.settlement(acceptance)]),
    (
      "feed", time(9, 2),
      [
        .change(createChange),
        .cursor(Cursor(epoch: epoch, positions: [scope: position(created)])),
      ]
    ),
    ("outbox", time(10, 58), [.operation(edit)]),
    ("outbox", time(11, 3), [.attempt(Attempt(operationIDs: [edit.id]))]),
    (
      "outbox", time(11, 3),
      [
        .settlement(refusal),
        .departure(Departure(root: edit.id, members: [edit.id], reason: .verdict)),
      ]
    ),
    (
      "feed", time(11, 4),
      [
        .change(cancelChange),
        .cursor(Cursor(epoch: epoch, positions: [scope: position(cancelled)])),
      ]
    ),
    ("outbox", time(11, 20), [.operation(next), .operation(nextVisit)]),
  ]

  /// What the server's log holds.
  static let serverEntries: [(stream: String, time: Timestamp, entries: [Entry])] = [
    (
      "changes", time(7, 0), [.history(HistoryIdentity(serverID: serverID, epoch: epoch))]
    ),
    (
      "changes", time(9, 1),
      [
        .incarnation(
          IncarnationRow(
            incarnation: incarnation, account: "rep-7", device: "phone-7", watermark: 1,
            lastContact: time(9, 1))),
        .change(createChange),
        .verdict(
          VerdictRow(
            incarnation: incarnation, number: 1, digest: create.digest, settlement: acceptance)),
      ]
    ),
    ("changes", time(11, 0), [.change(cancelChange)]),
    (
      "changes", time(11, 3),
      [
        .verdict(
          VerdictRow(
            incarnation: incarnation, number: 2, digest: edit.digest, settlement: refusal))
      ]
    ),
  ]

  /// Opens a new log at `path` with ids and salts from a fixed seed, and writes `entries`.
  ///
  /// No mark is written by itself, so that the bytes are the same every time.
  static func write(
    _ entries: [(stream: String, time: Timestamp, entries: [Entry])], to path: String,
    streams: [StreamOptions], account: String
  ) throws -> Log {
    let clock = Mutex(time(8, 0))
    let random = Mutex(SplitMix64(seed: 7))
    let log = try Log.open(
      path,
      LogConfiguration(
        streams: streams, account: account, random: { random.withLock { $0.next() } },
        clock: { HybridTime(clock.withLock { $0 }) }, idleMarkDelay: nil)
    ) { _, _ in }
    for (stream, time, entries) in entries {
      clock.withLock { $0 = time }
      _ = try log.appendAndWait(
        stream, [entries.map { NewEntry(kind: $0.kind.rawValue, bytes: $0.bytes) }])
    }
    return log
  }

  /// A device's log, open; close it or copy its directory.
  static func openDevice(
    at path: String,
    _ entries: [(stream: String, time: Timestamp, entries: [Entry])] = deviceEntries
  ) throws -> Log {
    try write(entries, to: path, streams: [.feed, .outbox], account: "rep-7")
  }
}
