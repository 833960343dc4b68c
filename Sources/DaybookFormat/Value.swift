/// A field's value: everything CBOR can say, in one form for each value.
///
/// Two values that are equal have equal canonical bytes (RFC 8949, section 4.2.1), whatever form
/// they arrived in: integers are reduced to their shortest form, floating point numbers keep their
/// value but not their width, maps are ordered by the bytes of their encoded keys.
///
/// Integers cover -2^64 ..< 2^64. Use ``int(_:)`` to make one from a Swift integer and
/// ``integer`` to read one back. `negative(n)` stands for -1 - n, as in CBOR.
///
/// Source: RFC 8949; `Docs/Format.md`, section "Values".
public enum Value: Sendable, Hashable {
  case null
  case bool(Bool)
  case unsigned(UInt64)
  case negative(UInt64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  case array([Value])
  case map(ValueMap)
  /// An exact decimal, `mantissa * 10^exponent` (tag 4).
  indirect case decimal(ExactDecimal)
  /// An instant (tag 1), to the millisecond.
  case time(Timestamp)
  /// Any other tag, kept as it came.
  indirect case tagged(UInt64, Value)
  case undefined
  /// A simple value without a meaning of its own: 0...19 and 32...255.
  case simple(UInt8)

  /// The integer `value`, in the one form that CBOR has for it.
  public static func int(_ value: Int64) -> Value {
    value < 0 ? .negative(UInt64(bitPattern: ~value)) : .unsigned(UInt64(value))
  }

  /// The integer this value is, if it is one and fits in 64 bits with a sign.
  public var integer: Int64? {
    switch self {
    case .unsigned(let value): return Int64(exactly: value)
    case .negative(let value): return Int64(exactly: value).map { ~$0 }
    default: return nil
    }
  }

  /// The text this value is, if it is one.
  public var text: String? {
    if case .text(let value) = self { return value }
    return nil
  }

  /// The bytes this value is, if it is a byte string.
  public var bytes: [UInt8]? {
    if case .bytes(let value) = self { return value }
    return nil
  }

  /// The elements this value has, if it is an array.
  public var array: [Value]? {
    if case .array(let value) = self { return value }
    return nil
  }

  /// The map this value is, if it is one.
  public var map: ValueMap? {
    if case .map(let value) = self { return value }
    return nil
  }
}

/// A whole number of milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since the beginning of 1970, negative before it.
  public var milliseconds: Int64

  /// The instant `milliseconds` after the beginning of 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Earlier comes first.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

/// An exact decimal number, `mantissa * 10^exponent`, with no trailing zeros in the mantissa.
///
/// Source: RFC 8949, section 3.4.4 (tag 4).
public struct ExactDecimal: Sendable, Hashable {
  /// The power of ten; 0 if the mantissa is 0.
  public let exponent: Int64
  /// The digits with their sign, not divisible by ten unless 0.
  public let mantissa: Int64

  /// The number `mantissa * 10^exponent`, brought into its one form.
  public init(mantissa: Int64, exponent: Int64) {
    var mantissa = mantissa
    var exponent = exponent
    if mantissa == 0 {
      exponent = 0
    } else {
      while mantissa % 10 == 0, exponent < Int64.max {
        mantissa /= 10
        exponent += 1
      }
    }
    self.mantissa = mantissa
    self.exponent = exponent
  }
}
