import DaybookFormat
import DaybookServer
import DaybookServerCore

/// A small server to ask.
enum Sample {
  static let time = Timestamp(milliseconds: 1_750_000_000_123)
  static let history = HistoryIdentity(
    serverID: Identifier(high: 0xAAAA, low: 1), epoch: Identifier(high: 0xBBBB, low: 2))

  static let schema = Schema(
    name: "sample", version: 3,
    collections: [
      CollectionSchema(
        name: "orders",
        fields: [
          "rep": FieldSchema(.text), "status": FieldSchema(.text), "quantity": FieldSchema(.int),
          "photo": FieldSchema(.bytes, isOptional: true),
        ],
        scope: .field("rep"),
        states: StateRules(
          field: "status", initial: ["open"], transitions: [:], final: ["cancelled"]),
        actions: ["cancel": NamedAction(from: ["open"], set: ["status": .text("cancelled")])])
    ],
    overseers: ["office"])
}

/// Endpoints on a store whose log a test holds in its hand.
struct Service {
  let log = HeldLog()
  let engine: ServerEngine<EmbeddedStore>
  let endpoints: Endpoints<EmbeddedStore>

  init() throws {
    let state = ServerState()
    try state.apply(.history(Sample.history))
    let store = EmbeddedStore(history: Sample.history, state: state, log: log)
    engine = ServerEngine(store: store, schema: Sample.schema) { Sample.time }
    endpoints = Endpoints(engine: engine)
  }

  func get(
    _ target: String, headers: [(name: String, value: String)] = [], accept: String? = nil
  ) async throws -> ServerResponse {
    try await ask("GET", target, headers: headers, accept: accept)
  }

  /// Sends a batch as a device does.
  func push(_ request: PushRequest) async throws -> ServerResponse {
    try await ask(
      "POST", Wire.pushPath, headers: [("Content-Type", Wire.cborType)],
      body: CBOREncoder.encode(request.value))
  }

  func ask(
    _ method: String, _ target: String, headers: [(name: String, value: String)] = [],
    accept: String? = nil, body: [UInt8] = []
  ) async throws -> ServerResponse {
    struct BadTarget: Error {}
    guard let parsed = RequestTarget(target) else { throw BadTarget() }
    var headers = headers
    if let accept { headers.append(("Accept", accept)) }
    return await endpoints.respond(
      to: ServerRequest(method: method, target: parsed, headers: headers, body: body))
  }
}

extension ServerResponse {
  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The body, by the type that it says it has.
  var value: Value? {
    switch header("Content-Type") {
    case Wire.cborType: return try? CBORDecoder.decode(body, mode: .canonical)
    case Wire.jsonType: return try? JSONText.parse(body)
    default: return nil
    }
  }

  /// The member of the body's map at this path.
  func member(_ path: String...) -> Value? {
    path.reduce(value) { value, name in
      Int(name).map { index in
        value?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
      } ?? value?.map?[name]
    }
  }
}
