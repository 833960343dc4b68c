/// Why the bytes of an entry or a message could not be read. Offsets count from its first byte.
package enum EntryError: Error, Equatable {
  /// The part of an entry that holds what it may not.
  package enum Field: String, Sendable {
    case action, base, bytes, count, flags, identifier, kind, payload, reserved, strategy, text,
      time
    case verdict
  }

  /// The bytes end `needed` bytes too early.
  case truncated(offset: Int, needed: Int, found: Int)
  /// The field at `offset` holds a value that the format does not allow.
  case invalid(field: Field, offset: Int)
  /// The payload is not canonical CBOR.
  case payload(CBORError)
  /// A message lacks the member `name`, or it has another type.
  case member(name: String)
}
