extension JSONText {
  /// The value that a JSON text in UTF-8 is, all of it.
  ///
  /// Strict (RFC 8259): no comments, no trailing commas, no byte order mark; a name given twice is
  /// refused. A number without point and exponent that fits in 64 bits is an integer, any other a
  /// double. Texts stay texts, whatever they look like: which of them is a time or bytes, a schema
  /// knows. The limits are those of CBOR.
  package static func parse(
    _ bytes: [UInt8], limits: CBORLimits = CBORLimits()
  ) throws(JSONError) -> Value {
    try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
      try parse(UnsafeRawBufferPointer(buffer), limits: limits)
    }
  }

  /// The value that a slice is; offsets in errors count from the start of the slice.
  package static func parse(
    _ bytes: ArraySlice<UInt8>, limits: CBORLimits = CBORLimits()
  ) throws(JSONError) -> Value {
    try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
      try parse(UnsafeRawBufferPointer(buffer), limits: limits)
    }
  }

  /// The value that `text` is.
  package static func parse(
    _ text: String, limits: CBORLimits = CBORLimits()
  ) throws(JSONError) -> Value {
    try parse(Array(text.utf8), limits: limits)
  }

  private static func parse(
    _ buffer: UnsafeRawBufferPointer, limits: CBORLimits
  ) throws(JSONError) -> Value {
    guard buffer.count <= limits.byteCount else {
      throw .tooLarge(byteCount: buffer.count, limit: limits.byteCount)
    }
    var reader = JSONReader(buffer: buffer, depthLimit: limits.depth)
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.offset == buffer.count else { throw .trailing(offset: reader.offset) }
    return value
  }
}
