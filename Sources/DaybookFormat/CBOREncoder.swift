/// Writes values as CBOR in core deterministic encoding: equal values, equal bytes.
///
/// Integers and floating point numbers take the fewest bytes that keep them, lengths are definite,
/// map entries stand in the order of their encoded keys, and decimals and times have one form
/// each.
///
/// Source: RFC 8949, section 4.2.1; `Docs/Format.md`, section "Values".
package enum CBOREncoder {
  /// The canonical bytes of `value`.
  package static func encode(_ value: Value) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    append(value, to: &bytes)
    return bytes
  }

  /// Appends the canonical bytes of `value` to `bytes`.
  ///
  /// Recursive: a value nested deeper than ``CBORLimits/depth`` is written but not read back.
  /// Whoever takes values from an app asks ``Value/storageProblem`` first.
  package static func append(_ value: Value, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0xF6)
    case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
    case .unsigned(let value): appendHead(.unsigned, value, to: &bytes)
    case .negative(let value): appendHead(.negative, value, to: &bytes)
    case .double(let value): appendDouble(value, to: &bytes)
    case .text(let value): appendText(value, to: &bytes)
    case .bytes(let value):
      appendHead(.bytes, UInt64(value.count), to: &bytes)
      bytes.append(contentsOf: value)
    case .array(let elements):
      appendHead(.array, UInt64(elements.count), to: &bytes)
      for element in elements { append(element, to: &bytes) }
    case .map(let map):
      appendHead(.map, UInt64(map.count), to: &bytes)
      for entry in map.entries {
        append(entry.key, to: &bytes)
        append(entry.value, to: &bytes)
      }
    case .decimal(let decimal): appendDecimal(decimal, to: &bytes)
    case .time(let time): appendTime(time, to: &bytes)
    case .tagged(let tag, let content):
      appendHead(.tag, tag, to: &bytes)
      append(content, to: &bytes)
    case .undefined: bytes.append(0xF7)
    case .simple(let value):
      precondition(!(20...31).contains(value), "simple value \(value) is not a value of its own")
      appendHead(.simple, UInt64(value), to: &bytes)
    }
  }

  /// Appends the head of an item: its major type and the shortest form of `argument`.
  static func appendHead(_ type: CBORMajorType, _ argument: UInt64, to bytes: inout [UInt8]) {
    let initial = type.rawValue << 5
    if argument < 24 {
      bytes.append(initial | UInt8(argument))
    } else if argument <= 0xFF {
      bytes.append(initial | 24)
      bytes.append(UInt8(argument))
    } else if argument <= 0xFFFF {
      bytes.append(initial | 25)
      appendBigEndian(UInt16(argument), to: &bytes)
    } else if argument <= 0xFFFF_FFFF {
      bytes.append(initial | 26)
      appendBigEndian(UInt32(argument), to: &bytes)
    } else {
      bytes.append(initial | 27)
      appendBigEndian(argument, to: &bytes)
    }
  }

  private static func appendBigEndian(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func appendText(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = text.utf8
    appendHead(.text, UInt64(utf8.count), to: &bytes)
    bytes.append(contentsOf: utf8)
  }

  private static func appendDouble(_ value: Double, to bytes: inout [UInt8]) {
    switch CBORFloat(value) {
    case .half(let bits):
      bytes.append(0xF9)
      appendBigEndian(bits, to: &bytes)
    case .single(let bits):
      bytes.append(0xFA)
      appendBigEndian(bits, to: &bytes)
    case .double(let bits):
      bytes.append(0xFB)
      appendBigEndian(bits, to: &bytes)
    }
  }

  private static func appendInteger(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 {
      appendHead(.negative, UInt64(bitPattern: ~value), to: &bytes)
    } else {
      appendHead(.unsigned, UInt64(value), to: &bytes)
    }
  }

  private static func appendDecimal(_ decimal: ExactDecimal, to bytes: inout [UInt8]) {
    appendHead(.tag, CBORTag.decimal, to: &bytes)
    appendHead(.array, 2, to: &bytes)
    appendInteger(decimal.exponent, to: &bytes)
    appendInteger(decimal.mantissa, to: &bytes)
  }

  private static func appendTime(_ time: Timestamp, to bytes: inout [UInt8]) {
    switch CBORTime(time) {
    case .seconds(let seconds):
      appendHead(.tag, CBORTag.time, to: &bytes)
      appendInteger(seconds, to: &bytes)
    case .fraction(let seconds):
      appendHead(.tag, CBORTag.time, to: &bytes)
      appendDouble(seconds, to: &bytes)
    case .extended(let seconds, let milliseconds):
      appendHead(.tag, CBORTag.extendedTime, to: &bytes)
      appendHead(.map, 2, to: &bytes)
      appendInteger(1, to: &bytes)
      appendInteger(seconds, to: &bytes)
      appendInteger(-3, to: &bytes)
      appendInteger(milliseconds, to: &bytes)
    }
  }
}
