import DaybookFormat
import DaybookLog
import DaybookTestKit

extension Forger {
  /// How what a compaction would have made of some segments is to be wrong.
  enum Lie {
    case none
    /// One kept entry is another one.
    case entry
    /// One kept entry is another one, and the proof is made of it.
    case proof
    /// The chain value before is another one.
    case before
  }

  /// Puts what a compaction makes of the segments at `places` in their stead, keeping the entries
  /// whose numbers `isKept` says.
  func compact(_ places: ClosedRange<Int>, _ lie: Lie = .none, keeping isKept: (UInt64) -> Bool) {
    var hasher = ChainHasher()
    let first = segments[places.lowerBound].header
    let last = segments[places.upperBound].header
    var before = first.predecessor?.chain ?? .zero
    if lie == .before { before = ChainValue(digest: ChainHasher.emptyRoot) }
    var kept: [(kind: UInt8, entry: KeptEntry)] = []
    var proofs: [SegmentProof] = []
    var value = before
    for place in places {
      let segment = segments[place]
      var tree = PartialTree()
      var number = segment.header.firstNumber
      for original in segment.batches.joined() {
        var entry = original
        let isChosen = isKept(number)
        let leaf = hasher.leaf(number: number, kind: entry.kind, bytes: entry.bytes)
        if isChosen, lie == .entry || lie == .proof, kept.isEmpty {
          entry = NewEntry(kind: entry.kind, bytes: Array("forged".utf8))
        }
        let forged = hasher.leaf(number: number, kind: entry.kind, bytes: entry.bytes)
        tree.append(lie == .proof ? forged : leaf, isKept: isChosen, hasher: &hasher)
        if isChosen {
          let bytes = entry.bytes[...]
          kept.append(
            (entry.kind, KeptEntry(number: number, otherNext: 0, clock: 1, bytes: bytes)))
        }
        number += 1
      }
      let proof = SegmentProof(
        ordinal: segment.header.ordinal, firstNumber: segment.header.firstNumber,
        lastNumber: number - 1, before: place == places.lowerBound ? before : nil,
        root: tree.root(hasher: &hasher), dropped: tree.dropped)
      proofs.append(proof)
      value = proof.link(logID: first.logID, stream: stream, before: value).value
      disk.drop("\(directory)/\(LogDirectory.file(of: stream, ordinal: segment.header.ordinal))")
    }
    var header = first
    header.lastOrdinal = last.ordinal
    header.generation = 1
    header.salt = Identifier(high: 5, low: 6)
    let name = StreamFile(
      stream: stream, first: header.ordinal, last: header.lastOrdinal, generation: 1
    ).file
    disk.put(output(header, kept, proofs, value), at: "\(directory)/\(name)")
  }

  private func output(
    _ header: SegmentHeader, _ kept: [(kind: UInt8, entry: KeptEntry)], _ proofs: [SegmentProof],
    _ chain: ChainValue
  ) -> [UInt8] {
    var bytes = header.pages
    var frameNumber: UInt64 = 0
    func pad(to unit: Int) {
      let end = LogLayout.align(bytes.count, to: unit)
      bytes += [UInt8](repeating: 0, count: end - bytes.count)
    }
    func append(_ kind: FrameHeader.Kind, _ payload: [UInt8], first: UInt64, count: Int = 0) {
      pad(to: LogLayout.frameAlignment)
      let frame = FrameHeader(
        kind: kind, storedByteCount: UInt32(payload.count), rawByteCount: UInt32(payload.count),
        entryCount: UInt32(count), frameNumber: frameNumber, firstNumber: first,
        durableNumber: 0, otherNext: 0, clock: 1, storedChecksum: CRC32C.checksum(payload),
        rawChecksum: CRC32C.checksum(payload))
      bytes += frame.bytes(at: bytes.count, salt: header.salt) + payload
    }
    var payload: [UInt8] = []
    for (kind, entry) in kept {
      FramePayload.append(kind: kind, bytes: entry.stored, to: &payload)
    }
    if let first = kept.first {
      append(.kept, payload, first: first.entry.number, count: kept.count)
      if header.isEchoed {
        pad(to: LogLayout.pageByteCount)
        append(.keptEcho, payload, first: first.entry.number, count: kept.count)
        pad(to: LogLayout.pageByteCount)
      }
      frameNumber += 1
    }
    for proof in proofs {
      append(.proof, proof.bytes, first: proof.firstNumber)
      frameNumber += 1
    }
    pad(to: LogLayout.frameAlignment)
    let last = proofs.last?.lastNumber ?? 0
    let seal = Seal(
      count: UInt64(kept.count), firstNumber: header.firstNumber, lastNumber: last,
      digest: SHA256Digest(bytes: SHA256Digest.hash(bytes)) ?? .zero, root: ChainHasher.emptyRoot,
      chain: chain, index: [], lowClock: 1, highClock: 1)
    append(.seal, seal.bytes, first: last + 1)
    frameNumber += 1
    append(.closingMark, [], first: last + 1)
    frameNumber += 1
    pad(to: LogLayout.pageByteCount)
    append(.closingMark, [], first: last + 1)
    return bytes
  }
}
