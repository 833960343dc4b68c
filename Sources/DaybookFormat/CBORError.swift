/// Why bytes are not a value; every offset counts from the first byte given.
package enum CBORError: Error, Hashable, Sendable {
  /// The bytes end inside the item that begins at `offset`.
  case truncated(offset: Int)
  /// The item at `offset` claims more bytes or elements than there are bytes left.
  case lengthBeyondEnd(offset: Int, claimed: UInt64, remaining: Int)
  /// The first byte of the item at `offset` means nothing (RFC 8949, section 3).
  case malformed(offset: Int, byte: UInt8)
  /// The text at `offset` is not UTF-8.
  case notText(offset: Int)
  /// The map at `offset` (canonical: its key at `offset`) has a key twice.
  case duplicateKey(offset: Int)
  /// The item at `offset` is nested deeper than `limit`.
  case tooDeep(offset: Int, limit: Int)
  /// There are more bytes than the limit allows.
  case tooLarge(byteCount: Int, limit: Int)
  /// The item at `offset` is well-formed but not in core deterministic encoding.
  case notCanonical(offset: Int, rule: Rule)
  /// The value ends at `offset`, the bytes do not.
  case trailing(offset: Int)

  /// What core deterministic encoding asks for, and was not kept.
  package enum Rule: Hashable, Sendable {
    /// Lengths, numbers and tags in their shortest form.
    case shortestArgument
    /// Floating point numbers in the narrowest width; one NaN.
    case narrowestFloat
    /// No indefinite lengths.
    case definiteLength
    /// Keys in the order of their bytes.
    case keyOrder
    /// Times in the form that the encoder writes.
    case time
    /// Decimals without trailing zeros.
    case decimal
    /// Big numbers only beyond 64 bits, and without leading zeros.
    case bignum
  }
}

/// Which encodings a decoder takes.
package enum CBORMode: Sendable {
  /// Core deterministic encoding alone: the bytes that the encoder would write.
  case canonical
  /// All well-formed CBOR without duplicate keys, from whatever writer.
  case lenient
}

/// What a decoder takes at most.
package struct CBORLimits: Sendable, Hashable {
  /// Arrays, maps and tags around one item. Bounds the stack: a level takes a few hundred bytes of
  /// it.
  package var depth: Int
  /// Bytes of one value. Bounds the memory: a byte can become at most some 64 bytes of values.
  package var byteCount: Int

  /// Limits with the defaults of this house: 64 levels, 64 MiB.
  package init(depth: Int = 64, byteCount: Int = 64 << 20) {
    self.depth = depth
    self.byteCount = byteCount
  }
}
