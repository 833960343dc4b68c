import DaybookFormat
import DaybookServerCore
import DaybookSync
import DaybookTestKit
import Testing

/// A server that takes hand-made requests.
private struct Bench {
  let world = World()
  let incarnation = Identifier(high: 3, low: 3)

  init() async throws { _ = try await pull(limit: 500) }

  func pull(after: Cursor? = nil, limit: Int) async throws -> ChangesPage {
    try await world.server.engine.changes(
      ChangesRequest(
        account: "rep", device: "phone", incarnation: incarnation, serverID: nil, after: after,
        limit: limit))
  }

  func operation(
    _ number: UInt64, _ edit: SimulatedEdit, base: Base = .none, id: UInt64? = nil,
    scope: String = "sales", account: String = "rep", incarnation: Identifier? = nil,
    transaction: Operation.Membership? = nil
  ) -> Operation {
    Operation(
      id: Identifier(high: 4, low: id ?? number), incarnation: incarnation ?? self.incarnation,
      number: number, clock: HybridTime(rawValue: number), account: account, device: "phone",
      record: edit.record, scope: scope, action: edit.action, base: base,
      transaction: transaction, supersedes: edit.supersedes, fields: edit.fields,
      unset: edit.unset)
  }

  func push(
    _ operations: [Operation], watermark: UInt64 = 1, withdrawing: [(UInt64, UInt64)] = [],
    known: [String: ScopePosition] = [:], account: String = "rep", server: Identifier? = nil
  ) async throws(ServerProblem) -> [PushResult] {
    let history = world.server.engine.store.history
    return try await world.server.engine.push(
      PushRequest(
        account: account, device: "phone", incarnation: incarnation,
        serverID: server ?? history.serverID, watermark: watermark,
        known: Cursor(epoch: history.epoch, positions: known),
        items: operations.map { PushRequest.Item(operation: $0) },
        withdrawals: withdrawing.map {
          PushRequest.Withdrawal(operationID: Identifier(high: 4, low: $0.0), number: $0.1)
        })
    ).results
  }

  /// The results in words: a verdict, a refusal's code, blocked or collision.
  func words(_ results: [PushResult]) -> [String] {
    results.map { result in
      switch result.outcome {
      case .settled(let settlement): return settlement.refusal?.code.rawValue ?? "accepted"
      case .blocked: return "blocked"
      case .collision: return "collision"
      }
    }
  }

  func words(
    _ operations: [Operation], watermark: UInt64 = 1, withdrawing: [(UInt64, UInt64)] = []
  ) async throws -> [String] {
    words(try await push(operations, watermark: watermark, withdrawing: withdrawing))
  }

  func changes() async throws -> [Change] { try await world.server.changes(of: "sales") }

  func member(_ index: UInt16, of count: UInt16) -> Operation.Membership {
    Operation.Membership(id: Identifier(high: 7, low: 7), index: index, count: count)
  }
}

@Suite struct `the server's rules about op ids` {
  @Test func `the same operation again has the same answer and no second effect`() async throws {
    let bench = try await Bench()
    let operation = bench.operation(1, .order("1", quantity: 1))
    let first = try await bench.push([operation])
    bench.world.clock.advance(byMilliseconds: 5_000)
    #expect(try await bench.push([operation]) == first)
    #expect(try await bench.push([operation, operation]) == first + first)
    #expect(try await bench.changes().count == 1)
  }

  @Test func `a refusal is repeated word by word, though it would be accepted now`() async throws {
    let bench = try await Bench()
    let visit = bench.operation(1, .visit("1", order: "1"))
    let first = try await bench.push([visit])
    #expect(bench.words(first) == ["missing-reference"])
    _ = try await bench.push([bench.operation(2, .order("1", quantity: 1))])
    #expect(try await bench.push([visit]) == first)
  }

  @Test func `another body under a known id is a collision, not an acknowledgement`() async throws {
    let bench = try await Bench()
    _ = try await bench.push([bench.operation(1, .order("1", quantity: 1))])
    let other = bench.operation(1, .order("1", quantity: 2))
    #expect(try await bench.words([other]) == ["collision"])
    #expect(try await bench.world.order("1")?.quantity == 1)
  }

  @Test func `superseding, with the old one unknown, settles it first and takes the new one`()
    async throws
  {
    let bench = try await Bench()
    let old = bench.operation(1, .order("1", quantity: 1))
    var edit = SimulatedEdit.order("1", quantity: 2)
    edit.supersedes = old.id
    #expect(try await bench.words([bench.operation(2, edit)]) == ["accepted"])
    #expect(try await bench.words([old]) == ["superseded"], "it comes too late")
    #expect(try await bench.world.order("1")?.quantity == 2)
  }

  @Test func `superseding, with the old one accepted, refuses the new one`() async throws {
    let bench = try await Bench()
    let old = bench.operation(1, .order("1", quantity: 1))
    _ = try await bench.push([old])
    var edit = SimulatedEdit.order("1", quantity: 2)
    edit.supersedes = old.id
    #expect(try await bench.words([bench.operation(2, edit)]) == ["was-accepted"])
    #expect(try await bench.world.order("1")?.quantity == 1)
  }

  @Test func `superseding, with the old one refused, takes the new one`() async throws {
    let bench = try await Bench()
    let old = bench.operation(1, .quantity(5, of: "1"))
    #expect(try await bench.words([old]) == ["unknown-record"])
    var edit = SimulatedEdit.order("1", quantity: 2)
    edit.supersedes = old.id
    #expect(try await bench.words([bench.operation(2, edit)]) == ["accepted"])
  }

  @Test func `superseding, with the new one refused, still settles the old one`() async throws {
    let bench = try await Bench()
    let old = bench.operation(1, .order("1", quantity: 1))
    let new = bench.operation(2, .quantity(2, of: "none", supersedes: old.id))
    #expect(try await bench.words([new]) == ["unknown-record"])
    #expect(try await bench.words([old]) == ["superseded"])
    #expect(try await bench.changes().isEmpty)
  }

  @Test func `withdrawing answers the verdict, or makes the operation never take effect`()
    async throws
  {
    let bench = try await Bench()
    let taken = bench.operation(1, .order("1", quantity: 1))
    let late = bench.operation(2, .order("2", quantity: 1))
    _ = try await bench.push([taken])
    #expect(try await bench.words([], withdrawing: [(1, 1), (2, 2)]) == ["accepted", "withdrawn"])
    #expect(try await bench.words([late]) == ["withdrawn"])
    #expect(try await bench.changes().count == 1)
  }

  @Test func `a raised watermark prunes below it and never above`() async throws {
    let bench = try await Bench()
    let operations = (1...3).map { bench.operation($0, .order("\($0)", quantity: 1)) }
    _ = try await bench.push(operations, withdrawing: [(9, 4)])
    _ = try await bench.push([], watermark: 3)
    let kept = try await [1, 2, 3, 9].asyncFilter { low in
      try await bench.world.server.verdict(of: Identifier(high: 4, low: low)) != nil
    }
    #expect(kept == [3, 9])
    #expect(
      try await bench.words(operations, watermark: 3) == [
        "below-watermark", "below-watermark", "accepted",
      ])
    #expect(try await bench.changes().count == 3)
    _ = try await bench.push([], watermark: 5)
    #expect(try await bench.world.server.verdict(of: Identifier(high: 4, low: 9)) == nil)
  }

  @Test func `a lower watermark, or a number with another id, is an old copy and runs nothing`()
    async throws
  {
    let bench = try await Bench()
    _ = try await bench.push([bench.operation(1, .order("1", quantity: 1))], watermark: 1)
    let twin = bench.operation(1, .order("2", quantity: 1), id: 50)
    let fresh = bench.operation(2, .order("3", quantity: 1))
    await expectProblem(.oldCopy) { try await bench.push([fresh, twin]) }
    await expectProblem(.oldCopy) { try await bench.push([fresh], withdrawing: [(51, 1)]) }
    _ = try await bench.push([], watermark: 2)
    await expectProblem(.oldCopy, watermark: 2) { try await bench.push([fresh], watermark: 1) }
    #expect(try await bench.changes().count == 1)
  }

  @Test func `requests that are not this log's or this account's run nothing`() async throws {
    let bench = try await Bench()
    let fine = bench.operation(1, .order("1", quantity: 1))
    let elsewhere = Identifier(high: 9, low: 9)
    await expectProblem(.notOurServer) { try await bench.push([fine], server: elsewhere) }
    await expectProblem(.wrongAccount) { try await bench.push([fine], account: "other") }
    let others = bench.operation(2, .order("2", quantity: 1), account: "other")
    await expectProblem(.wrongAccount) { try await bench.push([fine, others]) }
    let ahead = ["sales": ScopePosition(sequence: 9, mark: 9)]
    await expectProblem(.historyChanged) { try await bench.push([fine], known: ahead) }
    #expect(try await bench.changes().isEmpty)
  }

  private func expectProblem(
    _ code: ServerProblem.Code, watermark: UInt64? = nil,
    _ body: () async throws -> [PushResult]
  ) async {
    do {
      _ = try await body()
      Issue.record("\(code) was expected")
    } catch {
      let problem = error as? ServerProblem
      #expect(problem?.code == code)
      if let watermark { #expect(problem?.watermark == watermark) }
    }
  }
}

@Suite struct `the server's transactions` {
  @Test func `a transaction takes effect whole, in one run of sequence numbers`() async throws {
    let bench = try await Bench()
    let unit = [
      bench.operation(1, .order("1", quantity: 1), transaction: bench.member(0, of: 2)),
      bench.operation(2, .visit("1", order: "1"), transaction: bench.member(1, of: 2)),
    ]
    #expect(try await bench.words(unit) == ["accepted", "accepted"])
    #expect(try await bench.changes().map(\.isContinued) == [true, false])
  }

  @Test func `one refused member refuses all, and nothing of it is left`() async throws {
    let bench = try await Bench()
    let unit = [
      bench.operation(1, .order("1", quantity: 1), transaction: bench.member(0, of: 3)),
      bench.operation(2, .visit("1", order: "none"), transaction: bench.member(1, of: 3)),
      bench.operation(3, .visit("2", order: "1"), transaction: bench.member(2, of: 3)),
    ]
    let after = bench.operation(4, .visit("3", order: "1"))
    let free = bench.operation(5, .order("5", quantity: 1))
    #expect(
      try await bench.words(unit + [after, free]) == [
        "transaction", "missing-reference", "transaction", "blocked", "accepted",
      ])
    #expect(try await bench.changes().map(\.record) == [.order("5")])
    #expect(try await bench.world.server.record(.order("1")) == nil)
  }

  @Test func `half a transaction, another order or two scopes are not run`() async throws {
    let bench = try await Bench()
    let first = bench.operation(1, .order("1", quantity: 1), transaction: bench.member(0, of: 2))
    let second = bench.operation(
      2, .order("2", quantity: 1), transaction: bench.member(1, of: 2))
    let diary = SimulatedEdit(.create, RecordKey("diary", "1"), ["text": .text("x")])
    let elsewhere = bench.operation(
      2, diary, scope: "rep", transaction: bench.member(1, of: 2))
    for unit in [[first], [second], [second, first], [first, elsewhere]] {
      do throws(ServerProblem) {
        _ = try await bench.push(unit)
        Issue.record("it ran")
      } catch {
        #expect(error.code == .malformed)
      }
    }
    #expect(try await bench.changes().isEmpty)
  }

  @Test func `the half that a device has not heard of is answered`() async throws {
    let bench = try await Bench()
    let unit = [
      bench.operation(1, .order("1", quantity: 1), transaction: bench.member(0, of: 2)),
      bench.operation(2, .order("2", quantity: 1), transaction: bench.member(1, of: 2)),
    ]
    let whole = try await bench.push(unit)
    #expect(try await bench.push([unit[1]], watermark: 2) == [whole[1]])
  }

  @Test func `a transaction of which a member was superseded never runs`() async throws {
    let bench = try await Bench()
    let unit = [
      bench.operation(1, .order("1", quantity: 1), transaction: bench.member(0, of: 2)),
      bench.operation(2, .order("2", quantity: 1), transaction: bench.member(1, of: 2)),
    ]
    var edit = SimulatedEdit.order("1", quantity: 9)
    edit.supersedes = unit[0].id
    _ = try await bench.push([bench.operation(3, edit)])
    #expect(try await bench.words(unit) == ["superseded", "transaction"])
    #expect(try await bench.words(unit) == ["superseded", "transaction"])
    #expect(try await bench.world.order("1")?.quantity == 9)
    #expect(try await bench.world.order("2") == nil)
  }

  @Test func `no page ends inside a transaction, and no page is larger otherwise`() async throws {
    let bench = try await Bench()
    _ = try await bench.push([bench.operation(1, .order("0", quantity: 1))])
    let unit = (0..<4).map { index in
      bench.operation(
        UInt64(index) + 2, .order("\(index + 1)", quantity: 1),
        transaction: bench.member(UInt16(index), of: 4))
    }
    _ = try await bench.push(unit)
    _ = try await bench.push([bench.operation(9, .order("9", quantity: 1))])
    let initial = Change.initialHash(
      epoch: bench.world.server.engine.store.history.epoch, scope: "sales")
    var cursor = Cursor(
      epoch: bench.world.server.engine.store.history.epoch,
      positions: ["sales": ScopePosition(sequence: 0, mark: Change.mark(of: initial))])
    var sizes: [Int] = []
    while true {
      let page = try await bench.pull(after: cursor, limit: 2)
      sizes.append(page.changes.count)
      cursor = page.cursor
      if !page.hasMore { break }
    }
    #expect(sizes == [5, 1])
  }

  @Test func `a base with no verdict here blocks, and a base refused refuses`() async throws {
    let bench = try await Bench()
    let create = bench.operation(1, .order("1", quantity: 1))
    let edit = bench.operation(2, .quantity(2, of: "1"), base: .operation(create.id))
    #expect(try await bench.words([edit]) == ["blocked"])
    #expect(try await bench.words([create, edit]) == ["accepted", "accepted"])

    let bad = bench.operation(3, .quantity(3, of: "none"))
    let after = bench.operation(4, .quantity(4, of: "none"), base: .operation(bad.id))
    #expect(try await bench.words([bad, after]) == ["unknown-record", "blocked"])
    #expect(try await bench.words([after]) == ["base-refused"])
  }
}

extension Sequence {
  fileprivate func asyncFilter(
    _ isIncluded: (Element) async throws -> Bool
  ) async throws -> [Element] {
    var result: [Element] = []
    for element in self where try await isIncluded(element) { result.append(element) }
    return result
  }
}
