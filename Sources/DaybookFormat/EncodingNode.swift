/// Where a value of an app's type encodes itself into: one place in the tree.
///
/// A class, because the containers that Swift hands out, and those nested in them, all write to it.
/// A nested container is filled after its place was taken, so its node is kept in `pending` until
/// ``finish()``.
final class EncodingNode: Encoder {
  private enum Shape { case empty, single, keyed, unkeyed, contradictory }

  let trail: CodingTrail?
  private var shape = Shape.empty
  private var single = Value.null
  private var entries: [ValueMap.Entry] = []
  private var elements: [Value] = []
  private var pending: [(index: Int, node: EncodingNode)] = []

  init(_ trail: CodingTrail?) { self.trail = trail }

  var codingPath: [any CodingKey] { CodingTrail.path(trail) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  // MARK: Containers

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    take(.keyed)
    if entries.capacity == 0 { entries.reserveCapacity(16) }
    return KeyedEncodingContainer(KeyedFields<Key>(node: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    take(.unkeyed)
    return UnkeyedElements(node: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleElement(node: self) }

  private func take(_ wanted: Shape) {
    if shape == .empty || shape == wanted { shape = wanted } else { shape = .contradictory }
  }

  // MARK: Content

  var elementCount: Int { elements.count }

  func set(_ value: Value) {
    take(.single)
    single = value
  }

  func set(_ value: Value, _ key: some CodingKey) {
    entries.append(ValueMap.Entry(key: .text(key.stringValue), value: value))
  }

  func append(_ value: Value) { elements.append(value) }

  /// A node for a container under `key`; the same one when a key is asked for again.
  func child(_ key: some CodingKey) -> EncodingNode {
    let name = key.stringValue
    for (index, node) in pending where entries[index].key == .text(name) { return node }
    let node = EncodingNode(CodingTrail(trail, key))
    pending.append((entries.count, node))
    entries.append(ValueMap.Entry(key: .text(name), value: .null))
    return node
  }

  /// A node for the next element.
  func child() -> EncodingNode {
    let node = EncodingNode(CodingTrail(trail, PlainKey.index(elements.count)))
    pending.append((elements.count, node))
    elements.append(.null)
    return node
  }

  /// The value that was encoded; asked for once.
  func finish() throws -> Value {
    if !pending.isEmpty { try finishPending() }
    switch shape {
    case .single: return single
    case .unkeyed: return .array(elements)
    case .empty: return .map(ValueMap())
    case .keyed:
      // Taken out of the node, so that they are sorted where they lie.
      var fields: [ValueMap.Entry] = []
      swap(&fields, &entries)
      return .map(ValueMap(lastOf: fields))
    case .contradictory:
      throw EncodingNode.error("asked for containers of two kinds", trail)
    }
  }

  private func finishPending() throws {
    guard (trail?.depth ?? 0) < CBORLimits().depth else { throw EncodingNode.tooDeep(trail) }
    for (index, node) in pending {
      let value = try node.finish()
      if shape == .unkeyed { elements[index] = value } else { entries[index].value = value }
    }
  }

  // MARK: Values

  /// The value of what lies under `key` of the value at `trail`.
  static func box<T: Encodable>(
    _ value: T, under key: some CodingKey, in trail: CodingTrail?
  ) throws -> Value {
    if let simple = ScalarCoding.value(of: value) { return simple }
    return try box(value, in: CodingTrail(trail, key))
  }

  /// The value of what lies at `trail`.
  static func box<T: Encodable>(_ value: T, in trail: CodingTrail?) throws -> Value {
    if let simple = ScalarCoding.value(of: value) { return simple }
    if let known = try KnownTypes.value(of: value, trail) { return known }
    guard (trail?.depth ?? 0) < CBORLimits().depth else { throw tooDeep(trail) }
    let node = EncodingNode(trail)
    try value.encode(to: node)
    return try node.finish()
  }

  private static func tooDeep(_ trail: CodingTrail?) -> EncodingError {
    error("nested deeper than \(CBORLimits().depth) levels", trail)
  }

  static func error(_ reason: String, _ trail: CodingTrail?) -> EncodingError {
    // The value itself stays out of the error: it may end up in a log.
    EncodingError.invalidValue(
      reason,
      EncodingError.Context(codingPath: CodingTrail.path(trail), debugDescription: reason))
  }
}
