import DaybookFormat
import Testing

@Suite struct PartialTreeTests {
  private static func tree(
    _ leaves: [SHA256Digest], keeping kept: (Int) -> Bool
  ) -> PartialTree {
    var hasher = ChainHasher()
    var tree = PartialTree()
    for (place, leaf) in leaves.enumerated() {
      tree.append(leaf, isKept: kept(place), hasher: &hasher)
    }
    return tree
  }

  @Test func `whatever is dropped, the kept leaves give the same root`() {
    var hasher = ChainHasher()
    for count in 0...9 {
      let leaves = MerkleTreeTests.leaves(count)
      for mask in 0..<(1 << count) {
        let tree = PartialTreeTests.tree(leaves) { mask >> $0 & 1 == 1 }
        #expect(tree.root(hasher: &hasher).bytes == MerkleTreeTests.root(leaves))
        let kept = leaves.indices.filter { mask >> $0 & 1 == 1 }.map { leaves[$0] }
        let proof = SegmentProof(
          ordinal: 1, firstNumber: 1, lastNumber: UInt64(count),
          root: tree.root(hasher: &hasher), dropped: tree.dropped)
        #expect(proof.isMade(of: kept, hasher: &hasher), "\(count) leaves, kept \(mask)")
        guard !kept.isEmpty else { continue }
        #expect(!proof.isMade(of: kept.dropLast(), hasher: &hasher))
        #expect(!proof.isMade(of: kept + [kept[0]], hasher: &hasher))
      }
    }
  }

  @Test func `runs that were dropped fold into the largest subtrees`() {
    let leaves = MerkleTreeTests.leaves(20)
    let none = PartialTreeTests.tree(leaves) { _ in false }
    #expect(none.dropped.map(\.level) == [4, 2])
    let one = PartialTreeTests.tree(leaves) { $0 == 5 }
    #expect(one.dropped.map(\.level) == [2, 0, 1, 3, 2])
    #expect(one.dropped.map(\.firstLeaf) == [0, 4, 6, 8, 16])
    #expect(PartialTreeTests.tree(leaves) { _ in true }.dropped.isEmpty)
  }

  @Test func `dropping in two rounds gives what dropping at once does`() throws {
    var random = SplitMix64(seed: 7)
    var hasher = ChainHasher()
    for count in 1...64 {
      let leaves = MerkleTreeTests.leaves(count)
      let rounds = leaves.map { _ in Int(random.next() % 3) }
      let first = PartialTreeTests.tree(leaves) { rounds[$0] > 0 }
      let there = leaves.indices.filter { rounds[$0] > 0 }
      let second = try #require(
        PartialTree(
          dropped: first.dropped, leaves: there.map { (leaves[$0], rounds[$0] > 1) },
          hasher: &hasher))
      let atOnce = PartialTreeTests.tree(leaves) { rounds[$0] > 1 }
      #expect(second.dropped == atOnce.dropped)
      #expect(second.root(hasher: &hasher) == atOnce.root(hasher: &hasher))
    }
  }

  @Test func `subtrees that overlap or leave holes make no tree`() {
    var hasher = ChainHasher()
    let hash = MerkleTreeTests.leaves(1)[0]
    func subtree(_ level: Int, _ index: UInt64) -> PartialTree.Subtree {
      PartialTree.Subtree(level: level, index: index, hash: hash)
    }
    let bad: [[PartialTree.Subtree]] = [
      [subtree(1, 0), subtree(0, 1)], [subtree(0, 0), subtree(0, 0)], [subtree(0, 1)],
      [subtree(1, 1), subtree(1, 0)], [subtree(60, 0)], [subtree(-1, 0)], [subtree(52, 1 << 60)],
    ]
    for dropped in bad {
      #expect(PartialTree(dropped: dropped, leaves: [], hasher: &hasher) == nil)
    }
  }
}
