import DaybookFormat

/// One of every kind of entry, with every kind of value, in every shape that a dump tells apart. No
/// app writes such a log; it is for readers.
enum SampleEntries {
  private static let day = SampleDay.self
  private static let other = Identifier(high: 0x0B, low: 1)
  private static let position = ScopePosition(sequence: 9, mark: 0xFF)

  /// Values whose JSON needs care.
  static let values: ValueMap = [
    "text": .text("\"Süß\"\\\n\r\t\u{8}\u{7F}\u{2028}/"),
    "whole": .array([.int(0), .int(-1), .unsigned(1 << 53), .unsigned(1 << 53 + 1)]),
    "far": .array([.unsigned(.max), .int(.min), .negative(.max)]),
    "double": .array(
      [
        0, -0.0, 1.5, 0.1, 1e15, 9_007_199_254_740_994, 1e16, 1e-4, 1e-5, .leastNonzeroMagnitude,
        .infinity, .nan,
      ]
      .map(Value.double)),
    "decimal": .array(
      [(1_999, -2), (-5, 0), (5, -1), (7, 20), (7, 21), (7, -20), (7, -22)].map {
        .decimal(ExactDecimal(mantissa: $0.0, exponent: $0.1))
      }),
    "time": .array(
      [0, 1_772_438_400_123, -1, 951_782_400_000].map {
        .time(Timestamp(milliseconds: $0))
      }),
    "bytes": .array([.bytes([]), .bytes([0, 255, 254])]),
    "other": .array([.null, .bool(true), .undefined, .map([:]), .array([])]),
    "nested": .map(["b": .map(["aa": .null, "b": .int(1)]), "a": .text("")]),
  ]

  /// The entries of each stream.
  static let all: [(stream: String, time: Timestamp, entries: [Entry])] = [
    ("outbox", day.time(12, 0), operations + settlements + others),
    ("feed", day.time(12, 1), changes + snapshot),
  ]

  private static let operations: [Entry] = [
    .operation(
      Operation(
        id: day.id(1), incarnation: day.incarnation, number: 1,
        clock: HybridTime(day.time(12, 0), count: 7), seen: .max, schemaVersion: .max, account: "",
        device: "ä/b", record: RecordKey("orders", "a/b c"), scope: "", strategy: .online,
        action: .named("cancel"), base: .operation(other),
        transaction: Operation.Membership(id: other, index: 1, count: 2), supersedes: other,
        fields: values, unset: ["z", "a"])),
    .operation(
      Operation(
        id: day.id(2), incarnation: day.incarnation, number: 2,
        clock: HybridTime(rawValue: .max), account: "rep-7", device: "phone-7",
        record: day.order, scope: day.scope, strategy: .queued, action: .replace,
        base: .version(day.created))),
  ]

  private static let refusal = Settlement.Refusal(
    code: .stateRule, message: "No.\n", currentVersion: day.created, currentRow: values)

  private static let settlements: [Entry] = [
    Settlement.Verdict.accepted(
      Settlement.Acceptance(
        scope: day.scope, sequence: 3, version: day.created, assigned: values)),
    .conflict(refusal), .refused(Settlement.Refusal(code: .superseded, message: "")),
    .tooOld(refusal),
  ].map { verdict in
    .settlement(
      Settlement(operationID: day.id(1), serverTime: Timestamp(milliseconds: -1), verdict: verdict))
  }

  private static let reasons: [Departure.Reason] = [
    .verdict, .deadLetter(status: 500, message: "Failed."), .withdrawn, .failed(message: "Often."),
  ]

  private static let others: [Entry] =
    [Decision.Kind.discarded, .retried, .resent, .released, .dropped].map {
      .decision(Decision(kind: $0, root: day.id(1), time: day.time(12, 0)))
    }
    + reasons.map { .departure(Departure(root: day.id(1), members: [], reason: $0)) }
    + [
      .attempt(Attempt(operationIDs: [day.id(1), day.id(2)])),
      .binding(Binding(serverID: day.serverID, incarnation: day.incarnation)),
      .gap(
        Gap(
          file: "outbox/00000001.g0.dbs", offset: 1 << 40, kind: "frameCopy",
          evidence: [UInt8](0..<32), quarantine: "outbox-1.g0-0-00010203.bytes",
          time: day.time(12, 0))),
      .restored(
        Restoration(
          from: other, time: day.time(12, 0), until: LogPosition(stream: "feed", number: 9),
          outbox: .hold)),
      .restored(Restoration(from: other, time: day.time(12, 0), until: nil, outbox: .send)),
    ]

  private static let changes: [Entry] = [Change.Extent.delta, .row, .removal].map { extent in
    .change(
      Change(
        operationID: day.id(1), sequence: 3, version: day.created, seen: 2,
        deviceClock: HybridTime(day.time(12, 0)), serverTime: Timestamp(milliseconds: 1),
        action: extent == .removal ? .delete : .patch, extent: extent,
        isSuperfluous: extent == .delta, isContinued: extent == .row, scope: day.scope,
        record: day.order, account: "rep-7", device: "phone-7",
        fields: extent == .removal ? [:] : values, unset: extent == .delta ? ["b", "a"] : []))
  }

  private static let snapshot: [Entry] = [
    .cursor(Cursor(epoch: day.epoch, positions: ["b": position, "a": position, "aa": position])),
    .bootstrap(.begin(scope: day.scope, epoch: day.epoch, position: position)),
    .bootstrap(.page(scope: day.scope, after: day.order)),
    .bootstrap(.end(scope: day.scope)),
    .heldRow(
      HeldRow(
        record: day.order, scope: day.scope, version: day.created,
        rowBytes: CBOREncoder.encode(.map(values)))),
    .heldRow(
      HeldRow(
        record: day.order, scope: day.scope, version: day.created, rowBytes: nil,
        isBeingBuilt: true)),
    .scopeBase(
      ScopeBase(
        scope: day.scope, epoch: day.epoch, position: position,
        holes: [RecordKey("b", "1"), RecordKey("aa", "2"), RecordKey("a", "2")],
        bootstrap: ScopeBase.Bootstrap(epoch: other, position: position, after: day.order))),
    .scopeBase(ScopeBase(scope: nil, epoch: nil)),
    .feedSettlement(
      FeedSettlement(
        Settlement(
          operationID: day.id(1), serverTime: day.time(12, 0), verdict: .refused(refusal)),
        after: 9)),
    .verdict(
      VerdictRow(
        incarnation: day.incarnation, number: 1, digest: [],
        settlement: Settlement(
          operationID: day.id(1), serverTime: day.time(12, 0), verdict: .tooOld(refusal)))),
  ]
}
