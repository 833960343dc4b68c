/// Sixteen bytes that name one thing for ever.
public struct Identifier: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Bytes 0 to 7, the first one the most significant.
  public let high: UInt64
  /// Bytes 8 to 15.
  public let low: UInt64

  /// The identifier of these two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Sixteen zero bytes: stands for "none" where a layout has a fixed place for an identifier.
  public static let zero = Identifier(high: 0, low: 0)

  /// Byte order.
  public static func < (left: Identifier, right: Identifier) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  /// A UUID of version 7: `milliseconds` since 1970 in the first 48 bits, then 74 of the random
  /// bits.
  ///
  /// Source: RFC 9562, section 5.7. No rule reads the time in it.
  public static func version7(milliseconds: Int64, random: (UInt64, UInt64)) -> Identifier {
    let time = UInt64(truncatingIfNeeded: milliseconds) << 16
    return Identifier(
      high: time | 0x7000 | (random.0 & 0x0FFF),
      low: 0x8000_0000_0000_0000 | (random.1 & 0x3FFF_FFFF_FFFF_FFFF))
  }

  /// The sixteen bytes, in order.
  public var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { [UInt8]($0) }
  }

  /// The identifier of exactly sixteen `bytes`, `nil` for another count.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for (index, byte) in bytes.enumerated() {
      if index < 8 {
        halves.0 = halves.0 << 8 | UInt64(byte)
      } else {
        halves.1 = halves.1 << 8 | UInt64(byte)
      }
    }
    self.init(high: halves.0, low: halves.1)
  }

  /// The text form of a UUID: 36 lower-case characters, `0198c0de-0000-7000-8000-000000000001`.
  public var description: String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += Hexadecimal.digits(of: byte)
    }
    return text
  }

  /// The identifier that `text` spells, with or without its hyphens; `nil` if it is none.
  public init?(_ text: String) {
    guard let bytes = Hexadecimal.bytes(of: text.replacing("-", with: "")) else { return nil }
    self.init(bytes: bytes)
  }
}

/// Two digits a byte, lower case.
package enum Hexadecimal {
  /// The two digits of `byte`.
  package static func digits(of byte: UInt8) -> String {
    let digits = Array("0123456789abcdef")
    return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
  }

  /// The digits of all `bytes`.
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    bytes.map { digits(of: $0) }.joined()
  }

  /// The bytes that `text` spells; `nil` for an odd count or another character.
  package static func bytes(of text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: characters.count, by: 2) {
      guard let high = nibble(characters[index]), let low = nibble(characters[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func nibble(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): return character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): return character - UInt8(ascii: "A") + 10
    default: return nil
    }
  }
}
