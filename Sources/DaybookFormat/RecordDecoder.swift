/// Turns a ``Value`` into an app's `Decodable` type: what ``RecordEncoder`` wrote, and what other
/// writers send of the same meaning.
///
/// A whole number is taken for a floating point field if it is exact, an array of small numbers for
/// bytes, and an integer for a decimal. Nothing else is guessed. Throws `DecodingError` with the
/// path of the field: `keyNotFound`, `valueNotFound` for a null, `typeMismatch`, and
/// `dataCorrupted` for a number that does not fit.
public struct RecordDecoder: Sendable {
  /// A decoder; it has no settings.
  public init() {}

  /// The `T` that `value` describes.
  public func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
    try DecodingPlace(nil).decode(type, value)
  }

  /// The `T` whose fields these are.
  public func decode<T: Decodable>(_ type: T.Type, fromFields fields: ValueMap) throws -> T {
    try decode(type, from: .map(fields))
  }
}
