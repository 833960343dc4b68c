package import DaybookFormat

/// A file that was written at once and sealed: a snapshot or what a compaction made. It is whole or
/// it is not used: the seal's digest covers every byte before it.
package struct SealedScan: Sendable {
  /// The header.
  package let header: SegmentHeader
  /// What the file says of itself.
  package let seal: Seal
  /// What it proves of the segments that it stands for, in order; none in a snapshot.
  package let proofs: [SegmentProof]
  /// The frames with entries, in order, without echoes.
  package let frames: [SegmentScan.Frame]

  /// The content of `scan`, made of `bytes`; `nil` unless all of it is as it was written: both
  /// copies of the header, every frame and echo, the seal with its digest, both closing marks, and
  /// nothing else.
  package init?(_ scan: SegmentScan, bytes: [UInt8]) {
    guard let header = scan.header, scan.newer == nil, scan.badHeaderCopies.isEmpty,
      scan.strayOffsets.isEmpty
    else { return nil }
    var frames: [SegmentScan.Frame] = []
    var proofs: [SegmentProof] = []
    var found: (seal: Seal, offset: Int)?
    var closingCount = 0
    for frame in scan.frames {
      switch frame.header.kind {
      case .batch, .kept: frames.append(frame)
      case .echo, .keptEcho: break
      case .proof:
        guard let proof = try? SegmentProof(bytes: frame.payload[...]) else { return nil }
        proofs.append(proof)
      case .seal:
        guard found == nil, let seal = try? Seal(bytes: frame.payload[...]) else { return nil }
        found = (seal, frame.offset)
      case .closingMark: closingCount += 1
      case .idleMark, nil: return nil
      }
    }
    guard let found, closingCount == 2, scan.frames.last?.header.kind == .closingMark,
      SealedScan.digest(of: bytes, before: found.offset) == found.seal.digest,
      frames.reduce(0, { $0 + UInt64($1.parts.count) }) == found.seal.count
    else { return nil }
    self.header = header
    self.seal = found.seal
    self.proofs = proofs
    self.frames = frames
  }

  /// The links of the segments that it stands for, in order, as it proves them; none in a snapshot.
  package var links: [ChainLink] {
    var links: [ChainLink] = []
    guard var value = proofs.first?.before else { return links }
    var hasher = ChainHasher()
    for proof in proofs {
      let link = proof.link(logID: header.logID, stream: header.stream, before: value)
      links.append(link)
      value = hasher.value(of: link)
    }
    return links
  }

  private static func digest(of bytes: [UInt8], before offset: Int) -> SHA256Digest {
    var hasher = SHA256Digest.Hasher()
    bytes.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<offset])) }
    return hasher.finishDigest()
  }

  /// What fails if the kept entries and what was dropped do not make the roots that the proofs
  /// name, or those not the chain value that the seal names; `true` if all of it holds.
  package func isProven() -> Bool {
    guard let first = proofs.first, var value = first.before else { return false }
    var hasher = ChainHasher()
    var entries = frames.flatMap(\.keptEntries)[...]
    for proof in proofs {
      let part = entries.prefix { $0.entry.number <= proof.lastNumber }
      entries = entries.dropFirst(part.count)
      let leaves = part.map {
        hasher.leaf(number: $0.entry.number, kind: $0.kind, bytes: $0.entry.bytes)
      }
      guard part.first.map({ $0.entry.number >= proof.firstNumber }) ?? true,
        proof.isMade(of: leaves, hasher: &hasher)
      else { return false }
      value = hasher.value(
        of: proof.link(logID: header.logID, stream: header.stream, before: value))
    }
    return entries.isEmpty && value == seal.chain
  }
}

extension SegmentScan.Frame {
  /// The entries of a frame of kept ones, each with its kind; none of another frame.
  package var keptEntries: [(kind: UInt8, entry: KeptEntry)] {
    guard header.kind == .kept || header.kind == .keptEcho else { return [] }
    return parts.compactMap { part in
      KeptEntry(stored: part.bytes).map { (part.kind, $0) }
    }
  }
}
