/// Turns an app's `Encodable` values into a ``Value``.
///
/// | Swift | value |
/// | --- | --- |
/// | integers of every width | integer, exact |
/// | `Double`, `Float` | double |
/// | structs, dictionaries with text or integer keys | map with text keys |
/// | arrays, sets, other dictionaries | array |
/// | `[UInt8]`, `Data` | bytes |
/// | `Date` | time, rounded to the nearest millisecond |
/// | `Decimal` | decimal; it must fit in 64 bits of digits |
/// | ``Value``, ``ExactDecimal``, ``Timestamp`` | what they are |
/// | ``Identifier``, `UUID`, `URL` | text, as their own `Codable` says |
/// | an optional that is `nil` | absent from a struct, null in an array |
///
/// A key that is encoded twice keeps its last value. Throws `EncodingError` for what a value can't
/// hold: a date that is not finite, a decimal that is too long, more than 64 levels.
public struct RecordEncoder: Sendable {
  /// An encoder; it has no settings.
  public init() {}

  /// The value of `value`. A type that encodes nothing becomes an empty map.
  public func encode<T: Encodable>(_ value: T) throws -> Value {
    try EncodingNode.box(value, in: nil)
  }

  /// The fields of `value`, a row of a record. Throws `EncodingError.invalidValue` for a type that
  /// does not encode itself as named fields, such as a number or an array.
  public func encodeFields<T: Encodable>(_ value: T) throws -> ValueMap {
    guard case .map(let fields) = try encode(value) else {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: [], debugDescription: "\(T.self) does not encode itself as named fields"))
    }
    return fields
  }
}
