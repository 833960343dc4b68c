/// The tree over the entries of a segment of which only some are kept: runs of entries that were
/// dropped fold into the hashes of the largest whole subtrees that hold nothing else. With the
/// entries that are kept, these give the same root as before.
///
/// Leaves are appended in the order of their numbers. Which leaf a kept entry is need not be
/// stored: the kept ones fill, in order, the places that no dropped subtree covers.
package struct PartialTree: Sendable {
  /// A whole subtree of 2^level leaves of which none is kept, the index-th of that size.
  package struct Subtree: Sendable, Hashable {
    /// The power of two.
    package let level: Int
    /// How many subtrees of that size stand before it.
    package let index: UInt64
    /// The hash of its node; of its only leaf for level 0.
    package let hash: SHA256Digest

    /// The subtree of these parts.
    package init(level: Int, index: UInt64, hash: SHA256Digest) {
      self.level = level
      self.index = index
      self.hash = hash
    }

    /// The first of its leaves.
    package var firstLeaf: UInt64 { index << UInt64(level) }
  }

  private struct Part {
    var subtree: Subtree
    var isDropped: Bool
  }

  /// Whole subtrees from the left, each smaller than the one before.
  private var parts: [Part] = []
  /// Dropped subtrees beside which something is kept: they grow no more.
  private var settled: [Subtree] = []
  /// The leaves appended so far.
  package private(set) var leafCount: UInt64 = 0

  /// The tree of no leaves.
  package init() {}

  /// The tree that the subtrees `dropped`, by their first leaf, and `leaves` make, the entries that
  /// are there in the order of their numbers; a leaf that is not kept is dropped from now on. `nil`
  /// if the subtrees overlap, stand where none can, or leave places that no leaf fills.
  package init?(
    dropped: [Subtree], leaves: some Sequence<(hash: SHA256Digest, isKept: Bool)>,
    hasher: inout ChainHasher
  ) {
    var rest = dropped[...]
    for leaf in leaves {
      while let subtree = rest.first, subtree.firstLeaf == leafCount {
        guard append(dropped: subtree, hasher: &hasher) else { return nil }
        rest.removeFirst()
      }
      append(leaf.hash, isKept: leaf.isKept, hasher: &hasher)
    }
    for subtree in rest {
      guard append(dropped: subtree, hasher: &hasher) else { return nil }
    }
  }

  /// Appends one leaf.
  package mutating func append(_ leaf: SHA256Digest, isKept: Bool, hasher: inout ChainHasher) {
    let subtree = Subtree(level: 0, index: leafCount, hash: leaf)
    append(Part(subtree: subtree, isDropped: !isKept), hasher: &hasher)
  }

  /// Appends a subtree that was dropped before; `false`, and nothing is done, if it does not begin
  /// here.
  package mutating func append(dropped subtree: Subtree, hasher: inout ChainHasher) -> Bool {
    guard (0..<53).contains(subtree.level), subtree.index < 1 << UInt64(53 - subtree.level),
      subtree.firstLeaf == leafCount
    else { return false }
    append(Part(subtree: subtree, isDropped: true), hasher: &hasher)
    return true
  }

  private mutating func append(_ part: Part, hasher: inout ChainHasher) {
    var new = part
    leafCount += 1 << UInt64(part.subtree.level)
    while let last = parts.last, last.subtree.level == new.subtree.level {
      parts.removeLast()
      if last.isDropped != new.isDropped {
        settled.append(last.isDropped ? last.subtree : new.subtree)
      }
      let node = Subtree(
        level: last.subtree.level + 1, index: last.subtree.index / 2,
        hash: hasher.node(last.subtree.hash, new.subtree.hash))
      new = Part(subtree: node, isDropped: last.isDropped && new.isDropped)
    }
    parts.append(new)
  }

  /// The dropped subtrees, by their first leaf: with the leaves that are kept they make the root.
  package var dropped: [Subtree] {
    let open = parts.filter(\.isDropped).map(\.subtree)
    return (settled + open).sorted { $0.firstLeaf < $1.firstLeaf }
  }

  /// The root over all leaves so far, kept and dropped; SHA-256 of nothing if there are none.
  package func root(hasher: inout ChainHasher) -> SHA256Digest {
    guard var root = parts.last?.subtree.hash else { return ChainHasher.emptyRoot }
    for left in parts.dropLast().reversed() { root = hasher.node(left.subtree.hash, root) }
    return root
  }
}
