/// 32 bytes that stand for all entries of a stream up to a number, and for where they begin.
package struct ChainValue: Sendable, Hashable {
  /// The value before the first segment; also that of a header whose writer knew no chains.
  package static let zero = ChainValue(digest: .zero)

  /// The bytes.
  package let digest: SHA256Digest

  /// The value of these bytes.
  package init(digest: SHA256Digest) { self.digest = digest }

  /// Whether it is ``zero``.
  package var isZero: Bool { self == .zero }
}

/// What one segment adds to the chain of its stream.
///
///     size  field
///     1     2
///     16    log id
///     16    stream name, ASCII, zero-padded
///     8     ordinal
///     8     number of the first entry
///     8     number of the last entry; first - 1 if there is none
///     32    Merkle root of the entries' hashes
///     32    the chain value of the segment before, zero before the first
///
/// SHA-256 of these bytes is the segment's chain value. With a lower last number and the root up to
/// it, it is the value *at* that number, which an ``Anchor`` names. Source: `Docs/Format.md`,
/// section "Chain".
package struct ChainLink: Sendable, Hashable {
  /// The log.
  package var logID: Identifier
  /// The stream's name.
  package var stream: String
  /// The segment's place in its stream, as it was first written.
  package var ordinal: UInt64
  /// The number of the first entry.
  package var firstNumber: UInt64
  /// The number of the last entry that counts; ``firstNumber`` - 1 if there is none.
  package var lastNumber: UInt64
  /// The root of the tree over the hashes of the entries that count, in the order of their numbers.
  package var root: SHA256Digest
  /// The chain value of the segment before.
  package var before: ChainValue

  /// The link of these parts.
  package init(
    logID: Identifier, stream: String, ordinal: UInt64, firstNumber: UInt64, lastNumber: UInt64,
    root: SHA256Digest = ChainHasher.emptyRoot, before: ChainValue
  ) {
    self.logID = logID
    self.stream = stream
    self.ordinal = ordinal
    self.firstNumber = firstNumber
    self.lastNumber = lastNumber
    self.root = root
    self.before = before
  }

  /// The chain value behind the segment; with a hasher that is kept, use
  /// ``ChainHasher/value(of:)``.
  package var value: ChainValue {
    var hasher = ChainHasher()
    return hasher.value(of: self)
  }
}
