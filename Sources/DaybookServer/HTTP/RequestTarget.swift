/// The path and query of a request, percent-decoded (RFC 3986, section 3).
package struct RequestTarget: Sendable {
  /// The parts between the slashes, each decoded for itself, so that an encoded slash stays inside
  /// its part; none for `/`.
  package let segments: [String]
  /// In the client's order; a parameter without `=` has an empty value, and `+` is a plus sign.
  package let query: [(name: String, value: String)]

  /// The target in the request line: `nil` if it does not begin with `/`, has an encoding that is
  /// broken, an encoded zero byte, or bytes that are not UTF-8.
  package init?(_ text: String) {
    guard text.utf8.first == UInt8(ascii: "/") else { return nil }
    let halves = text.dropFirst().split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var segments: [String] = []
    for part in halves[0].split(separator: "/", omittingEmptySubsequences: false) {
      guard let segment = Self.decoded(part) else { return nil }
      segments.append(segment)
    }
    if segments.last == "" { segments.removeLast() }
    var query: [(name: String, value: String)] = []
    for pair in halves.count == 2 ? halves[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(sides[0]),
        let value = Self.decoded(sides.count == 2 ? sides[1] : "")
      else { return nil }
      query.append((name, value))
    }
    self.segments = segments
    self.query = query
  }

  /// The decoded parts joined by slashes, for messages.
  package var path: String { "/" + segments.joined(separator: "/") }

  /// The text that percent-encoded UTF-8 stands for; `nil` for a broken encoding, a zero byte or
  /// bytes that are not UTF-8.
  static func decoded(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let value = UInt8(Substring(digits), radix: 16), value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
