/// Why bytes are not a JSON text; every offset counts from the first byte given.
package enum JSONError: Error, Hashable, Sendable {
  /// The text ends inside what began at or before `offset`.
  case truncated(offset: Int)
  /// No value, name or mark can begin with the byte at `offset`.
  case unexpected(offset: Int, byte: UInt8)
  /// The string at `offset` is not UTF-8.
  case notText(offset: Int)
  /// The escape at `offset` is none, or half of a surrogate pair.
  case badEscape(offset: Int)
  /// The number at `offset` is not written as JSON asks.
  case badNumber(offset: Int)
  /// The number at `offset` is beyond the largest double.
  case numberOutOfRange(offset: Int)
  /// The object at `offset` has a name twice.
  case duplicateName(offset: Int)
  /// The array or object at `offset` is nested deeper than `limit`.
  case tooDeep(offset: Int, limit: Int)
  /// There are more bytes than the limit allows.
  case tooLarge(byteCount: Int, limit: Int)
  /// The value ends before `offset`, the text does not.
  case trailing(offset: Int)
}
