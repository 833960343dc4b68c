#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The types that have a form of their own among the values, whatever their `Codable` says.
enum KnownTypes {
  /// The value of `value`, `nil` if its type is none of them.
  static func value<T: Encodable>(of value: T, _ trail: CodingTrail?) throws -> Value? {
    if T.self == Value.self, let value = value as? Value {
      if let problem = value.storageProblem(depth: trail?.depth ?? 0) {
        throw EncodingNode.error("a value that can't be stored: \(problem)", trail)
      }
      return value
    }
    if T.self == ExactDecimal.self, let value = value as? ExactDecimal { return .decimal(value) }
    if T.self == Timestamp.self, let value = value as? Timestamp { return .time(value) }
    if T.self == [UInt8].self, let value = value as? [UInt8] { return .bytes(value) }
    if T.self == Data.self, let value = value as? Data { return .bytes([UInt8](value)) }
    if T.self == Date.self, let value = value as? Date { return try time(value, trail) }
    if T.self == Decimal.self, let value = value as? Decimal { return try decimal(value, trail) }
    return nil
  }

  private static func time(_ date: Date, _ trail: CodingTrail?) throws -> Value {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    guard let whole = Int64(exactly: milliseconds) else {
      throw EncodingNode.error("a date that is not finite or too far away", trail)
    }
    return .time(Timestamp(milliseconds: whole))
  }

  private static func decimal(_ decimal: Decimal, _ trail: CodingTrail?) throws -> Value {
    guard let exact = ExactDecimal(decimal.description) else {
      throw EncodingNode.error("a decimal that is no number or has too many digits", trail)
    }
    return .decimal(exact)
  }

  /// What `value` is as a `T`, if `T` is one of these types; `nil` if it is another type.
  static func decode<T: Decodable>(
    _ type: T.Type, _ value: Value, _ place: DecodingPlace
  ) throws -> T? {
    if T.self == Value.self { return value as? T }
    if T.self == ExactDecimal.self { return try exactDecimal(value, place) as? T }
    if T.self == Timestamp.self { return try timestamp(value, type, place) as? T }
    if T.self == [UInt8].self { return try bytes(value, place) as? T }
    if T.self == Data.self { return try Data(bytes(value, place)) as? T }
    if T.self == Date.self {
      let milliseconds = try timestamp(value, type, place).milliseconds
      return Date(timeIntervalSince1970: Double(milliseconds) / 1000) as? T
    }
    if T.self == Decimal.self {
      let exact = try exactDecimal(value, place)
      guard let decimal = Decimal(string: exact.description) else {
        throw place.corrupted("a decimal out of Decimal's range")
      }
      return decimal as? T
    }
    return nil
  }

  private static func timestamp(
    _ value: Value, _ type: Any.Type, _ place: DecodingPlace
  ) throws -> Timestamp {
    guard case .time(let time) = value else { throw place.mismatch(type, value) }
    return time
  }

  /// A decimal, or an integer that fits: the writer may have had a type without fractions.
  private static func exactDecimal(
    _ value: Value, _ place: DecodingPlace
  ) throws -> ExactDecimal {
    if case .decimal(let decimal) = value { return decimal }
    guard let integer = value.integer else { throw place.mismatch(ExactDecimal.self, value) }
    return ExactDecimal(mantissa: integer, exponent: 0)
  }

  /// Bytes, or an array of small integers, as other writers spell them.
  private static func bytes(_ value: Value, _ place: DecodingPlace) throws -> [UInt8] {
    switch value {
    case .bytes(let bytes): return bytes
    case .array(let elements):
      return try elements.map { element in
        guard let byte = element.integer.flatMap({ UInt8(exactly: $0) }) else {
          throw place.mismatch([UInt8].self, element)
        }
        return byte
      }
    default: throw place.mismatch([UInt8].self, value)
    }
  }
}
