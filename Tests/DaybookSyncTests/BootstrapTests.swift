import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

@Suite struct `bootstraps` {
  private func worldWithOrders(_ count: Int) async throws -> (World, SimulatedDevice) {
    let world = World()
    let office = world.device("office", "desk", seed: 2)
    try await office.runPull()
    for number in 0..<count {
      try office.write(.order("\(number + 100)", quantity: Int64(number)))
    }
    try await office.round()
    return (world, office)
  }

  @Test func `one interrupted at 60 percent goes on where it was, with what arrived meanwhile`()
    async throws
  {
    let (world, office) = try await worldWithOrders(10)
    let rep = world.device("rep", pageLimit: 2)
    var pages = 0
    world.network.fate = { call in
      if call.kind == .rows { pages += 1 }
      return call.kind == .rows && pages > 4 ? .loseRequest : .deliver
    }
    try await rep.runPull()
    #expect(rep.state.isComplete("orders") == false)
    #expect(rep.shownOrder("100") == nil, "an unfinished base is not shown")
    try rep.restart()

    // Meanwhile a row behind is changed, one ahead deleted, one made.
    try office.write(.note("late", on: "100"))
    try office.write(.note("gone", on: "109"))
    try office.write(SimulatedEdit(.delete, .order("109")))
    try office.write(.order("200", quantity: 1))
    try await office.runPush()
    // An operation on a record that has not arrived yet.
    try rep.write(
      SimulatedEdit(.patch, .order("108"), ["note": .text("blind")], strategy: .lazy))

    let before = world.network.calls.count
    world.network.fate = { _ in .deliver }
    try await rep.runPull()
    let kinds = world.network.calls[before...].map(\.kind)
    #expect(kinds.first == .rows, "no change of the scope is folded before it is complete")
    #expect(kinds.count { $0 == .rows } == 2, "two rows a page, from the seventh row on, once")
    #expect(rep.state.isComplete("orders"))
    #expect(rep.shownOrder("100")?.note == "late")
    #expect(rep.shownOrder("109") == nil)
    #expect(rep.shownOrder("200") != nil)
    #expect(rep.shownOrder("108")?.note == "blind", "a patch is laid over what arrives later")
    #expect(rep.state.scopes["sales"]?.holes == [])
    #expect(try rep.replaysToItself())
  }

  @Test func `a new base is built beside the one shown and replaces it at the end`() async throws {
    let (world, office) = try await worldWithOrders(6)
    let rep = world.device("rep", pageLimit: 2)
    try await rep.runPull()
    try office.write(SimulatedEdit(.delete, .order("101")))
    try await office.runPush()

    // The cursor is too old; after the rep's own scope and one page of sales nothing comes.
    var expired = false
    var pages = 0
    world.network.fate = { call in
      if call.kind == .changes, !expired {
        expired = true
        return .answer(.status(410, .cursorExpired))
      }
      if call.kind == .rows { pages += 1 }
      return pages > 2 ? .loseRequest : .deliver
    }
    let pending = try rep.write(.quantity(50, of: "102"))[0]
    try await rep.runPull()
    #expect(rep.state.scopes["sales"]?.bootstrap != nil)
    #expect(rep.shownOrder("101") != nil, "the old base is shown until the new one is whole")
    #expect(rep.shownOrder("102")?.quantity == 50)
    #expect(rep.state.isComplete("orders"))

    try rep.restart()
    #expect(rep.shownOrder("101") != nil && rep.shownOrder("102")?.quantity == 50)
    world.network.fate = { _ in .deliver }
    try await rep.runPull()
    #expect(rep.state.scopes["sales"]?.bootstrap == nil)
    #expect(rep.shownOrder("101") == nil)
    #expect(rep.shownOrder("102")?.quantity == 50)
    #expect(try await rep.drain())
    #expect(try await world.order("102")?.quantity == 50)
    #expect(try await world.effects(of: pending).count == 1)
    #expect(try rep.replaysToItself())
  }

  @Test func `a hole asks for the scope anew in the same round`() async throws {
    let (world, office) = try await worldWithOrders(3)
    let rep = world.device("rep")
    try await rep.runPull()
    try office.write(.note("first", on: "100"))
    try office.write(.note("second", on: "100"))
    try await office.runPush()
    // The first of the two changes is missing from what the device stores.
    let changes = try await world.server.changes(of: "sales")
    var position: UInt64 = 1_000
    for entry in [Entry.change(changes[4])] {
      rep.state.apply(entry, position: position)
      position += 1
    }
    #expect(rep.state.scopes["sales"]?.holes == [.order("100")])
    #expect(rep.shownOrder("100")?.note == nil)
    let before = world.network.calls.count
    try await rep.runPull()
    #expect(world.network.calls[before...].map(\.kind) == [.rows, .changes])
    #expect(rep.state.scopes["sales"]?.holes == [])
    #expect(rep.shownOrder("100")?.note == "second")
  }

  @Test func `several scopes are bootstrapped one after the other`() async throws {
    let (world, _) = try await worldWithOrders(3)
    let rep = world.device("rep")
    try await rep.runPull()
    try rep.write(
      SimulatedEdit(.create, RecordKey("diary", "1"), ["text": .text("private")]))
    #expect(try await rep.drain())
    let tablet = world.device("rep", "tablet", seed: 9)
    try await tablet.runPull()
    #expect(tablet.state.shown(RecordKey("diary", "1")) != nil)
    let stranger = world.device("other", seed: 10)
    try await stranger.runPull()
    #expect(stranger.state.shown(RecordKey("diary", "1")) == nil)
    #expect(stranger.state.scopes.keys.sorted() == ["other", "sales"])
  }
}
