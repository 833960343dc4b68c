import DaybookFormat

/// A push as JSON says it: the wire's map, with bytes as base64url, identifiers in their text form
/// or as base64url, and integers as numbers or as digits. "known" may also be a cursor's text;
/// "anchor" is one.
///
/// ```json
/// {"account": "rep-7", "device": "phone", "incarnation": "0198c0de-...", "server": "0198c0de-...",
///  "watermark": 1, "known": "omVlcG9jaFAB...",
///  "operations": [["AZjA3gAAcAC..."], ["AZjA3gAAcAC...", [17, "8027449920071229440"]]],
///  "withdrawals": [["0198c0de-...", 4]]}
/// ```
enum JSONPush {
  /// The value that the same push has in CBOR.
  static func wireForm(of value: Value) throws(EntryError) -> Value {
    guard var map = value.map else { throw .member(name: "operations") }
    for name in ["incarnation", "server"] { map[name] = try identifier(map[name], in: name) }
    map["watermark"] = try number(map["watermark"], in: "watermark")
    map["known"] = try cursor(map["known"])
    var operations: [Value] = []
    for parts in try arrays(map["operations"], of: 1...2, in: "operations") {
      guard let bytes = parts[0].text.flatMap(Base64URL.bytes) else {
        throw .member(name: "operations")
      }
      var operation: [Value] = [.bytes(bytes)]
      if parts.count == 2 { operation.append(try pair(parts[1], in: "operations")) }
      operations.append(.array(operation))
    }
    map["operations"] = .array(operations)
    var withdrawals: [Value] = []
    for parts in try arrays(map["withdrawals"], of: 2...3, in: "withdrawals") {
      let id = try identifier(parts[0], in: "withdrawals")
      var withdrawal = [id, try number(parts[1], in: "withdrawals")]
      if parts.count == 3 { withdrawal.append(try identifier(parts[2], in: "withdrawals")) }
      withdrawals.append(.array(withdrawal))
    }
    map["withdrawals"] = .array(withdrawals)
    if let registered = map["registered"]?.array {
      var identifiers: [Value] = []
      for element in registered { identifiers.append(try identifier(element, in: "registered")) }
      map["registered"] = .array(identifiers)
    }
    if let text = map["anchor"]?.text {
      guard let anchor = try? Anchor(text: text) else { throw .member(name: "anchor") }
      map["anchor"] = anchor.value
    }
    return .map(map)
  }

  private static func cursor(_ value: Value?) throws(EntryError) -> Value {
    if let text = value?.text { return try Cursor(text: text).value }
    guard var map = value?.map, let scopes = map["scopes"]?.map else {
      throw .member(name: "known")
    }
    map["epoch"] = try identifier(map["epoch"], in: "epoch")
    var positions: ValueMap = [:]
    for entry in scopes.entries {
      guard let name = entry.key.text else { throw .member(name: "scopes") }
      positions[name] = try pair(entry.value, in: "scopes")
    }
    map["scopes"] = .map(positions)
    return .map(map)
  }

  /// The elements of the array `value`, each an array of as many parts as `counts` allows.
  private static func arrays(
    _ value: Value?, of counts: ClosedRange<Int>, in name: String
  ) throws(EntryError) -> [[Value]] {
    guard let value else { return [] }
    guard let elements = value.array else { throw .member(name: name) }
    var arrays: [[Value]] = []
    for element in elements {
      guard let parts = element.array, counts.contains(parts.count) else {
        throw .member(name: name)
      }
      arrays.append(parts)
    }
    return arrays
  }

  /// Two unsigned integers: a version, or a place in a scope.
  private static func pair(_ value: Value, in name: String) throws(EntryError) -> Value {
    guard let parts = value.array, parts.count == 2 else { throw .member(name: name) }
    let first = try number(parts[0], in: name)
    return .array([first, try number(parts[1], in: name)])
  }

  private static func number(_ value: Value?, in name: String) throws(EntryError) -> Value {
    switch value {
    case .unsigned(let number): return .unsigned(number)
    case .text(let digits):
      guard let number = UInt64(digits) else { throw .member(name: name) }
      return .unsigned(number)
    default: throw .member(name: name)
    }
  }

  private static func identifier(_ value: Value?, in name: String) throws(EntryError) -> Value {
    guard let text = value?.text else { throw .member(name: name) }
    if let identifier = Identifier(text) { return .bytes(identifier.bytes) }
    guard let bytes = Base64URL.bytes(of: text), bytes.count == 16 else {
      throw .member(name: name)
    }
    return .bytes(bytes)
  }
}
