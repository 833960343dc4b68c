import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

@Suite struct `lanes and groups` {
  /// A device whose pushes fail with 500 while one of `poison` is in them.
  private func poisoned() async throws -> (World, SimulatedDevice, Poison) {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let poison = Poison()
    world.network.fate = { call in
      poison.ids.isDisjoint(with: call.operationIDs) ? .deliver : .answer(.status(500))
    }
    return (world, rep, poison)
  }

  private final class Poison { var ids: Set<Identifier> = [] }

  @Test func `a held lane blocks itself, its references and its transactions, nothing else`()
    async throws
  {
    let (world, rep, poison) = try await poisoned()
    let held = try rep.write(.order("1", quantity: 1))[0]
    poison.ids = [held]
    // Alone it is known at once for what it is.
    try await rep.runPush()
    let same = try rep.write(.quantity(2, of: "1"))[0]
    let child = try rep.write(.visit("1", order: "1"))[0]
    let joined = try rep.write(.note("x", on: "1"), .order("2", quantity: 1))
    let behind = try rep.write(.quantity(3, of: "2"))[0]
    let free = try rep.write(.order("3", quantity: 1))[0]
    try await rep.runPush()
    #expect(rep.state.unsettled.map(\.operation.id) == [held, same, child] + joined + [behind])
    #expect(world.network.calls.last?.operationIDs == [free])
    #expect(try await world.effects(of: free).count == 1)

    // The server recovers: everything goes out in order, each on the result of the one before.
    poison.ids = []
    #expect(try await rep.drain())
    #expect(rep.state.keptOperations.isEmpty && rep.state.setAside.isEmpty)
    let order = try await world.server.changes(of: "sales").map(\.operationID)
    #expect(order == [free, held, same, child] + joined + [behind])
    #expect(try await world.order("2")?.quantity == 3)
  }

  @Test func `a conversation is one lane, another one is not held`() async throws {
    let (_, rep, poison) = try await poisoned()
    let held = try rep.write(.message("1", in: "a", text: "x"))[0]
    poison.ids = [held]
    let next = try rep.write(.message("2", in: "a", text: "x"))[0]
    try rep.write(.message("3", in: "b", text: "x"))
    for _ in 1...3 { try await rep.runPush() }
    #expect(rep.state.unsettled.map(\.operation.id) == [held, next])
  }

  @Test func `a refused create takes with it what refers to it and what is joined to that`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let parent = try rep.write(
      SimulatedEdit(.create, .order("1"), ["status": .text("sent"), "quantity": .int(1)]))[0]
    let child = try rep.write(.visit("1", order: "1"))[0]
    let joined = try rep.write(
      SimulatedEdit(.patch, RecordKey("visits", "1"), ["note": .text("x")]),
      .order("2", quantity: 1))
    let behind = try rep.write(.quantity(5, of: "2"))[0]
    let free = try rep.write(.order("3", quantity: 1))[0]
    #expect(try await rep.drain())
    #expect(rep.state.setAside.count == 1, "one draft")
    #expect(rep.state.setAside[0].root == parent)
    #expect(
      rep.state.setAside[0].operations.map(\.operation.id) == [parent, child] + joined + [behind])
    #expect(rep.state.setAside[0].refusal?.code == .stateRule)
    #expect(try await world.server.changes(of: "sales").map(\.operationID) == [free])
    #expect(rep.shownOrder("1") == nil && rep.shownOrder("2") == nil)
  }

  @Test func `while the create retries, what refers to it waits; then both are taken`()
    async throws
  {
    let (world, rep, poison) = try await poisoned()
    let parent = try rep.write(.order("1", quantity: 1))[0]
    poison.ids = [parent]
    try await rep.runPush()
    let child = try rep.write(.visit("1", order: "1"))[0]
    for _ in 1...3 { try await rep.runPush() }
    #expect(rep.state.unsettled.map(\.operation.id) == [parent, child])
    poison.ids = []
    #expect(try await rep.drain())
    #expect(try await world.server.changes(of: "sales").map(\.operationID) == [parent, child])
  }

  @Test func `operations on the server's row go on after a refusal`() async throws {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    try office.write(.note("office", on: "1"))
    try await office.runPush()
    let stale = try rep.write(.quantity(12, of: "1"))[0]
    try await rep.round()
    #expect(rep.state.setAside.map(\.root) == [stale])
    // The lane is free at once, and the draft is no base.
    let fresh = try rep.write(.quantity(13, of: "1"))[0]
    #expect(
      rep.state.operation(fresh)?.operation.base
        == rep.state.held(.order("1")).map {
          .version($0.version)
        })
    #expect(try await rep.drain())
    #expect(try await world.order("1")?.quantity == 13)
    #expect(rep.state.setAside.map(\.root) == [stale])
  }

  @Test func `two refused operations share no member`() {
    let rig = PushRig()
    let first = rig.write(.order("1", quantity: 1))
    let second = rig.write(.order("2", quantity: 1))
    let both = Operation.Membership(id: Identifier(high: 7, low: 7), index: 0, count: 2)
    let rest = Operation.Membership(id: both.id, index: 1, count: 2)
    let third = rig.write(.quantity(2, of: "1"), transaction: both)
    let fourth = rig.write(.quantity(2, of: "2"), transaction: rest)
    rig.send()
    rig.run(
      .replied(
        rig.reply(
          [first, second].map {
            PushResult(operationID: $0.id, outcome: .settled(rig.refused($0)))
          } + [third, fourth].map { PushResult(operationID: $0.id, outcome: .blocked) })))
    let groups = rig.state.setAside.map { $0.operations.map(\.operation.id) }
    #expect(groups == [[first.id, third.id, fourth.id], [second.id]])
  }

  @Test func `what was written on an operation that was just given up does not wait for ever`()
    throws
  {
    let rig = PushRig()
    let first = rig.write(.order("1", quantity: 1))
    // One group of writes: the second one is made before the first one's departure shows.
    let departure = rig.state.departure(of: first.id, reason: .withdrawn)
    let second = rig.write(.quantity(2, of: "1"))
    let third = rig.write(.note("x", on: "1"))
    let free = rig.write(.order("2", quantity: 1))
    rig.apply(.departure(departure))
    #expect(rig.send()?.items.map(\.operation) == [free])
    #expect(rig.state.setAside.map(\.root) == [first.id, second.id])
    #expect(
      rig.state.setAside[1].operations.map(\.operation.id) == [second.id, third.id])
    #expect(rig.state.setAside[1].departure.reason.isDeadLetter)
  }

  @Test func `a decision reaches the group though its root took effect after all`() async throws {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    let root = try rep.write(.quantity(12, of: "1"))[0]
    world.network.fate = { $0.kind == .push ? .loseReply : .deliver }
    try await rep.runPush()
    let follower = try rep.write(.quantity(13, of: "1"))[0]
    try rep.withdraw(root)
    #expect(rep.state.setAside[0].operations.map(\.operation.id) == [root, follower])
    world.network.fate = { _ in .deliver }
    #expect(try await rep.drain())
    #expect(rep.shownOrder("1")?.quantity == 12, "the root had been accepted")
    #expect(rep.state.setAside.map { $0.operations.map(\.operation.id) } == [[follower]])
    try rep.discard(rep.state.setAside[0].root)
    #expect(rep.state.setAside.isEmpty && rep.state.keptOperations.isEmpty)
    #expect(try rep.replaysToItself())
  }

  @Test func `a failed operation stays shown, is not withdrawn, and goes out again as it is`()
    async throws
  {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    let id = try rep.write(.quantity(12, of: "1"))[0]
    let follower = try rep.write(.note("x", on: "1"))[0]
    world.network.fate = { $0.kind == .push ? .loseRequest : .deliver }
    try await rep.runPush()
    try rep.fail(id)
    #expect(rep.shownOrder("1")?.quantity == 12 && rep.shownOrder("1")?.note == "x")
    #expect(rep.state.withdrawals.isEmpty)
    #expect(rep.state.watermark == rep.state.operation(id)?.operation.number)
    world.network.fate = { _ in .deliver }
    try rep.write(.order("2", quantity: 1))
    #expect(try await rep.drain())
    #expect(try await world.effects(of: id).isEmpty)
    try rep.resend(id)
    #expect(try await rep.drain())
    #expect(try await world.effects(of: id).count == 1)
    #expect(try await world.effects(of: follower).count == 1)
    #expect(rep.state.keptOperations.isEmpty)
    #expect(try rep.replaysToItself())
  }

  @Test func `the watermark never passes what may still be asked about`() async throws {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    #expect(rep.state.watermark == 2)
    let attempted = try rep.write(.quantity(12, of: "1"))[0]
    world.network.fate = { $0.kind == .push ? .loseRequest : .deliver }
    try await rep.runPush()
    let never = try rep.write(.order("2", quantity: 1))[0]
    #expect(rep.state.watermark == 2)
    try rep.withdraw(never)
    #expect(rep.state.watermark == 2)
    try rep.withdraw(attempted)
    #expect(rep.state.watermark == 2, "attempted, without a settlement")
    world.network.fate = { _ in .deliver }
    try await rep.runPush()
    #expect(world.network.calls.last?.withdrawals == [attempted])
    #expect(rep.state.watermark == 4, "one is settled, the other was never sent")
    #expect(rep.state.setAside.map(\.root) == [attempted, never])
  }

  @Test func `queued and online operations are sent but not shown before they are confirmed`()
    async throws
  {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    for (strategy, quantity) in [(Strategy.queued, Int64(12)), (.online, 13)] {
      var edit = SimulatedEdit.quantity(quantity, of: "1")
      edit.strategy = strategy
      try rep.write(edit)
      #expect(rep.shownOrder("1")?.quantity == quantity - (strategy == .queued ? 2 : 1))
      try await rep.runPush()
      #expect(rep.shownOrder("1")?.quantity != quantity)
      try await rep.runPull()
      #expect(rep.shownOrder("1")?.quantity == quantity)
    }
  }

  @Test func `an operation is based on the own last one, whatever its strategy`() async throws {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    var edit = SimulatedEdit.quantity(12, of: "1")
    edit.strategy = .queued
    let queued = try rep.write(edit)[0]
    let lazy = try rep.write(.note("x", on: "1"))[0]
    #expect(rep.state.operation(lazy)?.operation.base == .operation(queued))
    #expect(try await rep.drain())
    #expect(try await world.order("1")?.quantity == 12)
    #expect(rep.state.setAside.isEmpty)
  }
}

extension Departure.Reason {
  fileprivate var isDeadLetter: Bool {
    if case .deadLetter = self { return true }
    return false
  }
}
