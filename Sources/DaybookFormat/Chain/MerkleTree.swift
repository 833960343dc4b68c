/// The tree over the hashes of a segment's entries, as it grows: it keeps one hash for each power
/// of two in the number of leaves, so a segment of a million entries takes twenty.
///
/// Its shape is that of RFC 6962, section 2.1: the left side of a node holds the largest power of
/// two that is below the number of its leaves.
package struct MerkleTree: Sendable, Hashable {
  private struct Subtree: Hashable {
    var level: Int
    var hash: SHA256Digest
  }

  /// Whole subtrees from the left, each smaller than the one before.
  private var subtrees: [Subtree] = []
  /// The leaves appended so far.
  package private(set) var leafCount: UInt64 = 0

  /// The tree of no leaves.
  package init() {}

  /// The tree of `leaves`.
  package init(_ leaves: some Sequence<SHA256Digest>, hasher: inout ChainHasher) {
    for leaf in leaves { append(leaf, hasher: &hasher) }
  }

  /// Appends one leaf. O(1) on average.
  package mutating func append(_ leaf: SHA256Digest, hasher: inout ChainHasher) {
    _ = append(subtree: leaf, level: 0, hasher: &hasher)
  }

  /// Appends a whole subtree of 2^`level` leaves by its hash; `false`, and nothing is done, if no
  /// such subtree can begin here.
  package mutating func append(
    subtree hash: SHA256Digest, level: Int, hasher: inout ChainHasher
  ) -> Bool {
    guard (0..<53).contains(level), leafCount & (1 << UInt64(level) - 1) == 0 else { return false }
    var new = Subtree(level: level, hash: hash)
    leafCount += 1 << UInt64(level)
    while let last = subtrees.last, last.level == new.level {
      subtrees.removeLast()
      new = Subtree(level: new.level + 1, hash: hasher.node(last.hash, new.hash))
    }
    subtrees.append(new)
    return true
  }

  /// The root over all leaves so far; SHA-256 of nothing if there are none. The tree can grow on.
  package func root(hasher: inout ChainHasher) -> SHA256Digest {
    guard var root = subtrees.last?.hash else { return ChainHasher.emptyRoot }
    for left in subtrees.dropLast().reversed() { root = hasher.node(left.hash, root) }
    return root
  }

  /// The root over the first `count` of `leaves`; over all if there are not so many.
  package static func root(
    of leaves: some Sequence<SHA256Digest>, count: Int = .max, hasher: inout ChainHasher
  ) -> SHA256Digest {
    MerkleTree(leaves.prefix(count), hasher: &hasher).root(hasher: &hasher)
  }
}
