import DaybookFormat
import DaybookSync

/// Orders over a network that loses one request in five and one reply in five, with op ids and
/// without: what at-least-once does to a server that can't tell a repetition.
///
/// One request is in flight, a batch is one operation, and no wait is waited for. Draws are those
/// of CPython's `random.Random(seed)` with `randrange(5) == 0`: first whether the request is lost;
/// if not, the server acts, and a second draw decides about the reply.
package enum LossySimulation {
  /// The orders taken in a run.
  package static let orderCount = 50

  /// How one run ended.
  package struct Outcome: Sendable, Hashable {
    /// Orders that the device wrote.
    package let taken: Int
    /// Order records on the server.
    package let saved: Int
    /// Pushes sent.
    package let sends: Int

    /// The outcome of these counts.
    package init(taken: Int, saved: Int, sends: Int) {
      self.taken = taken
      self.saved = saved
      self.sends = sends
    }

    /// Order records that nobody took.
    package var duplicates: Int { saved - taken }
  }

  /// One seed, both ways.
  package struct Pair: Sendable, Hashable {
    /// Each attempt was a new operation with a new record id.
    package let withoutOperationIDs: Outcome
    /// Each attempt sent the same bytes.
    package let withOperationIDs: Outcome
  }

  /// Runs `seed` both ways.
  package static func run(seed: UInt64) async throws -> Pair {
    let without = try await run(seed: seed, usesOperationIDs: false)
    return Pair(
      withoutOperationIDs: without,
      withOperationIDs: try await run(seed: seed, usesOperationIDs: true))
  }

  /// Runs `seed` with the project's own outbox, machines and server rules.
  package static func run(seed: UInt64, usesOperationIDs: Bool) async throws -> Outcome {
    let network = SimulatedNetwork(SimulatedServer(schema: schema))
    var configuration = SimulatedDevice.Configuration(account: "rep", name: "phone", seed: seed)
    configuration.limits = BatchLimits(operationLimit: 1)
    let device = SimulatedDevice(configuration, on: network)
    // A first pull registers the device, before anything is lost.
    try await device.runPull()
    for number in 1...orderCount {
      try device.write(
        SimulatedEdit(
          .create, RecordKey("orders", "\(number)"), ["number": .int(Int64(number))]))
    }
    let losses = Losses(seed: seed)
    network.fate = { _ in losses.fate() }
    if !usesOperationIDs { network.translation = NamelessClient(seed: seed) }
    while !device.state.unsettled.isEmpty { try await device.runPush() }
    let saved = try await network.server.rows(of: "orders")
    return Outcome(taken: orderCount, saved: saved.count, sends: network.pushCount)
  }

  private static let schema = Schema(
    name: "lossy",
    collections: [
      CollectionSchema(
        name: "orders", fields: ["number": FieldSchema(.int)], scope: .constant("orders"))
    ])

  private final class Losses {
    private var random: MersenneTwister

    init(seed: UInt64) { random = MersenneTwister(seed: seed) }

    func fate() -> SimulatedNetwork.Fate {
      if random.below(5) == 0 { return .loseRequest }
      return random.below(5) == 0 ? .loseReply : .deliver
    }
  }
}

/// A client without op ids: each attempt at sending an operation makes a new one of a new record.
private final class NamelessClient: PushTranslation {
  private var random: SplitMix64
  private var count: UInt64 = 0
  private var kept: [Identifier: Identifier] = [:]

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  func translate(_ request: PushRequest) -> PushRequest {
    var request = request
    // It never says what it has recorded.
    request.watermark = 1
    request.items = request.items.map { item in
      let original = item.operation
      count += 1
      let id = Identifier(high: random.next(), low: random.next())
      kept[id] = original.id
      return PushRequest.Item(
        operation: Operation(
          id: id, incarnation: original.incarnation, number: count, clock: original.clock,
          account: original.account, device: original.device,
          record: RecordKey(original.record.collection, id.description), scope: original.scope,
          action: original.action, fields: original.fields))
    }
    return request
  }

  func translate(_ reply: PushReply) -> PushReply {
    var reply = reply
    reply.results = reply.results.map { result in
      guard let id = kept[result.operationID], case .settled(let settlement) = result.outcome
      else { return result }
      return PushResult(
        operationID: id,
        outcome: .settled(
          Settlement(
            operationID: id, serverTime: settlement.serverTime, verdict: settlement.verdict)))
    }
    return reply
  }
}
