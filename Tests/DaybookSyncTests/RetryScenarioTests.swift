import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// A rep whose edit meets a newer row, and who edits the draft and sends it again.
private struct Retrying {
  let world = World()
  let rep: SimulatedDevice
  let losesReplies: Bool

  init(losesReplies: Bool) async throws {
    self.losesReplies = losesReplies
    let (rep, office) = try await world.repAndOffice()
    self.rep = rep
    try office.write(.note("from the office", on: "1"))
    try await office.runPush()
    var lost: Set<[Identifier]> = []
    if losesReplies {
      // Each batch's first reply is lost.
      world.network.fate = { call in
        call.kind == .push && lost.insert(call.operationIDs).inserted ? .loseReply : .deliver
      }
    }
  }

  /// What the user does, from what the device shows: safe to begin again after a power cut.
  func act() async throws {
    let hasEdited = try rep.journal.replay().contains {
      if case .operation(let operation) = $0.entry { return operation.action == .patch }
      return false
    }
    if !hasEdited { try rep.write(.quantity(12, of: "1")) }
    #expect(try await rep.drain())
    if let draft = rep.state.setAside.first {
      #expect(draft.refusal?.code == .staleBase)
      #expect(rep.shownOrder("1")?.quantity == 10)
      try rep.retry(draft.root, with: .quantity(13, of: "1", supersedes: draft.root))
      #expect(rep.state.setAside.isEmpty)
      #expect(rep.shownOrder("1")?.quantity == 13)
      #expect(try await rep.drain())
    }
  }

  func check(_ place: String) async throws {
    let comment = Comment(rawValue: place)
    let row = try await world.order("1")
    #expect(row?.quantity == 13 && row?.note == "from the office", comment)
    #expect(try await world.server.changes(of: "sales").count == 3, comment)
    #expect(rep.state.keptOperations.isEmpty && rep.state.setAside.isEmpty, comment)
    #expect(rep.shownOrder("1") == row, comment)
    #expect(try rep.replaysToItself(), comment)
  }
}

@Suite struct `scenario 5` {
  @Test(arguments: [false, true])
  func `refused, draft, edited, retried and accepted, with a power cut at each step`(
    losesReplies: Bool
  ) async throws {
    let whole = try await Retrying(losesReplies: losesReplies)
    let before = whole.rep.journal.appendCount
    try await whole.act()
    try await whole.check("without a cut")
    let steps = whole.rep.journal.appendCount - before
    #expect(steps >= 7)

    for step in 1...steps {
      for cut in [PowerCut.beforeAppend(before + step), .afterAppend(before + step)] {
        let run = try await Retrying(losesReplies: losesReplies)
        run.rep.powerCut = cut
        do {
          try await run.act()
          Issue.record("\(cut) did not happen")
        } catch is PowerLost {
          try run.rep.restart()
          try await run.act()
        }
        try await run.check("\(cut)")
      }
    }
  }

  @Test func `the retry of one that had been accepted after all is refused and stays a draft`()
    async throws
  {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    let old = try rep.write(.quantity(12, of: "1"))[0]
    world.network.fate = { $0.kind == .push ? .loseReply : .deliver }
    try await rep.runPush()
    try rep.withdraw(old)
    #expect(rep.shownOrder("1")?.quantity == 10)
    let new = try rep.retry(old, with: .quantity(13, of: "1", supersedes: old))[0]
    world.network.fate = { _ in .deliver }
    #expect(try await rep.drain())

    #expect(try await world.order("1")?.quantity == 12)
    #expect(try await world.effects(of: old).count == 1)
    #expect(try await world.effects(of: new).isEmpty)
    #expect(rep.state.operation(old) == nil, "it took effect, and the feed shows it")
    #expect(rep.state.setAside.map(\.root) == [new])
    #expect(rep.state.setAside.first?.refusal?.code == .wasAccepted)
    #expect(rep.shownOrder("1")?.quantity == 12)
    #expect(try rep.replaysToItself())
  }
}
