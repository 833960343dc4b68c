/// Values as JSON text for people, browsers and other languages.
///
/// | value | JSON |
/// | --- | --- |
/// | integer | a number; beyond 2^53 either way its digits as text |
/// | double | a number with a point or an exponent; NaN and the infinities as null |
/// | bytes | base64url without padding, as text |
/// | time | RFC 3339 in UTC, as text |
/// | decimal | its digits as text |
/// | map | an object in canonical order; a key that is not text becomes its own JSON text |
/// | big number (tags 2, 3) | base64url; a negative one with `~` before it |
/// | another tag | its content alone |
/// | undefined, simple | null |
///
/// Source: RFC 8949, section 6.1; `Docs/Format.md`, section "JSON".
package enum JSONText {
  /// Integers up to this are exact in every language's doubles.
  static let exactInteger: UInt64 = 1 << 53

  /// The JSON text of `value`, on one line and without spaces.
  package static func text(of value: Value) -> String {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the JSON text of `value`, in UTF-8.
  package static func append(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .null, .undefined, .simple: append(literal: "null", to: &bytes)
    case .bool(let value): append(literal: value ? "true" : "false", to: &bytes)
    case .unsigned(let number):
      append(digits: String(number), quoted: number > exactInteger, to: &bytes)
    case .negative(let number): append(negative: number, to: &bytes)
    case .double(let number):
      append(literal: number.isFinite ? number.description : "null", to: &bytes)
    case .text(let text): append(text, to: &bytes)
    case .bytes(let content): append(base64: content, to: &bytes)
    case .array(let elements): append(elements, to: &bytes)
    case .map(let map): append(map, to: &bytes)
    case .decimal(let decimal): append(digits: decimal.description, quoted: true, to: &bytes)
    case .time(let time): append(digits: time.rfc3339, quoted: true, to: &bytes)
    case .tagged(let tag, .bytes(let content))
    where tag == CBORTag.positiveBignum || tag == CBORTag.negativeBignum:
      append(base64: content, prefix: tag == CBORTag.negativeBignum ? "~" : "", to: &bytes)
    case .tagged(_, let content): append(content, to: &bytes)
    }
  }

  private static func append(literal: String, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: literal.utf8)
  }

  private static func append(digits: String, quoted: Bool, to bytes: inout [UInt8]) {
    if quoted { bytes.append(UInt8(ascii: "\"")) }
    bytes.append(contentsOf: digits.utf8)
    if quoted { bytes.append(UInt8(ascii: "\"")) }
  }

  /// -1 - `number`, which does not fit in 64 bits for the greatest of them.
  private static func append(negative number: UInt64, to bytes: inout [UInt8]) {
    let (magnitude, overflow) = number.addingReportingOverflow(1)
    let digits = overflow ? "18446744073709551616" : String(magnitude)
    append(digits: "-" + digits, quoted: number >= exactInteger, to: &bytes)
  }

  private static func append(
    base64 content: [UInt8], prefix: String = "", to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: prefix.utf8)
    Base64URL.append(content, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private static func append(_ elements: [Value], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func append(_ map: ValueMap, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for (index, entry) in map.entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(entry.key.text ?? text(of: entry.key), to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      append(entry.value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends `text` as a JSON string: quotes, backslashes and control characters escaped.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: append(literal: "\\n", to: &bytes)
      case 0x0D: append(literal: "\\r", to: &bytes)
      case 0x09: append(literal: "\\t", to: &bytes)
      case 0..<0x20, 0x7F: append(literal: "\\u00" + Hexadecimal.digits(of: byte), to: &bytes)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
