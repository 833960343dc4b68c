import DaybookFormat
import Testing

@Suite struct SealTests {
  private let digests = MerkleTreeTests.leaves(4)

  private func seal(isSnapshot: Bool) -> Seal {
    Seal(
      count: 3, firstNumber: 4, lastNumber: 6, digest: digests[0], root: digests[1],
      chain: ChainValue(digest: digests[2]),
      index: [Seal.Place(number: 4, offset: 8_192), Seal.Place(number: 6, offset: 80_000)],
      lowClock: 5, highClock: .max,
      extent: isSnapshot
        ? Seal.Extent(
          feedNumber: 9, outboxNumber: 0, feedChain: ChainValue(digest: digests[3]),
          outboxChain: .zero) : nil)
  }

  @Test(arguments: [false, true]) func `a seal comes back from its bytes`(isSnapshot: Bool) throws {
    let seal = seal(isSnapshot: isSnapshot)
    #expect(try Seal(bytes: seal.bytes[...]) == seal)
  }

  @Test func `a proof comes back from its bytes`() throws {
    for before in [nil, ChainValue(digest: digests[3])] {
      let proof = SegmentProof(
        ordinal: 2, firstNumber: 4, lastNumber: 3, before: before, root: digests[0],
        dropped: [PartialTree.Subtree(level: 3, index: 1, hash: digests[1])])
      #expect(try SegmentProof(bytes: proof.bytes[...]) == proof)
    }
  }

  @Test func `bytes that are cut or changed are refused, never a trap`() throws {
    let proof = SegmentProof(
      ordinal: 2, firstNumber: 4, lastNumber: 9, before: .zero, root: digests[0],
      dropped: [PartialTree.Subtree(level: 3, index: 1, hash: digests[1])])
    for bytes in [seal(isSnapshot: true).bytes, proof.bytes] {
      for count in bytes.indices {
        #expect(throws: EntryError.self) { try Seal(bytes: bytes[..<count]) }
        #expect(throws: EntryError.self) { try SegmentProof(bytes: bytes[..<count]) }
        var changed = bytes
        changed[count] ^= 0x41
        _ = try? Seal(bytes: changed[...])
        _ = try? SegmentProof(bytes: changed[...])
      }
    }
  }

  @Test func `the header says what the file is, stands for and is chained to`() throws {
    var header = SegmentHeader(
      logID: Identifier(high: 1, low: 2), incarnation: .zero, salt: .zero, stream: "outbox",
      ordinal: 4, isEchoed: true, firstNumber: 9, clock: 1,
      predecessor: SegmentHeader.Predecessor(
        ordinal: 3, validEnd: 9_000, lastNumber: 8, tail: nil,
        chain: ChainValue(digest: digests[0])), account: "rep-7")
    header.kind = .snapshot
    header.beginsAfterDamage = true
    header.generation = 2
    header.lastOrdinal = 7
    #expect(header.pages[184..<216].elementsEqual(digests[0].bytes))
    #expect(try SegmentHeader(copy: header.pages[...]) == header)
    header.generation = 0
    #expect(throws: SegmentHeader.Problem.damaged) { try SegmentHeader(copy: header.pages[...]) }
  }

  @Test func `a digest comes back from its bytes and its digits`() {
    let digest = digests[0]
    #expect(SHA256Digest(bytes: digest.bytes) == digest)
    #expect(SHA256Digest(hexadecimal: digest.hexadecimal) == digest)
    #expect(SHA256Digest(bytes: digest.bytes.dropLast()) == nil)
    #expect(SHA256Digest(hexadecimal: String(digest.hexadecimal.dropLast())) == nil)
    #expect(SHA256Digest.zero.bytes == [UInt8](repeating: 0, count: 32))
  }
}
