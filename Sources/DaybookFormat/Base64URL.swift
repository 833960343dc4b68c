/// Bytes as text that is safe in an address: base64 with `-` and `_`, without padding.
///
/// Source: RFC 4648, section 5.
package enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The text of `bytes`: four characters for three bytes, no padding.
  package static func text(of bytes: [UInt8]) -> String {
    var characters: [UInt8] = []
    append(bytes, to: &characters)
    return String(decoding: characters, as: UTF8.self)
  }

  /// Appends the characters of `bytes`, all of them ASCII.
  static func append(_ bytes: [UInt8], to characters: inout [UInt8]) {
    characters.reserveCapacity(characters.count + (bytes.count * 4 + 2) / 3)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(3 - group.count) * 8
      for place in 0...group.count {
        characters.append(alphabet[Int(bits >> UInt32(18 - place * 6) & 63)])
      }
    }
  }

  /// The bytes that `text` spells, `nil` if it is not such a text: another character, padding, a
  /// count that no bytes have, or bits set that stand for none.
  package static func bytes(of text: String) -> [UInt8]? {
    let characters = text.utf8
    guard characters.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count * 3 / 4)
    var bits: UInt32 = 0
    var bitCount = 0
    for character in characters {
      guard let digit = digit(character) else { return nil }
      bits = bits << 6 | digit
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        bits &= (1 << UInt32(bitCount)) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }

  private static func digit(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): return UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): return UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): return 62
    case UInt8(ascii: "_"): return 63
    default: return nil
    }
  }
}
