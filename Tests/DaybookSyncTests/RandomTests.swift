import DaybookFormat
import DaybookServerCore
import DaybookSync
import DaybookTestKit
import Testing

/// Two devices of a rep and the office's, doing what users do over a network that loses, with
/// power cuts; then everything is brought to an end and looked at.
final class RandomRun {
  let world = World()
  let devices: [SimulatedDevice]
  private var random: SplitMix64
  private var nextRecord = 0
  private var isLossy = true

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    let limits = BatchLimits(operationLimit: Int(random.next() % 6) + 1)
    let pageLimit = Int(random.next() % 7) + 1
    devices = [("rep", "phone"), ("rep", "tablet"), ("office", "desk")].enumerated().map {
      [world] index, names in
      world.device(
        names.0, names.1, seed: seed &* 10 &+ UInt64(index), pageLimit: pageLimit, limits: limits)
    }
    world.network.fate = { [unowned self] call in fate(of: call) }
  }

  private func chance(_ numerator: UInt64, in denominator: UInt64) -> Bool {
    random.next() % denominator < numerator
  }

  private func fate(of call: SimulatedNetwork.Call) -> SimulatedNetwork.Fate {
    guard isLossy else { return .deliver }
    switch random.next() % 20 {
    case 0...3: return .loseRequest
    case 4...7: return .loseReply
    case 8 where call.kind == .push: return .holdReply
    case 9: return .answer(.status(503))
    case 10: return .answer(.status(429, retryAfterSeconds: 20, problem: nil))
    case 11 where call.kind == .push: return .answer(.status(500))
    default: return .deliver
    }
  }

  func steps(_ count: Int) async throws {
    for _ in 0..<count {
      let device = devices[Int(random.next() % UInt64(devices.count))]
      do {
        try await step(device)
      } catch is PowerLost {
        try device.restart()
      }
    }
  }

  private func step(_ device: SimulatedDevice) async throws {
    switch random.next() % 16 {
    case 0...5: try write(on: device)
    case 6, 7: try await device.runPush(isUrgent: chance(1, in: 2))
    case 8, 9: try await device.runPull(isUrgent: chance(1, in: 2))
    case 10: try await device.deliverHeldReply()
    case 11: try decide(on: device)
    case 12: try device.restart()
    case 13:
      let append = device.journal.appendCount + Int(random.next() % 3) + 1
      device.powerCut = chance(1, in: 2) ? .beforeAppend(append) : .afterAppend(append)
    case 14: world.clock.advance(byMilliseconds: Int64(random.next() % 60_000))
    default:
      if chance(1, in: 3), let kept = device.state.unsettled.last {
        try device.withdraw(kept.operation.id)
      }
    }
  }

  private func write(on device: SimulatedDevice) throws {
    let known = device.state.collections["orders"]?.shownIDs.sorted() ?? []
    let shown = known.filter { device.shownOrder($0) != nil }
    let id = shown.isEmpty ? "none" : shown[Int(random.next() % UInt64(shown.count))]
    nextRecord += 1
    let quantity = Int64(random.next() % 100)
    switch random.next() % 9 {
    case 0, 1: try device.write(.order("\(nextRecord)", quantity: quantity))
    case 2, 3: try device.write(.quantity(quantity, of: id))
    case 4: try device.write(.note("note \(quantity)", on: id))
    case 5: try device.write(.cancel(id))
    case 6: try device.write(.visit("\(nextRecord)", order: id))
    case 7:
      try device.write(
        .quantity(quantity, of: id), .order("\(nextRecord)", quantity: 1),
        .visit("\(nextRecord)", order: "\(nextRecord)"))
    default:
      if chance(1, in: 4) { try device.write(SimulatedEdit(.delete, .order(id))) }
    }
  }

  private func decide(on device: SimulatedDevice) throws {
    guard let group = device.state.setAside.first else { return }
    guard chance(2, in: 3), let first = group.operations.first?.operation else {
      return try device.discard(group.root)
    }
    try device.retry(
      group.root,
      with: SimulatedEdit(
        first.action, first.record, first.fields, unset: first.unset, supersedes: first.id))
  }

  /// Everybody is reached, and everything comes to its end.
  func finish() async throws -> Bool {
    isLossy = false
    for _ in 0..<3 {
      for device in devices {
        device.powerCut = nil
        if try await !device.drain() { return false }
      }
    }
    return true
  }
}

@Suite struct `random runs` {
  @Test(arguments: 0..<UInt64(200))
  func `every operation has one effect or a verdict, and nothing is lost`(
    seed: UInt64
  ) async throws {
    let run = RandomRun(seed: seed)
    try await run.steps(120)
    try #require(try await run.finish(), "seed \(seed) does not come to an end")
    let changes = try await run.world.server.changes(of: "sales")
    let rows = try await run.world.server.rows(of: "sales")
    let effects = Dictionary(grouping: changes, by: \.operationID)
    for device in run.devices {
      let place = Comment(rawValue: "seed \(seed), \(device.configuration.name)")
      #expect(try device.replaysToItself(), place)
      #expect(device.pauses.isEmpty, place)
      check(rows, on: device, place)
      try check(effects, on: device, place)
    }
  }

  /// What is shown is what the server has: nothing is laid over it any more.
  private func check(
    _ rows: [RecordKey: ValueMap], on device: SimulatedDevice, _ place: Comment
  ) {
    var shown: [RecordKey: ValueMap] = [:]
    for (name, collection) in device.state.collections where name != "diary" {
      for id in collection.shownIDs {
        let key = RecordKey(name, id)
        shown[key] = device.state.shown(key)?.row
      }
    }
    #expect(shown == rows, place)
    let open = Set(rows.filter { $0.value.status == "open" }.keys.map(\.id))
    #expect(
      device.state.collections["orders"]?.ids(where: "status", equals: .text("open")) == open,
      place)
  }

  private func check(
    _ effects: [Identifier: [Change]], on device: SimulatedDevice, _ place: Comment
  ) throws {
    var written: [Operation] = []
    var verdicts: [Identifier: Settlement] = [:]
    var decided: Set<Identifier> = []
    var groups: [Identifier: [Identifier]] = [:]
    for (entry, _) in try device.journal.replay() {
      switch entry {
      case .operation(let operation): written.append(operation)
      case .settlement(let settlement):
        if verdicts[settlement.operationID]?.acceptance == nil {
          verdicts[settlement.operationID] = settlement
        }
      case .departure(let departure):
        groups[departure.root, default: []] += departure.members
      case .decision(let decision): decided.formUnion(groups[decision.root] ?? [])
      default: break
      }
    }
    #expect(written.map(\.number) == (0..<UInt64(written.count)).map { $0 + 1 }, place)
    let kept = Set(device.state.setAside.flatMap(\.operations).map(\.operation.id))
    for operation in written {
      let made = effects[operation.id] ?? []
      #expect(made.count <= 1, place)
      let isAccepted = verdicts[operation.id]?.acceptance != nil
      #expect(isAccepted == (made.count == 1), place)
      // Without an effect it is a draft or a dead letter, until the user has decided.
      let isKept = kept.contains(operation.id)
      #expect(made.count == 1 || isKept || decided.contains(operation.id), place)
      #expect(!(isKept && made.count == 1), place)
    }
    #expect(Set(device.state.keptOperations.map(\.operation.id)) == kept, place)
    checkOrder(of: written, effects, place)
  }

  /// Transactions are whole, and operations on one record take effect in the order of writing.
  private func checkOrder(
    of written: [Operation], _ effects: [Identifier: [Change]], _ place: Comment
  ) {
    for unit in Dictionary(grouping: written, by: { $0.transaction?.id }).values {
      guard unit.first?.transaction != nil else { continue }
      let count = unit.count { effects[$0.id] != nil }
      #expect(count == 0 || count == unit.count, place)
    }
    for lane in Dictionary(grouping: written, by: \.record).values {
      let sequences = lane.compactMap { effects[$0.id]?.first?.sequence }
      #expect(sequences == sequences.sorted(), place)
    }
  }
}
