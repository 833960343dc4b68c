import DaybookFormat

/// Gathers, while a segment is written, what its seal and the chain say of it: the digest of its
/// bytes, and the tree over its entries as written and as synced.
///
/// Takes as much memory as there are powers of two in the number of entries, and one place of the
/// index for 64 KiB.
final class SealBuilder {
  /// The segment's link, its last number and root those of no entries.
  private let start: ChainLink
  private var digest = SHA256Digest.Hasher()
  private var hasher = ChainHasher()
  private var tree = MerkleTree()
  private var nextNumber: UInt64
  private var index: [Seal.Place] = []
  private var clocks: ClosedRange<UInt64>?
  /// What of it is synced.
  private var durable: (tree: MerkleTree, nextNumber: UInt64)

  /// Nothing is written yet of the segment that `header` begins.
  init(_ header: SegmentHeader) {
    start = ChainLink(
      logID: header.logID, stream: header.stream, ordinal: header.ordinal,
      firstNumber: header.firstNumber, lastNumber: header.firstNumber - 1,
      before: header.predecessor?.chain ?? .zero)
    nextNumber = start.firstNumber
    durable = (tree, start.firstNumber)
  }

  /// `bytes` were written behind all those before.
  func wrote(_ bytes: [UInt8]) { digest.update(bytes) }

  /// The entries of `transactions` were written, in frames that begin at `places`.
  func wrote(_ transactions: [[NewEntry]], at places: [Seal.Place], clock: UInt64) {
    for place in places {
      let isFar = index.last.map { place.offset - $0.offset >= UInt64(Seal.indexStride) } ?? true
      if isFar { index.append(place) }
    }
    for entry in transactions.joined() {
      let leaf = hasher.leaf(number: nextNumber, kind: entry.kind, bytes: entry.bytes)
      tree.append(leaf, hasher: &hasher)
      nextNumber += 1
    }
    let (low, high) = (clocks?.lowerBound ?? clock, clocks?.upperBound ?? clock)
    clocks = min(low, clock)...max(high, clock)
  }

  /// A sync has returned for all that was written.
  func synced() { durable = (tree, nextNumber) }

  /// Where the chain stands with what is synced.
  var position: ChainPosition {
    var link = start
    link.lastNumber = durable.nextNumber - 1
    return ChainPosition(link: link, tree: durable.tree)
  }

  /// The link of the segment with what is synced in it.
  var link: ChainLink { position.finished(hasher: &hasher) }

  /// The seal of the segment, all of whose entries are synced. It says of its bytes those that were
  /// written so far, and can be made once.
  func seal() -> Seal {
    let link = self.link
    return Seal(
      count: durable.tree.leafCount, firstNumber: link.firstNumber, lastNumber: link.lastNumber,
      digest: digest.finishDigest(), root: link.root, chain: hasher.value(of: link),
      index: index, lowClock: clocks?.lowerBound ?? 0, highClock: clocks?.upperBound ?? 0)
  }
}

/// Where the chain of a stream stands: a link whose root is still to be made of a tree.
struct ChainPosition: Sendable {
  /// The link; its root counts only without ``tree``.
  var link: ChainLink
  /// The tree over the link's entries.
  var tree: MerkleTree?

  /// The link with its root.
  func finished(hasher: inout ChainHasher) -> ChainLink {
    guard let tree else { return link }
    var link = self.link
    link.root = tree.root(hasher: &hasher)
    return link
  }
}
