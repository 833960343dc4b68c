/// The payload of a proof frame: what a compaction output knows of one original segment whose
/// entries it kept in part. With the hashes of the kept ones it gives the segment's Merkle root,
/// and with the value before it the segment's chain value.
///
/// Source: `Docs/Format.md`, section "Chain".
package struct SegmentProof: Sendable, Hashable {
  /// The segment's place in its stream, as it was first written.
  package var ordinal: UInt64
  /// The number of its first entry.
  package var firstNumber: UInt64
  /// The number of its last entry; ``firstNumber`` - 1 if it had none.
  package var lastNumber: UInt64
  /// The chain value before the segment; only in the first proof of an output.
  package var before: ChainValue?
  /// The Merkle root of its entries.
  package var root: SHA256Digest
  /// What was dropped, by the first leaf.
  package var dropped: [PartialTree.Subtree]

  /// The proof of these parts.
  package init(
    ordinal: UInt64, firstNumber: UInt64, lastNumber: UInt64, before: ChainValue? = nil,
    root: SHA256Digest, dropped: [PartialTree.Subtree]
  ) {
    self.ordinal = ordinal
    self.firstNumber = firstNumber
    self.lastNumber = lastNumber
    self.before = before
    self.root = root
    self.dropped = dropped
  }

  /// Whether `leaves`, the hashes of the kept entries in the order of their numbers, make the root
  /// with what was dropped.
  package func isMade(
    of leaves: some Sequence<SHA256Digest>, hasher: inout ChainHasher
  ) -> Bool {
    let kept = leaves.lazy.map { (hash: $0, isKept: true) }
    let tree = PartialTree(dropped: dropped, leaves: kept, hasher: &hasher)
    return tree?.root(hasher: &hasher) == root
  }

  /// The segment's link, behind the chain value `before`.
  package func link(logID: Identifier, stream: String, before: ChainValue) -> ChainLink {
    ChainLink(
      logID: logID, stream: stream, ordinal: ordinal, firstNumber: firstNumber,
      lastNumber: lastNumber, root: root, before: before)
  }

  /// Canonical CBOR map: "ordinal", "first", "last", "root", "dropped" (arrays of level, index and
  /// hash), and in the first proof "before".
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "ordinal": .unsigned(ordinal), "first": .unsigned(firstNumber),
      "last": .unsigned(lastNumber), "root": .bytes(root.bytes),
      "dropped": .array(
        dropped.map { subtree in
          .array([
            .unsigned(UInt64(subtree.level)), .unsigned(subtree.index),
            .bytes(subtree.hash.bytes),
          ])
        }),
    ]
    if let before { map["before"] = .bytes(before.digest.bytes) }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    var dropped: [PartialTree.Subtree] = []
    for element in try map.array("dropped") {
      guard let parts = element.array, parts.count == 3, case .unsigned(let level) = parts[0],
        level < 53, case .unsigned(let index) = parts[1], index <= LogLayout.numberLimit,
        let hash = parts[2].bytes.flatMap({ SHA256Digest(bytes: $0) })
      else { throw .member(name: "dropped") }
      dropped.append(PartialTree.Subtree(level: Int(level), index: index, hash: hash))
    }
    self.init(
      ordinal: try map.number("ordinal", from: 1), firstNumber: try map.number("first", from: 1),
      lastNumber: try map.number("last", from: 0),
      before: try map.optionalDigest("before").map { ChainValue(digest: $0) },
      root: try map.digest("root"), dropped: dropped)
    guard lastNumber >= firstNumber - 1 else { throw .member(name: "last") }
  }
}

extension EntryMap {
  /// The number `name` of an entry or a segment, at least `lowest`.
  package func number(_ name: String, from lowest: UInt64) throws(EntryError) -> UInt64 {
    let number = try unsigned(name)
    guard (lowest...LogLayout.numberLimit).contains(number) else { throw .member(name: name) }
    return number
  }

  /// The 32 bytes `name`.
  package func digest(_ name: String) throws(EntryError) -> SHA256Digest {
    guard let digest = try optionalDigest(name) else { throw .member(name: name) }
    return digest
  }

  /// The 32 bytes `name`, `nil` if they are absent.
  package func optionalDigest(_ name: String) throws(EntryError) -> SHA256Digest? {
    guard let member = value[name] else { return nil }
    guard let digest = member.bytes.flatMap({ SHA256Digest(bytes: $0) }) else {
      throw .member(name: name)
    }
    return digest
  }
}
