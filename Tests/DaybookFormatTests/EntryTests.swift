import DaybookFormat
import Testing

/// One value of every kind of entry and message, with every member in use.
enum EntrySamples {
  static func identifier(_ number: UInt64) -> Identifier {
    Identifier(high: 0x0198_C0DE_0000_7000, low: 0x8000_0000_0000_0000 | number)
  }

  static let time = Timestamp(milliseconds: 1_772_438_400_123)
  static let version = Version(number: 9, mark: 0xFEDC_BA98_7654_3210)
  static let row: ValueMap = [
    "quantity": .int(-12), "price": .decimal(ExactDecimal(mantissa: 1_999, exponent: -2)),
    "note": .text("Süßes"), "at": .time(time), "photo": .bytes([0, 255]),
    "lines": .array([.map(["sku": .text("A-1")]), .null]),
  ]

  static func operation(
    _ action: Action = .patch, base: Base = .version(version), isMember: Bool = true
  ) -> Operation {
    Operation(
      id: identifier(1), incarnation: identifier(2), number: 7,
      clock: HybridTime(time, count: 3), seen: 41, schemaVersion: 2, account: "rep-7",
      device: "phone", record: RecordKey("orders", "17/ä"), scope: "rep/rep-7",
      strategy: .queued, action: action, base: base,
      transaction: isMember ? Operation.Membership(id: identifier(3), index: 1, count: 2) : nil,
      supersedes: isMember ? identifier(4) : nil, fields: row, unset: ["b", "a"])
  }

  static let acceptance = Settlement(
    operationID: identifier(1), serverTime: time,
    verdict: .accepted(
      Settlement.Acceptance(scope: "sales", sequence: 12, version: version, assigned: row)))
  static let refusal = Settlement.Refusal(
    code: .staleBase, message: "It has changed.", currentVersion: version, currentRow: row)

  static func settlement(_ verdict: Settlement.Verdict) -> Settlement {
    Settlement(operationID: identifier(1), serverTime: time, verdict: verdict)
  }

  static func change(_ extent: Change.Extent) -> Change {
    Change(
      operationID: identifier(1), sequence: 12, version: version, seen: 11,
      deviceClock: HybridTime(time), serverTime: time, action: .named("cancel"), extent: extent,
      isSuperfluous: extent == .delta, isContinued: extent != .removal, scope: "sales",
      record: RecordKey("orders", "17"), account: "rep-7", device: "phone",
      fields: extent == .removal ? [:] : row, unset: extent == .delta ? ["z", "y"] : [])
  }

  static let cursor = Cursor(
    epoch: identifier(6),
    positions: [
      "sales": ScopePosition(sequence: 12, mark: .max),
      "rep/1": ScopePosition(sequence: 0, mark: 1),
    ])

  static func departure(_ reason: Departure.Reason) -> Entry {
    .departure(
      Departure(root: identifier(1), members: [identifier(1), identifier(2)], reason: reason))
  }

  static let actions: [Action] = [.create, .patch, .replace, .delete, .named("named")]
  static let verdicts: [Settlement.Verdict] = [
    acceptance.verdict, .conflict(refusal), .refused(refusal), .tooOld(refusal),
  ]

  static let entries: [Entry] =
    actions.map { .operation(operation($0)) }
    + [
      .operation(operation(base: .none, isMember: false)),
      .operation(operation(base: .operation(identifier(5)))),
      .settlement(acceptance), .settlement(settlement(.conflict(refusal))),
      .settlement(settlement(.refused(refusal))),
      .settlement(
        settlement(.tooOld(Settlement.Refusal(code: .belowWatermark, message: "Unknown.")))),
      .attempt(Attempt(operationIDs: [identifier(1), identifier(2)])),
      .decision(Decision(kind: .discarded, root: identifier(1), time: time)),
      .decision(Decision(kind: .retried, root: identifier(1), time: time)),
      .decision(Decision(kind: .resent, root: identifier(1), time: time)),
      .decision(Decision(kind: .released, root: identifier(2), time: time)),
      .decision(Decision(kind: .dropped, root: identifier(2), time: time)),
      .restored(
        Restoration(
          from: identifier(2), time: time, until: LogPosition(stream: "feed", number: 9),
          outbox: .send)),
      .restored(Restoration(from: identifier(2), time: time, until: nil, outbox: .hold)),
      departure(.verdict), departure(.deadLetter(status: 500, message: "Failed.")),
      departure(.withdrawn), departure(.failed(message: "Tried too often.")),
      .binding(Binding(serverID: identifier(7), incarnation: identifier(2))),
      .gap(
        Gap(
          file: "outbox/00000003.g0.dbs", offset: 8_192, kind: "frame", lost: 7...9,
          evidence: [1, 2], quarantine: "outbox-3.g0-8192-0102.bytes", time: time)),
      .gap(Gap(file: "feed/00000001.g0.dbs", offset: 0, kind: "missing", cut: 4, time: time)),
      .change(change(.delta)), .change(change(.row)), .change(change(.removal)),
      .cursor(cursor), .cursor(Cursor(epoch: identifier(6))),
      .bootstrap(
        .begin(
          scope: "sales", epoch: identifier(6), position: ScopePosition(sequence: 5, mark: 6))),
      .bootstrap(.page(scope: "sales", after: RecordKey("orders", "17"))),
      .bootstrap(.end(scope: "sales")),
      .heldRow(
        HeldRow(
          record: RecordKey("orders", "17/ä"), scope: "sales", version: version,
          rowBytes: CBOREncoder.encode(.map(row)))),
      .heldRow(
        HeldRow(
          record: RecordKey("orders", "18"), scope: "sales", version: version, rowBytes: nil,
          isBeingBuilt: true)),
      .scopeBase(ScopeBase(scope: nil, epoch: identifier(6))),
      .scopeBase(
        ScopeBase(
          scope: "sales", epoch: identifier(6), position: ScopePosition(sequence: 5, mark: .max),
          holes: [RecordKey("orders", "17"), RecordKey("orders", "16")],
          bootstrap: ScopeBase.Bootstrap(
            epoch: identifier(8), position: ScopePosition(sequence: 9, mark: 1),
            after: RecordKey("orders", "17")))),
      .feedSettlement(FeedSettlement(acceptance, after: 41)),
      .verdict(
        VerdictRow(
          incarnation: identifier(2), number: 7, digest: operation().digest,
          settlement: acceptance)),
      .verdict(
        VerdictRow(incarnation: identifier(2), number: 7, digest: [], settlement: acceptance)),
      .incarnation(
        IncarnationRow(
          incarnation: identifier(2), account: "rep-7", device: "phone", watermark: 8,
          lastContact: time)),
      .history(HistoryIdentity(serverID: identifier(7), epoch: identifier(6))),
    ]
}

@Suite struct `entries as bytes` {
  @Test func `every kind of entry comes back from its bytes, and gives the same bytes`() throws {
    for entry in EntrySamples.entries {
      let back = try Entry(kind: entry.kind.rawValue, bytes: entry.bytes[...])
      #expect(back == entry)
      #expect(back?.bytes == entry.bytes)
    }
    #expect(Set(EntrySamples.entries.map(\.kind)) == Set(EntryKind.allCases))
  }

  @Test func `an entry that ends too early, anywhere, is refused`() {
    for entry in EntrySamples.entries {
      let bytes = entry.bytes
      for count in bytes.indices {
        #expect(throws: EntryError.self, "\(entry.kind), \(count) of \(bytes.count) bytes") {
          _ = try Entry(kind: entry.kind.rawValue, bytes: bytes.prefix(count))
        }
      }
    }
  }

  @Test func `an entry that goes on behind its end is refused`() {
    for entry in EntrySamples.entries {
      #expect(throws: EntryError.self, "\(entry.kind)") {
        _ = try Entry(kind: entry.kind.rawValue, bytes: (entry.bytes + [0])[...])
      }
    }
  }

  @Test func `whatever bit is flipped, an entry is read or refused and never traps`() {
    var refused = 0
    var total = 0
    for entry in EntrySamples.entries {
      var bytes = entry.bytes
      for index in bytes.indices {
        for bit in 0..<8 {
          bytes[index] ^= 1 << bit
          total += 1
          let read = try? Entry(kind: entry.kind.rawValue, bytes: bytes[...])
          if read == nil { refused += 1 }
          if let read { #expect(read != entry, "\(entry.kind), byte \(index), bit \(bit)") }
          bytes[index] ^= 1 << bit
        }
      }
    }
    #expect(refused > 0 && refused < total)
  }

  @Test func `a slice of a larger buffer is read like bytes of its own`() throws {
    for entry in EntrySamples.entries {
      let padded = [1, 2, 3] + entry.bytes + [4]
      let slice = padded[3..<(padded.count - 1)]
      #expect(try Entry(kind: entry.kind.rawValue, bytes: slice) == entry)
    }
  }

  @Test func `a kind with the high bit may be skipped, another unknown one may not`() throws {
    #expect(try Entry(kind: 0x80, bytes: [1, 2, 3]) == nil)
    #expect(throws: EntryError.invalid(field: .kind, offset: 0)) {
      _ = try Entry(kind: 99, bytes: [])
    }
  }

  @Test func `the running hash covers every byte but the mark`() {
    let change = EntrySamples.change(.row)
    let before = [UInt8](repeating: 0, count: 32)
    let hash = change.runningHash(after: before)
    #expect(change.marked(1).runningHash(after: before) == hash)
    #expect(EntrySamples.change(.delta).runningHash(after: before) != hash)
    #expect(change.runningHash(after: [1] + before.dropFirst()) != hash)
    #expect(Change.mark(of: [1, 2, 3, 4, 5, 6, 7, 8, 9]) == 0x0102_0304_0506_0708)
  }
}

@Suite struct `messages as bytes` {
  private static let history = HistoryIdentity(
    serverID: EntrySamples.identifier(7), epoch: EntrySamples.identifier(6))

  private static let push = PushRequest(
    account: "rep-7", device: "phone", incarnation: EntrySamples.identifier(2),
    serverID: EntrySamples.identifier(7), watermark: 5, known: EntrySamples.cursor,
    items: [
      PushRequest.Item(operation: EntrySamples.operation()),
      PushRequest.Item(
        operation: EntrySamples.operation(.create), baseVersion: EntrySamples.version),
    ],
    withdrawals: [
      PushRequest.Withdrawal(operationID: EntrySamples.identifier(9), number: 6)
    ])
  private static let reply = PushReply(
    history: history, serverTime: EntrySamples.time,
    results: [
      PushResult(
        operationID: EntrySamples.identifier(1), outcome: .settled(EntrySamples.acceptance)),
      PushResult(operationID: EntrySamples.identifier(2), outcome: .blocked),
      PushResult(operationID: EntrySamples.identifier(3), outcome: .collision),
    ])
  private static let page = ChangesPage(
    history: history, serverTime: EntrySamples.time, scopes: ["rep/1", "sales"],
    changes: [EntrySamples.change(.row), EntrySamples.change(.delta)],
    cursor: EntrySamples.cursor, hasMore: true)
  private static let rows = BootstrapPage(
    history: history, position: ScopePosition(sequence: 4, mark: 5),
    rows: [EntrySamples.change(.row)], hasMore: false)

  private func parse(_ bytes: ArraySlice<UInt8>) throws -> Value {
    try CBORDecoder.decode(bytes, mode: .canonical)
  }

  @Test func `every message comes back from its bytes`() throws {
    let carry = { (value: Value) in try self.parse(CBOREncoder.encode(value)[...]) }
    #expect(try PushRequest(value: carry(Self.push.value)) == Self.push)
    #expect(try PushReply(value: carry(Self.reply.value)) == Self.reply)
    #expect(try ChangesPage(value: carry(Self.page.value)) == Self.page)
    #expect(try BootstrapPage(value: carry(Self.rows.value)) == Self.rows)
    for code in ServerProblem.Code.allCases {
      let problem = ServerProblem(code, "A sentence.", watermark: 4)
      #expect(try ServerProblem(value: carry(problem.value)) == problem)
    }
  }

  @Test func `a message that ends too early, anywhere, is refused`() {
    for (value, read) in readers {
      let bytes = CBOREncoder.encode(value)
      for count in bytes.indices {
        #expect(throws: (any Error).self, "\(count) of \(bytes.count)") {
          try read(parse(bytes.prefix(count)))
        }
      }
    }
  }

  @Test func `a message that lacks a member is refused, unless it may be absent`() throws {
    let optional: Set = ["withdrawals", "operations", "results", "changes", "rows", "scopes"]
    for (value, read) in readers {
      let map = try #require(value.map)
      for name in map.names where !optional.contains(name) && name != "watermark" {
        var lacking = map
        lacking[name] = nil
        #expect(throws: EntryError.self, "without \(name)") { try read(.map(lacking)) }
      }
    }
  }

  @Test func `the status of a result is that of its outcome`() {
    #expect(Self.reply.results.map(\.status) == [200, 424, 409])
    for (verdict, status) in [
      (Settlement.Verdict.conflict(EntrySamples.refusal), UInt16(409)),
      (.refused(EntrySamples.refusal), 422), (.tooOld(EntrySamples.refusal), 422),
    ] {
      let outcome = PushResult.Outcome.settled(EntrySamples.settlement(verdict))
      #expect(PushResult(operationID: .zero, outcome: outcome).status == status)
    }
  }

  private var readers: [(Value, (Value) throws -> Void)] {
    [
      (Self.push.value, { _ = try PushRequest(value: $0) }),
      (Self.reply.value, { _ = try PushReply(value: $0) }),
      (Self.page.value, { _ = try ChangesPage(value: $0) }),
      (Self.rows.value, { _ = try BootstrapPage(value: $0) }),
      (ServerProblem(.busy, "Wait.").value, { _ = try ServerProblem(value: $0) }),
    ]
  }
}
