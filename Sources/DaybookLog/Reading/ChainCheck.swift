package import DaybookFormat

/// Checks every link of one stream's chain: what each segment's seal says of it, and what the next
/// segment's header says of all before.
///
/// What a report already calls lost can't be hashed, so it spoils the link behind it, and no more.
package struct ChainCheck: ~Copyable {
  private let logID: Identifier
  private var hasher = ChainHasher()
  /// The value behind the segment checked last, made of what is there.
  private var value = ChainValue.zero
  /// What the seal of that segment says instead.
  private var sealed: ChainValue?
  /// That segment has lost entries, or can't be read.
  private var isSpoiled = false
  /// A chain has begun: from here on no header may leave it out.
  private var isChained = false
  /// The links of the segment checked last, as made of what is there: one, or those that a
  /// compaction output proves; none if it can't be read.
  package private(set) var links: [ChainLink] = []

  /// A check of a stream of the log `logID`.
  package init(logID: Identifier) { self.logID = logID }

  /// Checks the next segment, and adds what is wrong to its findings. Its report must have been
  /// made with ``SegmentSequence/isHashed``.
  package mutating func check(_ report: inout SegmentReport) {
    links = []
    if report.isSpare || report.isReplaced || report.newerVersion != nil { return }
    if report.isPieced {
      // What was dropped has no hashes here, so what comes behind can't be held against it.
      sealed = nil
      isSpoiled = true
      return
    }
    guard let header = report.header, !report.isMisplaced else {
      value = hasher.value(of: report.link(logID: logID, before: value, hasher: &hasher))
      sealed = nil
      isSpoiled = isSpoiled || report.findings.contains(where: \.isLoss)
      return
    }
    checkNamed(header, of: &report)
    if report.header?.generation ?? 0 > 0 {
      checkOutput(&report)
      return
    }
    let isLoss = report.findings.contains { $0.isLoss && $0.kind != .chain }
    let link = report.link(logID: header.logID, before: report.namedChain, hasher: &hasher)
    links = [link]
    value = hasher.value(of: link)
    sealed = nil
    isSpoiled = isLoss
    checkSeal(link, of: &report, isLoss: isLoss)
    report.findings.sort { $0.offset < $1.offset }
  }

  private mutating func checkNamed(_ header: SegmentHeader, of report: inout SegmentReport) {
    let named = report.sealed?.proofs.first?.before ?? report.namedChain
    if named.isZero {
      guard isChained else { return }
    } else {
      isChained = true
      if isSpoiled || named == value || named == sealed { return }
    }
    report.findings.append(
      LogFinding(.chain, file: report.file, offset: SegmentHeader.chainOffset))
  }

  /// What a compaction made proves the segments that it stands for, or is spoiled.
  private mutating func checkOutput(_ report: inout SegmentReport) {
    isChained = true
    sealed = nil
    let links = report.sealed?.links ?? []
    self.links = links
    isSpoiled = links.isEmpty
    guard let output = report.sealed, let last = links.last else { return }
    value = hasher.value(of: last)
    if output.isProven() { return }
    isSpoiled = true
    report.findings.append(
      LogFinding(.seal, file: report.file, offset: UInt64(LogLayout.segmentHeaderByteCount)))
  }

  private mutating func checkSeal(
    _ link: ChainLink, of report: inout SegmentReport, isLoss: Bool
  ) {
    guard let frame = report.sealFrame else { return }
    isChained = true
    let seal = try? Seal(bytes: frame.payload[...])
    sealed = seal?.chain
    if isLoss { return }
    let count = report.frames.reduce(0 as UInt64) { $0 + UInt64($1.header.entryCount) }
    if let seal, seal.count == count, seal.firstNumber == link.firstNumber,
      seal.lastNumber == link.lastNumber, seal.root == link.root, seal.chain == value,
      // Bytes that are known to be damaged change the digest, too.
      seal.digest == report.digest || !report.findings.isEmpty
    {
      return
    }
    report.findings.append(
      LogFinding(.seal, file: report.file, offset: UInt64(frame.offset)))
  }
}
