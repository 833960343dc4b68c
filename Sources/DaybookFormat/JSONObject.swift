/// One JSON object whose names stand in the order in which they were first set: for lines that
/// programs read and people look at.
package struct JSONObject: Sendable {
  private var members: [(name: String, text: [UInt8])] = []

  /// An object without members.
  package init() {}

  /// The object on one line, without spaces and without a line end.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  private var bytes: [UInt8] {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONText.append(member.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(contentsOf: member.text)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  /// Sets `name` to the JSON text of `value`; a name that was set keeps its place.
  package mutating func set(_ name: String, _ value: Value) {
    var text: [UInt8] = []
    JSONText.append(value, to: &text)
    set(name, text: text)
  }

  /// Sets `name` to a text.
  package mutating func set(_ name: String, _ value: String) { set(name, .text(value)) }

  /// Sets `name` to a whole number.
  package mutating func set(_ name: String, _ value: Int) { set(name, .int(Int64(value))) }

  /// Sets `name` to a whole number without a sign.
  package mutating func set(_ name: String, _ value: UInt64) { set(name, .unsigned(value)) }

  /// Sets `name` to true or false.
  package mutating func set(_ name: String, _ value: Bool) { set(name, .bool(value)) }

  /// Sets `name` to an object with its own order.
  package mutating func set(_ name: String, _ object: JSONObject) {
    set(name, text: object.bytes)
  }

  /// Sets `name` to an array of objects, each with its own order.
  package mutating func set(_ name: String, _ objects: [JSONObject]) {
    var text: [UInt8] = [UInt8(ascii: "[")]
    for (index, object) in objects.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text.append(contentsOf: object.bytes)
    }
    text.append(UInt8(ascii: "]"))
    set(name, text: text)
  }

  private mutating func set(_ name: String, text: [UInt8]) {
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index].text = text
    } else {
      members.append((name, text))
    }
  }
}
