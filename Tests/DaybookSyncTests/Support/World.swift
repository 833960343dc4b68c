import DaybookFormat
import DaybookServerCore
import DaybookSync
import DaybookTestKit

/// A server with a network in front of it, and the schema of a small shop.
struct World {
  let clock = SimulatedClock()
  let network: SimulatedNetwork

  init(schema: Schema = World.schema) {
    network = SimulatedNetwork(SimulatedServer(schema: schema, clock: clock))
  }

  var server: SimulatedServer { network.server }

  /// A device with an empty log.
  func device(
    _ account: String, _ name: String = "phone", seed: UInt64 = 1, pageLimit: Int = 500,
    limits: BatchLimits = BatchLimits()
  ) -> SimulatedDevice {
    var configuration = SimulatedDevice.Configuration(account: account, name: name, seed: seed)
    configuration.pageLimit = pageLimit
    configuration.limits = limits
    return SimulatedDevice(configuration, on: network)
  }

  /// A rep and an office that both hold order 1, open with a quantity of 10.
  func repAndOffice() async throws -> (rep: SimulatedDevice, office: SimulatedDevice) {
    let rep = device("rep", seed: 1)
    let office = device("office", "desk", seed: 2)
    try await rep.runPull()
    try rep.write(.order("1", quantity: 10))
    try await rep.round()
    try await office.round()
    return (rep, office)
  }

  /// The row of an order on the server.
  func order(_ id: String) async throws -> ValueMap? {
    try await server.record(RecordKey("orders", id))?.row
  }

  /// The changes that an operation made; one at most if all is well.
  func effects(of id: Identifier) async throws -> [Change] {
    try await server.changes(of: "sales").filter { $0.operationID == id }
  }

  static let schema = Schema(
    name: "sales",
    collections: [
      CollectionSchema(
        name: "orders",
        fields: [
          "status": FieldSchema(.text), "quantity": FieldSchema(.int),
          "note": FieldSchema(.text, isOptional: true),
          "shop": FieldSchema(.reference(to: "shops", onDelete: .refuse), isOptional: true),
        ],
        policy: .versionCheck, scope: .constant("sales"), indexes: ["status"],
        states: StateRules(
          field: "status", initial: ["open"], transitions: ["open": ["sent"]],
          final: ["cancelled"]),
        actions: [
          "cancel": NamedAction(from: ["open", "sent"], set: ["status": .text("cancelled")])
        ]),
      CollectionSchema(
        name: "visits",
        fields: [
          "order": FieldSchema(.reference(to: "orders", onDelete: .keep)),
          "note": FieldSchema(.text, isOptional: true),
        ],
        policy: .serverOrder, scope: .constant("sales")),
      CollectionSchema(
        name: "shops", fields: ["name": FieldSchema(.text)], scope: .constant("sales")),
      CollectionSchema(
        name: "messages",
        fields: ["conversation": FieldSchema(.text), "text": FieldSchema(.text)],
        policy: .serverOrder, lane: "conversation", scope: .constant("sales")),
      CollectionSchema(name: "diary", fields: ["text": FieldSchema(.text)], scope: .account),
    ])
}

extension RecordKey {
  static func order(_ id: String) -> RecordKey { RecordKey("orders", id) }
}

extension SimulatedEdit {
  /// A new open order.
  static func order(_ id: String, quantity: Int64, shop: String? = nil) -> SimulatedEdit {
    var fields: ValueMap = ["status": .text("open"), "quantity": .int(quantity)]
    fields["shop"] = shop.map(Value.text)
    return SimulatedEdit(.create, .order(id), fields)
  }

  /// Another quantity of an order.
  static func quantity(
    _ quantity: Int64, of id: String, supersedes: Identifier? = nil
  ) -> SimulatedEdit {
    SimulatedEdit(.patch, .order(id), ["quantity": .int(quantity)], supersedes: supersedes)
  }

  /// A note on an order.
  static func note(_ note: String, on id: String) -> SimulatedEdit {
    SimulatedEdit(.patch, .order(id), ["note": .text(note)])
  }

  /// The named action that cancels an order.
  static func cancel(_ id: String) -> SimulatedEdit {
    SimulatedEdit(.named("cancel"), .order(id), ["status": .text("cancelled")])
  }

  /// A visit because of an order.
  static func visit(_ id: String, order: String) -> SimulatedEdit {
    SimulatedEdit(.create, RecordKey("visits", id), ["order": .text(order)])
  }

  /// A message of a conversation.
  static func message(_ id: String, in conversation: String, text: String?) -> SimulatedEdit {
    var fields: ValueMap = ["conversation": .text(conversation)]
    fields["text"] = text.map(Value.text)
    return SimulatedEdit(.create, RecordKey("messages", id), fields)
  }
}

extension SimulatedDevice {
  /// The row of an order as it is shown.
  func shownOrder(_ id: String) -> ValueMap? { state.shown(.order(id))?.row }

  /// Whether the log alone makes the state that the device has.
  func replaysToItself() throws -> Bool {
    try journal.state(schema: schema, incarnation: incarnation) == state
  }

  /// All settlements in the log about one operation.
  func recordedSettlements(of id: Identifier) throws -> [Settlement] {
    try journal.replay().compactMap {
      if case .settlement(let settlement) = $0.entry, settlement.operationID == id {
        return settlement
      }
      return nil
    }
  }
}

extension ValueMap {
  var status: String? { self["status"]?.text }
  var quantity: Int64? { self["quantity"]?.integer }
  var note: String? { self["note"]?.text }
}
