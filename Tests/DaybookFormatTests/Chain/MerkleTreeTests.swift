import DaybookFormat
import Testing

@Suite struct MerkleTreeTests {
  /// The definition of RFC 6962, section 2.1, word by word.
  static func root(_ leaves: [SHA256Digest]) -> [UInt8] {
    if leaves.isEmpty { return SHA256Digest.hash([UInt8]()) }
    if leaves.count == 1 { return leaves[0].bytes }
    var left = 1
    while left * 2 < leaves.count { left *= 2 }
    return SHA256Digest.hash(
      [1] + root(Array(leaves[..<left])) + root(Array(leaves[left...])))
  }

  static func leaves(_ count: Int) -> [SHA256Digest] {
    var hasher = ChainHasher()
    return (0..<count).map {
      hasher.leaf(number: UInt64($0) + 1, kind: 1, bytes: Array("entry \($0)".utf8))
    }
  }

  @Test func `the hash of an entry begins with zero, its number and its kind`() {
    var hasher = ChainHasher()
    let leaf = hasher.leaf(number: 0x0102, kind: 7, bytes: [9, 8])
    #expect(leaf.bytes == SHA256Digest.hash([0, 2, 1, 0, 0, 0, 0, 0, 0, 7, 9, 8]))
    #expect(hasher.leaf(number: 0x0102, kind: 7, bytes: [0, 9, 8][1...]) == leaf)
  }

  @Test func `the roots are those that the RFC defines, as the tree grows`() {
    var hasher = ChainHasher()
    var tree = MerkleTree()
    let leaves = MerkleTreeTests.leaves(70)
    for count in 0...70 {
      #expect(tree.leafCount == UInt64(count))
      #expect(tree.root(hasher: &hasher).bytes == MerkleTreeTests.root(Array(leaves[..<count])))
      #expect(
        MerkleTree.root(of: leaves, count: count, hasher: &hasher) == tree.root(hasher: &hasher))
      if count < 70 { tree.append(leaves[count], hasher: &hasher) }
    }
  }

  @Test func `a subtree takes only a place where one of its size can be`() {
    var hasher = ChainHasher()
    let leaves = MerkleTreeTests.leaves(6)
    var tree = MerkleTree(leaves.prefix(2), hasher: &hasher)
    let pair = hasher.node(leaves[2], leaves[3])
    #expect(!tree.append(subtree: pair, level: 2, hasher: &hasher))
    #expect(!tree.append(subtree: pair, level: 53, hasher: &hasher))
    #expect(!tree.append(subtree: pair, level: -1, hasher: &hasher))
    #expect(tree.append(subtree: pair, level: 1, hasher: &hasher))
    #expect(tree.root(hasher: &hasher).bytes == MerkleTreeTests.root(Array(leaves[..<4])))
  }

  @Test func `a chain value is the hash of its fields in a row`() {
    let link = ChainLink(
      logID: Identifier(high: 1, low: 2), stream: "feed", ordinal: 3, firstNumber: 4,
      lastNumber: 5, before: ChainValue(digest: MerkleTreeTests.leaves(1)[0]))
    var bytes: [UInt8] = [2]
    bytes += [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    bytes += Array("feed".utf8) + [UInt8](repeating: 0, count: 12)
    for number: UInt8 in [3, 4, 5] { bytes += [number, 0, 0, 0, 0, 0, 0, 0] }
    bytes += SHA256Digest.hash([UInt8]()) + link.before.digest.bytes
    #expect(link.value.digest.bytes == SHA256Digest.hash(bytes))
  }
}
