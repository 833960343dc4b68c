import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// The scenarios that every change of the rules is walked through, by their numbers.
@Suite struct `scenarios` {
  @Test func `1, an offline write is pushed, accepted, pulled, confirmed and forgotten`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let id = try rep.write(.order("1", quantity: 10))[0]
    #expect(rep.shownOrder("1")?.quantity == 10)
    #expect(rep.state.shown(.order("1"))?.isPending == true)
    #expect(try await world.order("1") == nil)

    try await rep.runPush()
    let settlement = try #require(rep.state.operation(id)?.settlement)
    #expect(settlement.acceptance?.sequence == 1)
    #expect(settlement.acceptance?.version.number == 1)
    #expect(rep.state.operation(id)?.isUnsettled == false)
    #expect(rep.state.shown(.order("1"))?.isPending == true, "not pulled, so not confirmed")

    try await rep.runPull()
    #expect(rep.state.keptOperations.isEmpty)
    #expect(rep.state.shown(.order("1"))?.isPending == false)
    #expect(try await rep.shownOrder("1") == world.order("1"))
    #expect(rep.state.watermark == 2)
    #expect(try rep.replaysToItself())
  }

  @Test func `2, a lost reply and a crash lead to one effect and one settlement`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let id = try rep.write(.order("1", quantity: 10))[0]
    world.network.fate = { $0.kind == .push ? .loseReply : .deliver }
    try await rep.runPush()
    #expect(rep.pushWait != nil)
    try rep.restart()
    #expect(rep.state.unsettled.map(\.operation.id) == [id])
    #expect(rep.state.unsettled[0].isAttempted, "the mark is durable before the send")

    world.network.fate = { _ in .deliver }
    try await rep.runPush()
    try await rep.runPull()
    #expect(world.network.calls.filter { $0.kind == .push }.map(\.operationIDs) == [[id], [id]])
    #expect(try await world.effects(of: id).count == 1)
    #expect(try rep.recordedSettlements(of: id).count == 1)
    #expect(rep.state.keptOperations.isEmpty)
    #expect(try rep.replaysToItself())
  }

  @Test func `3, the feed shows the own change first, and its settlement is recorded once`()
    async throws
  {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    let id = try rep.write(.quantity(12, of: "1"))[0]
    world.network.fate = { $0.kind == .push && $0.device == "phone" ? .loseReply : .deliver }
    try await rep.runPush()
    try rep.restart()
    world.network.fate = { _ in .deliver }
    // The office cancels what it sees: the edit is in the feed, and something after it.
    try await office.round()
    try office.write(.cancel("1"))
    try await office.round()

    let storing = rep.journal.appendCount + 1
    rep.powerCut = .beforeAppend(storing + 1)
    await #expect(throws: PowerLost.self) { try await rep.runPull() }
    let kept = try #require(rep.state.operation(id))
    #expect(kept.isSettlementUnrecorded && kept.isConfirmed)
    #expect(rep.shownOrder("1")?.status == "cancelled", "what is in the base is not laid over it")
    #expect(rep.state.watermark == kept.operation.number, "the server still has to keep its row")

    try rep.restart()
    #expect(rep.state.operation(id)?.isSettlementUnrecorded == true)
    try await rep.runPush()
    #expect(world.network.pushCount == 3, "it has a verdict, so nothing is sent")
    try await rep.runPull()
    #expect(try rep.recordedSettlements(of: id).count == 1)
    #expect(rep.state.keptOperations.isEmpty)
    #expect(rep.state.watermark == kept.operation.number + 1)
    #expect(try await world.effects(of: id).count == 1)
    #expect(try rep.replaysToItself())
  }

  @Test func `4, a cancel refuses both waiting edits and the order in the second's transaction`()
    async throws
  {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    try office.write(.cancel("1"))
    try await office.runPush()
    let first = try rep.write(.quantity(12, of: "1"))[0]
    let second = try rep.write(.note("urgent", on: "1"), .order("2", quantity: 1))
    let other = try rep.write(.order("3", quantity: 5))[0]
    #expect(rep.shownOrder("2") != nil)

    #expect(try await rep.drain())
    let draft = try #require(rep.state.setAside.first)
    #expect(rep.state.setAside.count == 1)
    #expect(draft.root == first)
    #expect(draft.operations.map(\.operation.id) == [first] + second)
    #expect(draft.refusal?.code == .stateRule)
    #expect(draft.refusal?.currentRow?.status == "cancelled")
    #expect(try await world.order("1")?.quantity == 10)
    #expect(try await world.order("2") == nil)
    #expect(rep.shownOrder("1")?.status == "cancelled" && rep.shownOrder("1")?.note == nil)
    #expect(rep.shownOrder("2") == nil)
    #expect(try await world.effects(of: other).count == 1, "another lane does not wait")
    #expect(try rep.replaysToItself())
  }

  @Test func `4, a cancel after an accepted edit stands beside it`() async throws {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    try rep.write(.quantity(12, of: "1"))
    try await rep.runPush()
    // The office has not pulled the edit: a named action is judged by its states alone.
    try office.write(.cancel("1"))
    try await office.round()
    try await rep.runPull()
    let row = try await world.order("1")
    #expect(row?.status == "cancelled" && row?.quantity == 12)
    #expect(rep.shownOrder("1") == row && office.shownOrder("1") == row)
    #expect(rep.state.setAside.isEmpty && office.state.setAside.isEmpty)
    #expect(rep.state.keptOperations.isEmpty)
  }

  @Test func `7, one operation of fifty that the server fails on is found by halving`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    var ids: [Identifier] = []
    for number in 0..<50 { ids += try rep.write(.order("\(number)", quantity: 1)) }
    let poison = ids[36]
    let failure = SyncFailure.status(500, retryAfterSeconds: nil, problem: nil)
    world.network.fate = { $0.operationIDs.contains(poison) ? .answer(failure) : .deliver }

    try await rep.runPush()
    #expect(rep.pushWait != nil, "the whole batch is tried once more, later")
    try await rep.runPush()
    let sizes = world.network.calls.filter { $0.kind == .push }.map(\.operationIDs.count)
    #expect(sizes == [50, 50, 25, 25, 12, 6, 6, 3, 3, 1, 1, 1, 13])
    #expect(rep.state.unsettled.map(\.operation.id) == [poison])

    for answers in 2...8 {
      // Something else succeeds in between, so the server is well.
      try rep.write(.order("more \(answers)", quantity: 1))
      try await rep.runPush()
      #expect(rep.state.unsettled.map(\.operation.id) == [poison], "after \(answers - 1)")
      world.clock.advance(to: try #require(rep.pushWait))
      try await rep.runPush(isUrgent: false)
    }
    let letter = try #require(rep.state.setAside.first)
    #expect(letter.root == poison)
    guard case .deadLetter(500, _) = letter.departure.reason else {
      Issue.record("\(letter.departure.reason)")
      return
    }
    let alone = world.network.calls.filter { $0.operationIDs == [poison] }.count
    #expect(alone == PushMachine.deadLetterAnswers)
    #expect(try await world.effects(of: poison).isEmpty)
    #expect(world.network.calls.last?.withdrawals == [poison], "it is withdrawn at once")
    #expect(try rep.replaysToItself())
  }

  @Test func `17, of five chat messages the third is refused and the others arrive in order`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    var ids: [Identifier] = []
    for number in 1...5 {
      let text = number == 3 ? nil : "message \(number)"
      ids += try rep.write(.message("\(number)", in: "shop 17", text: text))
    }
    #expect(try await rep.drain())
    #expect(rep.state.setAside.map(\.root) == [ids[2]])
    #expect(rep.state.setAside[0].operations.count == 1)
    let arrived = try await world.server.changes(of: "sales").map(\.record.id)
    #expect(arrived == ["1", "2", "4", "5"])
    #expect(world.network.pushCount == 1, "a verdict frees the lane at once")
  }
}
