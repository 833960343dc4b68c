import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

@Suite struct `the fold of the feed` {
  private let epoch = Identifier(high: 2, low: 2)

  private func change(
    _ extent: Change.Extent, version: UInt64, sequence: UInt64, _ fields: ValueMap = [:],
    unset: [String] = []
  ) -> Change {
    Change(
      operationID: Identifier(high: 8, low: sequence), sequence: sequence,
      version: Version(number: version, mark: sequence), seen: 0,
      deviceClock: HybridTime(rawValue: sequence), serverTime: SimulatedClock.morning,
      action: .patch, extent: extent, scope: "sales", record: .order("1"), account: "office",
      device: "desk", fields: fields, unset: unset)
  }

  private func state(_ entries: [Entry]) -> ClientState {
    var state = ClientState(schema: World.schema, incarnation: PushRig.incarnation)
    for (index, entry) in entries.enumerated() { state.apply(entry, position: UInt64(index + 1)) }
    return state
  }

  private var row: Change {
    change(.row, version: 3, sequence: 3, ["status": .text("open"), "quantity": .int(1)])
  }

  @Test func `a delta counts if it follows, a row if it is newer, and nothing older counts`() {
    let delta = change(.delta, version: 4, sequence: 4, ["quantity": .int(2)])
    let later = change(.delta, version: 5, sequence: 5, ["note": .text("x")], unset: ["quantity"])
    var state = state([.change(row), .change(delta), .change(later)])
    #expect(state.shown(.order("1"))?.row == ["status": .text("open"), "note": .text("x")])
    #expect(state.held(.order("1"))?.version == later.version)
    // Anything again, in any order, changes nothing.
    let before = state
    for again in [later, row, delta] { state.apply(.change(again), position: 9) }
    #expect(state == before)
    let whole = change(.row, version: 7, sequence: 7, ["status": .text("sent")])
    state.apply(.change(whole), position: 10)
    #expect(state.shown(.order("1"))?.row == ["status": .text("sent")])
    #expect(state.scopes["sales"]?.holes ?? [] == [])
  }

  @Test func `a delta that does not follow is a hole, which a row or a removal mends`() {
    let gap = change(.delta, version: 5, sequence: 5, ["quantity": .int(2)])
    var held = state([.change(row), .change(gap)])
    #expect(held.scopes["sales"]?.holes == [.order("1")])
    #expect(held.shown(.order("1"))?.row.quantity == 1, "what is not known is not made up")
    held.apply(
      .change(change(.row, version: 6, sequence: 6, ["quantity": .int(3)])), position: 3)
    #expect(held.scopes["sales"]?.holes == [])

    var unheld = state([.change(gap)])
    #expect(unheld.scopes["sales"]?.holes == [.order("1")])
    unheld.apply(.change(change(.removal, version: 6, sequence: 6)), position: 2)
    #expect(unheld.scopes["sales"]?.holes == [])
  }

  @Test func `a tombstone stays, and only a newer row brings the record back`() {
    let removal = change(.removal, version: 4, sequence: 4)
    var state = state([.change(row), .change(removal), .change(row)])
    #expect(state.shown(.order("1")) == nil)
    #expect(state.held(.order("1"))?.version == removal.version)
    #expect(state.base(for: .order("1")) == .none)
    #expect(state.collections["orders"]?.ids(where: "status", equals: .text("open")) == [])
    state.apply(
      .change(change(.row, version: 9, sequence: 9, ["status": .text("open")])), position: 4)
    #expect(state.shown(.order("1")) != nil)
    #expect(state.collections["orders"]?.ids(where: "status", equals: .text("open")) == ["1"])
  }

  @Test func `a change without effect moves the version and nothing else`() {
    let empty = change(.delta, version: 4, sequence: 4)
    let state = state([.change(row), .change(empty)])
    #expect(state.held(.order("1"))?.version == empty.version)
    #expect(state.shown(.order("1"))?.row == row.fields)
  }

  @Test func `any page applied twice makes the same state`() async throws {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    try rep.write(.quantity(12, of: "1"))
    try office.write(.cancel("1"))
    try await office.round()
    for number in 1...7 { try office.write(.order("more \(number)", quantity: 1)) }
    try office.write(SimulatedEdit(.delete, .order("more 3")))
    try await office.round()
    let before = rep.journal.appendCount
    try await rep.runPull()
    #expect(rep.journal.appendCount > before)
    // The page stands in the log behind what it was asked after; both of its entries come again.
    let entries = try rep.journal.replay()
    var twice = ClientState(schema: World.schema, incarnation: rep.incarnation)
    for (entry, position) in entries {
      twice.apply(entry, position: position)
      switch entry {
      case .change, .cursor, .settlement: twice.apply(entry, position: position)
      default: break
      }
    }
    #expect(twice == rep.state)
    let last = entries.lastIndex {
      if case .cursor = $0.entry { return true } else { return false }
    }
    let page = entries[...(try #require(last))].reversed().prefix { stored in
      if case .change = stored.entry { return true }
      if case .cursor = stored.entry { return true }
      return false
    }
    for (entry, position) in page.reversed() { twice.apply(entry, position: position) }
    #expect(twice == rep.state)
  }

  @Test func `whichever order two devices' operations arrive in, all end with the server's rows`()
    async throws
  {
    for isOfficeFirst in [false, true] {
      for isCancel in [false, true] {
        let world = World()
        let (rep, office) = try await world.repAndOffice()
        try rep.write(.quantity(12, of: "1"))
        try rep.write(.visit("1", order: "1"))
        try office.write(isCancel ? .cancel("1") : .note("x", on: "1"))
        for device in isOfficeFirst ? [office, rep] : [rep, office] {
          try await device.runPush()
        }
        for device in [rep, office] { #expect(try await device.drain()) }
        let rows = try await world.server.rows(of: "sales")
        for device in [rep, office] {
          let shown = rows.keys.map { device.state.shown($0)?.row }
          #expect(shown == rows.keys.map { rows[$0] })
          #expect(device.state.keptOperations.allSatisfy { $0.departure != nil })
        }
        // A stale edit is refused; a cancel is never stale.
        #expect(rep.state.setAside.count == (isOfficeFirst ? 1 : 0))
        #expect(office.state.setAside.count == (!isOfficeFirst && !isCancel ? 1 : 0))
      }
    }
  }

  @Test func `the same entries make the same state, whatever came of it before`() async throws {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    try office.write(.cancel("1"))
    try await office.runPush()
    let draft = try rep.write(.quantity(12, of: "1"))[0]
    try rep.write(.order("2", quantity: 1), .visit("1", order: "2"))
    #expect(try await rep.drain())
    try rep.discard(draft)
    try rep.write(SimulatedEdit(.create, .order("3"), ["status": .text("open")]))
    let first = try rep.journal.state(schema: World.schema, incarnation: rep.incarnation)
    let second = try rep.journal.state(schema: World.schema, incarnation: rep.incarnation)
    #expect(first == second)
    #expect(first == rep.state)
  }
}
