import DaybookFormat
import DaybookServerCore
import DaybookTestKit
import Testing

/// What every store does, whatever it keeps its data in.
@Suite struct ServerStoreSuite {
  @Test(arguments: StoreKind.allCases)
  func `a repeated push is answered with the first verdicts, also after a restart`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    let order = device.order("a")
    let twin = device.order("a")
    let first = try await harness.push(device, [order, twin])
    #expect(first.map(\.status) == [200, 422])
    harness.time.milliseconds += 5_000
    #expect(try await harness.push(device, [order, twin]) == first)
    try await harness.restart()
    #expect(try await harness.push(device, [order, twin]) == first)
    #expect(try await harness.store.snapshot().scopes["rep/rep-7"]?.head.sequence == 1)
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `the last anchor that a device has sent is kept, also after a restart`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    func anchor(_ number: UInt64) -> Anchor {
      Anchor(
        logID: Identifier(high: 1, low: 2),
        places: [
          Anchor.Place(
            stream: "outbox", ordinal: 1, firstNumber: 1, number: number, chain: .zero,
            boundary: .zero)
        ])
    }
    let pushes: [(sent: Anchor?, kept: Anchor?)] = [
      (nil, nil), (anchor(1), anchor(1)), (anchor(2), anchor(2)), (nil, anchor(2)),
    ]
    for (place, push) in pushes.enumerated() {
      var request = device.push([device.order("\(place)")], to: harness.history)
      request.anchor = push.sent
      _ = try await harness.engine.push(request)
      if place == 2 { try await harness.restart() }
      let row = try await harness.store.read { (reader: any ServerReader) throws(ServerProblem) in
        reader.incarnation(device.incarnation)
      }
      #expect(row?.anchor == push.kept)
    }
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `another body under a known op id is a collision, also after a restart`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    var copy = device
    try await harness.push(device, [device.order("a", quantity: 10)])
    let other = copy.order("a", quantity: 11)
    #expect(try await harness.push(device, [other]).map(\.outcome) == [.collision])
    try await harness.restart()
    #expect(try await harness.push(device, [other]).map(\.outcome) == [.collision])
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a transaction takes effect whole or not at all`(kind: StoreKind) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    try await harness.push(device, [device.order("taken")])
    var batch: [Operation] = []
    for (id, second) in [("good", "b"), ("bad", "taken")] {
      let transaction = Identifier(high: 77, low: UInt64(batch.count) + 1)
      for (index, record) in ["\(id)-a", second].enumerated() {
        let membership = Operation.Membership(id: transaction, index: UInt16(index), count: 2)
        batch.append(
          device.operation(
            .create, record,
            ["rep": .text("rep-7"), "status": .text("open"), "quantity": .int(1)],
            transaction: membership))
      }
    }
    let results = try await harness.push(device, batch)
    #expect(results.map(\.status) == [200, 200, 422, 422])
    try await harness.restart()
    let rows = try await harness.store.snapshot().scopes["rep/rep-7"]?.rows.map(\.record.id)
    #expect(rows == ["b", "good-a", "taken"])
    #expect(try await harness.push(device, batch) == results)
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `verdicts below the watermark are pruned, and their operations too old`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    let first = device.order("a")
    let second = device.order("b")
    let accepted = try await harness.push(device, [first, second])
    device.watermark = 2
    let results = try await harness.push(device, [first, second])
    #expect(results[1] == accepted[1])
    guard case .settled(let settlement) = results[0].outcome else {
      Issue.record("no settlement")
      return
    }
    #expect(settlement.refusal?.code == .belowWatermark)
    try await harness.restart()
    #expect(try await harness.push(device, [second]) == [accepted[1]])
    let pruned = try await harness.store.read { (reader) throws(ServerProblem) in
      reader.verdict(of: first.id)
    }
    #expect(pruned == nil)
    var late = device
    late.watermark = 1
    await #expect(throws: ServerProblem.self) { try await harness.push(late, [second]) }
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `a withdrawn operation never takes effect, also after a restart`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    var device = Device()
    try await harness.register(device)
    let order = device.order("a")
    var withdrawing = device.push([], to: harness.history)
    withdrawing.withdrawals = [
      PushRequest.Withdrawal(operationID: order.id, number: order.number)
    ]
    let results = try await harness.engine.push(withdrawing).results
    #expect(results.map(\.status) == [422])
    try await harness.restart()
    #expect(try await harness.push(device, [order]) == results)
    #expect(try await harness.store.snapshot().scopes.isEmpty)
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
  func `a restart changes nothing that a reader sees`(
    kind: StoreKind, seed: UInt64
  ) async throws {
    let harness = try await StoreHarness(kind)
    var numbers = SplitMix64(seed: seed)
    var devices = [Device(seed: 1), Device("office", name: "desk", seed: 2)]
    for device in devices { try await harness.register(device) }
    for _ in 0..<40 {
      let place = Int.random(in: 0..<2, using: &numbers)
      var batch: [Operation] = []
      for _ in 0..<Int.random(in: 1...5, using: &numbers) {
        let id = "\(Int.random(in: 0..<12, using: &numbers))"
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: batch.append(devices[place].operation(.named("cancel"), id))
        case 1: batch.append(devices[place].operation(.delete, id))
        default: batch.append(devices[place].order(id))
        }
      }
      let results = try await harness.push(devices[place], batch)
      guard Int.random(in: 0..<5, using: &numbers) == 0 else { continue }
      let before = try await harness.store.snapshot()
      let history = harness.history
      try await harness.restart()
      #expect(try await harness.store.snapshot() == before, "seed \(seed)")
      #expect(harness.history == history)
      #expect(try await harness.push(devices[place], batch) == results, "seed \(seed)")
    }
    try await harness.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `pushes at the same time get sequence numbers without a gap`(
    kind: StoreKind
  ) async throws {
    let harness = try await StoreHarness(kind)
    let engine = harness.engine
    let history = harness.history
    let sequences = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for seed in 1...64 as ClosedRange<UInt64> {
        group.addTask {
          var device = Device(seed: seed)
          _ = try await engine.changes(device.pull())
          let orders = [device.order("\(seed)-a"), device.order("\(seed)-b")]
          let reply = try await engine.push(device.push(orders, to: history))
          return reply.results.compactMap { result in
            guard case .settled(let settlement) = result.outcome else { return nil }
            return settlement.acceptance?.sequence
          }
        }
      }
      var sequences: [UInt64] = []
      for try await found in group { sequences += found }
      return sequences
    }
    #expect(sequences.sorted() == Array(1...128))
    try await harness.restart()
    #expect(try await harness.store.snapshot().scopes["rep/rep-7"]?.head.sequence == 128)
    try await harness.close()
  }
}
