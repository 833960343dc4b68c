#if canImport(FoundationEssentials)
  // Rounding in debug builds calls the C library's, which this links.
  import FoundationEssentials
#else
  import Foundation
#endif

/// The three high bits of an item's first byte.
enum CBORMajorType: UInt8 {
  case unsigned = 0
  case negative = 1
  case bytes = 2
  case text = 3
  case array = 4
  case map = 5
  case tag = 6
  case simple = 7
}

/// The tags that have a meaning here.
enum CBORTag {
  static let time: UInt64 = 1
  static let positiveBignum: UInt64 = 2
  static let negativeBignum: UInt64 = 3
  static let decimal: UInt64 = 4
  /// RFC 9581.
  static let extendedTime: UInt64 = 1001
}

/// A floating point number in the narrowest width that keeps its value.
enum CBORFloat: Hashable {
  case half(UInt16)
  case single(UInt32)
  case double(UInt64)

  /// The narrowest form of `value`; every NaN is the half 0x7E00.
  init(_ value: Double) {
    if value.isNaN {
      self = .half(0x7E00)
      return
    }
    let single = Float(value)
    guard Double(single) == value else {
      self = .double(value.bitPattern)
      return
    }
    if let half = CBORFloat.half(of: single.bitPattern) {
      self = .half(half)
    } else {
      self = .single(single.bitPattern)
    }
  }

  /// The half that is exactly the single of these bits, if there is one. By bits, because not every
  /// platform has `Float16`.
  private static func half(of bits: UInt32) -> UInt16? {
    let sign = UInt16(bits >> 16) & 0x8000
    let exponent = Int(bits >> 23 & 0xFF) - 127
    let mantissa = bits & 0x7F_FFFF
    if bits & 0x7FFF_FFFF == 0 { return sign }
    if exponent == 128 { return mantissa == 0 ? sign | 0x7C00 : nil }
    if (-14...15).contains(exponent) {
      guard mantissa & 0x1FFF == 0 else { return nil }
      return sign | UInt16(exponent + 15) << 10 | UInt16(mantissa >> 13)
    }
    guard (-24...(-15)).contains(exponent) else { return nil }
    let whole = mantissa | 0x80_0000
    let shift = UInt32(-1 - exponent)
    guard whole & ((1 << shift) - 1) == 0 else { return nil }
    return sign | UInt16(whole >> shift)
  }

  /// The number that the half of these bits is.
  static func number(half bits: UInt16) -> Double {
    let exponent = Int(bits >> 10 & 0x1F)
    let mantissa = Double(bits & 0x3FF)
    let magnitude: Double
    switch exponent {
    case 0: magnitude = mantissa * 0x1p-24
    case 31: magnitude = mantissa == 0 ? .infinity : .nan
    default:
      magnitude = Double(sign: .plus, exponent: exponent - 15, significand: 1 + mantissa / 1024)
    }
    return bits & 0x8000 == 0 ? magnitude : -magnitude
  }
}

/// The one form an instant has in CBOR.
///
/// Whole seconds are an integer (tag 1). Else the seconds are a floating point number (tag 1),
/// which is exact to the millisecond up to 2^51 ms, some 71,000 years around 1970. Beyond that the
/// tag 1001 carries seconds and milliseconds apart, so that every ``Timestamp`` comes back as it
/// was.
enum CBORTime {
  case seconds(Int64)
  case fraction(Double)
  case extended(seconds: Int64, milliseconds: Int64)

  /// Instants closer to 1970 than this are told apart by a double of seconds.
  static let exactMilliseconds: Int64 = 1 << 51

  /// The form of `time`.
  init(_ time: Timestamp) {
    let (seconds, rest) = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 {
      self = .seconds(seconds)
    } else if time.milliseconds.magnitude < CBORTime.exactMilliseconds.magnitude {
      self = .fraction(Double(time.milliseconds) / 1000)
    } else {
      self =
        rest < 0
        ? .extended(seconds: seconds - 1, milliseconds: rest + 1000)
        : .extended(seconds: seconds, milliseconds: rest)
    }
  }

  /// The instant `seconds` and `milliseconds` after the beginning of 1970, if there is one.
  static func timestamp(seconds: Int64, milliseconds: Int64 = 0) -> Timestamp? {
    // The sum may fit although the product of a negative number of seconds does not.
    let whole = seconds < 0 && milliseconds > 0 ? seconds + 1 : seconds
    let rest = seconds < 0 && milliseconds > 0 ? milliseconds - 1000 : milliseconds
    let (product, overflow) = whole.multipliedReportingOverflow(by: 1000)
    let (sum, carry) = product.addingReportingOverflow(rest)
    return overflow || carry ? nil : Timestamp(milliseconds: sum)
  }

  /// The instant nearest to a number of seconds, if it is in reach.
  static func timestamp(seconds: Double) -> Timestamp? {
    if let whole = Int64(exactly: seconds) { return timestamp(seconds: whole) }
    let milliseconds = (seconds * 1000).rounded()
    guard milliseconds.magnitude < Double(exactMilliseconds) else { return nil }
    return Timestamp(milliseconds: Int64(milliseconds))
  }
}
