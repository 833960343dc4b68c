import DaybookFormat
import DaybookServerCore
import DaybookSync
import DaybookTestKit
import Testing

/// Scenario 10: a device that was restored from a copy of this morning, declared and not, with the
/// original gone and with the original going on.
@Suite struct `a device restored from this morning's copy` {
  /// A device with one order accepted, one sent whose answer was lost, and two never sent, and the
  /// copy of its log.
  private func morning(
    _ world: World
  ) async throws -> (device: SimulatedDevice, copy: SimulatedJournal, ids: [Identifier]) {
    let device = world.device("rep")
    try await device.round()
    try device.write(.order("1", quantity: 1))
    try await device.round()
    let lost = try device.write(.order("2", quantity: 2))[0]
    world.network.fate = { $0.kind == .push ? .loseReply : .deliver }
    try await device.runPush()
    world.network.fate = { _ in .deliver }
    let third = try device.write(.order("3", quantity: 3))[0]
    let edit = try device.write(.quantity(30, of: "3"))[0]
    return (device, device.journal, [lost, third, edit])
  }

  @Test func `it holds what the copy held, shows it, and sends nothing of it`() async throws {
    let world = World()
    let (device, copy, ids) = try await morning(world)
    let restored = try device.restored(from: copy, outbox: .hold, seed: 9)
    #expect(restored.state.heldOperations.map(\.operation.id) == ids)
    #expect(restored.shownOrder("3")?.quantity == 30, "what is held is shown all the same")
    try await restored.round()
    // The feed has told that the lost one was taken.
    #expect(restored.state.heldOperations.map(\.operation.id) == Array(ids.dropFirst()))
    #expect(try await world.order("3") == nil)

    // A held lane waits; another one does not.
    let later = try restored.write(.quantity(31, of: "3"))[0]
    try restored.write(.order("4", quantity: 4))
    try await restored.round()
    #expect(try await world.order("4")?.quantity == 4)
    #expect(try await world.effects(of: later).isEmpty)
    #expect(try restored.replaysToItself())
  }

  @Test func `once released it sends everything once, whatever the original had sent`()
    async throws
  {
    for originalGoesOn in [false, true] {
      let world = World()
      let (device, copy, ids) = try await morning(world)
      if originalGoesOn {
        #expect(try await device.drain())
        try device.write(.order("5", quantity: 5))
        #expect(try await device.drain())
      }
      let restored = try device.restored(from: copy, outbox: .hold, seed: 9)
      try await restored.round()
      try restored.decideRestored(.released)
      #expect(try await restored.drain())
      for id in ids { #expect(try await world.effects(of: id).count == 1, "\(originalGoesOn)") }
      #expect(try await world.order("3")?.quantity == 30)
      #expect(restored.state.keptOperations.isEmpty)
      #expect(restored.state.setAside.isEmpty)
      #expect(try restored.replaysToItself())
      if originalGoesOn { #expect(restored.shownOrder("5")?.quantity == 5) }
    }
  }

  @Test func `restored with send, it pulls to the head before it sends`() async throws {
    let world = World()
    let (device, copy, ids) = try await morning(world)
    #expect(try await device.drain())
    for number in 10..<40 { try device.write(.order("\(number)", quantity: 1)) }
    #expect(try await device.drain())
    let before = world.network.calls.count
    let restored = try SimulatedDevice(
      pages(of: device, limit: 2), on: world.network,
      journal: device.restored(from: copy, outbox: .send, seed: 9).journal,
      incarnation: Identifier(high: 8, low: 8))
    // A push in the middle of the pull must not go out.
    try await restored.runPush()
    try await restored.round()
    let calls = world.network.calls.dropFirst(before)
    #expect(!calls.contains { $0.kind == .push }, "the feed told about all of it")
    #expect(restored.state.keptOperations.isEmpty)
    for id in ids { #expect(try await world.effects(of: id).count == 1) }
  }

  private func pages(of device: SimulatedDevice, limit: Int) -> SimulatedDevice.Configuration {
    var configuration = device.configuration
    configuration.pageLimit = limit
    return configuration
  }

  @Test func `the original and the restored log send the same operations, with one effect each`()
    async throws
  {
    for seed in 0..<UInt64(40) {
      let world = World()
      let (device, copy, ids) = try await morning(world)
      let restored = try device.restored(from: copy, outbox: .send, seed: seed + 100)
      var random = SplitMix64(seed: seed)
      for _ in 0..<12 {
        let chance = random.next() % 4
        world.network.fate = { $0.kind == .push && chance == 0 ? .loseReply : .deliver }
        let who = random.next().isMultiple(of: 2) ? device : restored
        if random.next().isMultiple(of: 3) {
          try who.write(.order("\(random.next() % 1_000_000)", quantity: 1))
        }
        try await who.round()
      }
      world.network.fate = { _ in .deliver }
      #expect(try await device.drain(), "seed \(seed)")
      #expect(try await restored.drain(), "seed \(seed)")
      #expect(device.pauses.isEmpty && restored.pauses.isEmpty, "seed \(seed)")
      for id in ids {
        let effects = try await world.effects(of: id).count
        #expect(effects == 1, "seed \(seed)")
      }
      #expect(try restored.replaysToItself() && device.replaysToItself(), "seed \(seed)")
    }
  }

  @Test func `dropped, what may have been sent is withdrawn and the rest is gone`() async throws {
    let world = World()
    let device = world.device("rep")
    try await device.round()
    let attempted = try device.write(.order("2", quantity: 2))[0]
    world.network.fate = { $0.kind == .push ? .loseRequest : .deliver }
    try await device.runPush()
    world.network.fate = { _ in .deliver }
    let fresh = try device.write(.order("3", quantity: 3))[0]
    let restored = try device.restored(from: device.journal, outbox: .drop, seed: 9)
    #expect(restored.shownOrder("2") == nil && restored.shownOrder("3") == nil)
    #expect(restored.state.setAside.isEmpty, "dropped as if discarded: there is no draft")
    #expect(try await restored.drain())
    #expect(restored.state.keptOperations.isEmpty)
    #expect(try await world.effects(of: attempted).isEmpty)

    // The original still has both: what was withdrawn comes back as its draft.
    #expect(try await device.drain())
    #expect(try await world.effects(of: attempted).isEmpty)
    #expect(device.state.setAside.map(\.root) == [attempted])
    #expect(try await world.effects(of: fresh).count == 1)
  }

  @Test func `held operations are dropped only when the app says so, and new ones go on`()
    async throws
  {
    let world = World()
    let (device, copy, ids) = try await morning(world)
    let restored = try device.restored(from: copy, outbox: .hold, seed: 9)
    try await restored.round()
    try restored.write(.order("4", quantity: 4))
    try restored.decideRestored(.dropped)
    #expect(try await restored.drain())
    #expect(restored.shownOrder("2")?.quantity == 2, "it had been taken")
    #expect(restored.shownOrder("3") == nil)
    #expect(try await world.effects(of: ids[1]).isEmpty)
    #expect(try await world.order("4")?.quantity == 4)
    #expect(try restored.replaysToItself())
  }

  @Test func `what the original has settled and the server forgot becomes a draft`()
    async throws
  {
    let world = World()
    let (rep, office) = try await world.repAndOffice()
    let stale = try rep.write(.quantity(12, of: "1"))[0]
    let copy = rep.journal
    try office.write(.quantity(11, of: "1"))
    try await office.round()
    #expect(try await rep.drain())
    #expect(rep.state.setAside.map(\.root) == [stale], "refused: it was based on an old row")
    try rep.discard(stale)
    // The watermark passes it, and its verdict is pruned.
    try rep.write(.order("9", quantity: 9))
    #expect(try await rep.drain())
    try rep.write(.order("10", quantity: 9))
    #expect(try await rep.drain())
    #expect(try await world.server.verdict(of: stale) == nil)

    let restored = try rep.restored(from: copy, outbox: .send, seed: 9)
    #expect(try await restored.drain())
    let draft = try #require(restored.state.setAside.first)
    #expect(draft.root == stale && draft.refusal?.code == .belowWatermark)
    #expect(try await world.effects(of: stale).isEmpty)
  }

  @Test func `a log that had never synced sends its operations from the restored copy`()
    async throws
  {
    let world = World()
    let device = world.device("rep")
    let id = try device.write(.order("1", quantity: 1))[0]
    let restored = try device.restored(from: device.journal, outbox: .send, seed: 9)
    #expect(try await restored.drain())
    #expect(try await world.effects(of: id).count == 1)
    // The original comes back and does the same.
    #expect(try await device.drain())
    #expect(try await world.effects(of: id).count == 1)
  }

  @Test func `a life that the server has forgotten can't be told: its operations become drafts`()
    async throws
  {
    let world = World()
    let (device, copy, _) = try await morning(world)
    let elsewhere = World()
    // Another server by the same name, which has never heard of the log's earlier life.
    let restored = try SimulatedDevice(
      device.configuration, on: elsewhere.network,
      journal: device.restored(from: copy, outbox: .send, seed: 9).journal,
      incarnation: Identifier(high: 8, low: 8))
    let sent = PushRequest(
      account: "rep", device: "phone", incarnation: restored.incarnation,
      serverID: elsewhere.server.engine.store.history.serverID, watermark: 1,
      known: Cursor(epoch: elsewhere.server.engine.store.history.epoch),
      items: restored.state.unsettled.map { PushRequest.Item(operation: $0.operation) },
      registered: [device.incarnation])
    _ = try await elsewhere.server.engine.changes(
      ChangesRequest(
        account: "rep", device: "phone", incarnation: restored.incarnation, serverID: nil,
        after: nil, limit: 10))
    let results = try await elsewhere.server.engine.push(sent).results
    let codes = results.map { result -> RefusalCode? in
      if case .settled(let settlement) = result.outcome { return settlement.refusal?.code }
      return nil
    }
    #expect(codes.first == .belowWatermark)
    #expect(try await elsewhere.order("2") == nil)
  }

  @Test func `an undeclared copy is told so, sends nothing, and keeps everything`() async throws {
    let world = World()
    let (device, copy, _) = try await morning(world)
    #expect(try await device.drain())
    try device.write(.order("5", quantity: 5))
    #expect(try await device.drain())
    try device.write(.order("6", quantity: 6))
    #expect(try await device.drain())

    let twin = try device.undeclaredCopy(of: copy, seed: 9)
    let own = try twin.write(.order("7", quantity: 7))[0]
    try await twin.round()
    #expect(twin.pauses == [.oldCopy])
    #expect(try await world.effects(of: own).isEmpty)
    #expect(twin.shownOrder("7")?.quantity == 7)

    // Declared now, it goes on under a life of its own.
    let restored = try twin.restored(from: twin.journal, outbox: .send, seed: 11)
    #expect(try await restored.drain())
    let effects = try await world.effects(of: own).count
    let drafts = restored.state.setAside.map(\.root)
    #expect(effects == 1 || drafts == [own], "nothing of it is lost")
  }
}
