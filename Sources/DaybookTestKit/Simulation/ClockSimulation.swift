import DaybookFormat
import DaybookSync

/// An order that the office cancels at 11:00, and a rep's edit of 10:58 that a fast clock stamps
/// 11:03: decided by the later stamp, and by the version that the edit was made on.
///
/// The edit changes the quantity from 10 to 12 and replaces the whole row.
package enum ClockSimulation {
  /// Whose operation reaches the server first.
  package enum Arrival: String, Sendable, CaseIterable {
    case rep
    case office
  }

  /// The order as the server has it in the end.
  package struct Ending: Sendable, Hashable {
    /// `open` or `cancelled`.
    package let status: String
    /// 10 or 12.
    package let quantity: Int64
    /// The drafts on the rep's device.
    package let drafts: Int

    /// The order in `status` with `quantity`.
    package init(status: String, quantity: Int64, drafts: Int) {
      self.status = status
      self.quantity = quantity
      self.drafts = drafts
    }
  }

  /// One arrival order under both policies.
  package struct Outcome: Sendable, Hashable {
    /// Whose operation came first.
    package let arrival: Arrival
    /// The later stamp stands.
    package let lastWriteWins: Ending
    /// A stale edit is refused, and a cancelled order stays cancelled.
    package let versionCheck: Ending
  }

  /// Why a run did not come to an end, which the rules never let happen.
  package enum Failure: Error, Sendable, Hashable {
    /// The order is not on the server.
    case noOrder
    /// The rep's device shows another order than the server has.
    case devicesDiffer
  }

  /// Runs one arrival order under both policies.
  package static func run(_ arrival: Arrival) async throws -> Outcome {
    let cancelByField = SimulatedEdit(.patch, order, ["status": .text("cancelled")])
    let cancelByName = SimulatedEdit(.named("cancel"), order, ["status": .text("cancelled")])
    return Outcome(
      arrival: arrival,
      lastWriteWins: try await run(arrival, schema: stampSchema, cancel: cancelByField),
      versionCheck: try await run(arrival, schema: stateSchema, cancel: cancelByName))
  }

  private static func run(
    _ arrival: Arrival, schema: Schema, cancel: SimulatedEdit
  ) async throws -> Ending {
    let clock = SimulatedClock()
    let network = SimulatedNetwork(SimulatedServer(schema: schema, clock: clock))
    var fast = SimulatedDevice.Configuration(account: "rep", name: "phone", seed: 1)
    fast.clockLead = 5 * minute
    let rep = SimulatedDevice(fast, on: network)
    let office = SimulatedDevice(
      SimulatedDevice.Configuration(account: "office", name: "desk", seed: 2), on: network)
    try await rep.runPull()
    try rep.write(SimulatedEdit(.create, order, row(quantity: 10)))
    try await rep.round()
    try await office.round()

    clock.advance(to: morning(hour: 10, minute: 58))
    try rep.write(SimulatedEdit(.replace, order, row(quantity: 12)))
    clock.advance(to: morning(hour: 11, minute: 0))
    try office.write(cancel)
    for device in arrival == .rep ? [rep, office] : [office, rep] { try await device.runPush() }
    try await rep.runPull()

    guard let row = try await network.server.record(order)?.row,
      let status = row["status"]?.text, let quantity = row["quantity"]?.integer
    else { throw Failure.noOrder }
    guard rep.state.shown(order)?.row == row else { throw Failure.devicesDiffer }
    return Ending(status: status, quantity: quantity, drafts: rep.state.setAside.count)
  }

  private static let minute: Int64 = 60_000
  private static let order = RecordKey("orders", "1")

  private static func row(quantity: Int64) -> ValueMap {
    ["status": .text("open"), "quantity": .int(quantity)]
  }

  /// A time of the simulated day, which begins at 8:00.
  private static func morning(hour: Int64, minute: Int64) -> Timestamp {
    Timestamp(
      milliseconds: SimulatedClock.morning.milliseconds
        + ((hour - 8) * 60 + minute) * Self.minute)
  }

  private static let fields = ["status": FieldSchema(.text), "quantity": FieldSchema(.int)]

  private static let stampSchema = Schema(
    name: "clock",
    collections: [
      CollectionSchema(
        name: "orders", fields: fields, policy: .plainTimestamp, scope: .constant("orders"))
    ])

  private static let stateSchema = Schema(
    name: "clock",
    collections: [
      CollectionSchema(
        name: "orders", fields: fields, policy: .versionCheck, scope: .constant("orders"),
        states: StateRules(
          field: "status", initial: ["open"], transitions: [:], final: ["cancelled"]),
        actions: ["cancel": NamedAction(from: ["open"], set: ["status": .text("cancelled")])])
    ])
}
