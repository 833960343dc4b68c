import DaybookFormat

/// What compactions made, where it is not whole: no entry that is in any file is lost.
///
/// What such a file was made of stands in for it as far as it is there. What that lacks is taken
/// from the file itself, and nothing is missed of what the file tells to be dropped.
extension SegmentSequence {
  /// The report of what a compaction made; if it is not whole, and others stand in for it, that
  /// they do.
  mutating func compacted() throws(LogError) -> SegmentReport? {
    let file = files[index]
    let content = try directory.content(of: file.file)
    let bytes = content.bytes
    let scan = SegmentScan(bytes)
    let isWhole = SealedScan(scan, bytes: bytes) != nil
    let inputs = isWhole ? [] : self.inputs(of: file)
    if StreamFile.isWhole(inputs, from: file.first, to: file.last), !inputs.isEmpty {
      return try replaced(file, scan, by: inputs)
    }
    let next = index + 1 < files.count ? files[index + 1] : nil
    let successor = try next.flatMap { file throws(LogError) in
      try directory.header(of: file.file)
    }
    let isAdjacent = next?.first == file.last + 1
    var report = CompactedJudge.judge(
      scan, bytes: bytes, file: file, stream: stream.name, next: nextNumber,
      successor: isAdjacent ? successor : nil, isSalvaged: policy == .salvage)
    if !inputs.isEmpty, report.findings.contains(where: \.isLoss) {
      return try replaced(file, scan, by: inputs)
    }
    index += 1
    let known = try knownDamage()
    report.note(content, known)
    report.namedNumber = max(report.nextNumber, report.header?.firstNumber ?? 1) - 1
    for place in report.findings.indices {
      report.findings[place].record = known.record(of: report.findings[place])
    }
    nextOrdinal = file.last + 1
    nextNumber = max(nextNumber, report.nextNumber)
    isClosed = report.isClosed
    if report.sealed == nil { report.isPieced = true }
    complete(&report, known)
    return report
  }

  /// What is there of what `file` was made of.
  private func inputs(of file: StreamFile) -> [StreamFile] {
    StreamFile.cover(
      stream.files.filter { $0 != file && file.first <= $0.first && $0.last <= file.last },
      void: stream.void)
  }

  /// The report of what a compaction made, and which its inputs stand in for: it holds nothing.
  private mutating func replaced(
    _ file: StreamFile, _ scan: SegmentScan, by inputs: [StreamFile]
  ) throws(LogError) -> SegmentReport {
    files.replaceSubrange(index...index, with: inputs)
    sources.append(OutputSalvage(scan, of: file))
    for other in stream.void where !inputs.contains(other) && file.supersedes(other) {
      try addVoid(other)
    }
    return try standIn(file, scan)
  }

  private mutating func standIn(
    _ file: StreamFile, _ scan: SegmentScan
  ) throws(LogError) -> SegmentReport {
    var report = SegmentReport(
      file: file.file, stream: stream.name, ordinal: file.first, lastOrdinal: file.last,
      scan: scan, nextNumber: nextNumber)
    report.isReplaced = true
    var finding = LogFinding(.standIn, file: file.file, offset: UInt64(scan.firstBad))
    finding.record = try knownDamage().record(of: finding)
    report.findings = [finding]
    return report
  }

  // MARK: - Outputs without a header

  /// Tells the outputs without a header, too, which serve nothing.
  mutating func tellVoid() {
    untold = stream.void.filter { void in
      !files.contains { $0 == void || $0.supersedes(void) }
    }.sorted { $0.first < $1.first }
  }

  /// The report of an output without a header that covers ordinals from here on.
  mutating func voidReport() throws(LogError) -> SegmentReport? {
    while let void = untold.first {
      guard void.first <= (index < files.count ? files[index].first : .max) else { return nil }
      untold.removeFirst()
      // What is below is neither looked for nor missed.
      guard void.last >= nextOrdinal else { continue }
      return try standIn(void, try addVoid(void))
    }
    return nil
  }

  /// Makes an output without a header a source, if entries are lifted out of such files at all.
  @discardableResult private mutating func addVoid(
    _ file: StreamFile
  ) throws(LogError) -> SegmentScan {
    let scan = SegmentScan(try directory.bytes(of: file.file))
    if policy == .salvage, scan.header == nil {
      sources.append(OutputSalvage(scan, of: file))
    }
    return scan
  }

  // MARK: - What other files lack

  /// The report of what is missing at the end of an output, behind the last one of its inputs that
  /// is there.
  mutating func missingOutputEnd() -> SegmentReport? {
    let outputs = sources.filter { !stream.void.contains($0.file) }
    guard index == files.count, let file = outputs.map(\.file).max(by: { $0.last < $1.last }),
      file.last >= nextOrdinal
    else { return nil }
    let end = outputs.compactMap(\.last).max() ?? 0
    return missing(
      nextOrdinal, next: file.last + 1, first: max(end + 1, nextNumber),
      lost: end >= nextNumber ? nextNumber...end : nil)
  }

  /// The number behind what an output stands for whose last ordinal is the one before `ordinal`.
  func outputEnd(before ordinal: UInt64) -> UInt64? {
    sources.first { $0.file.last + 1 == ordinal }?.last.map { $0 + 1 }
  }

  /// Takes what a file has lost from outputs that are not whole, and leaves as lost what nothing
  /// tells.
  func complete(_ report: inout SegmentReport, _ known: KnownDamage) {
    let sources = sources.filter {
      $0.file.file != report.file && $0.file.first <= report.lastOrdinal
        && report.ordinal <= $0.file.last
    }
    guard !sources.isEmpty else { return }
    var findings: [LogFinding] = []
    var added: [SegmentScan.Frame] = []
    for finding in report.findings {
      guard finding.isLoss, finding.lost != nil || finding.kind == .missing else {
        findings.append(finding)
        continue
      }
      var open = finding.lost.map { [$0] } ?? []
      for source in sources {
        open = open.flatMap { range in
          let (frames, lost) = source.fill(range)
          added += frames
          return lost
        }
      }
      if open == finding.lost.map({ [$0] }) {
        findings.append(finding)
        continue
      }
      report.isPieced = true
      var left = open.map {
        LogFinding(finding.kind, file: finding.file, offset: finding.offset, lost: $0)
      }
      if left.isEmpty {
        left = [LogFinding(.standIn, file: finding.file, offset: finding.offset)]
      }
      for var finding in left {
        finding.record = known.record(of: finding)
        findings.append(finding)
      }
    }
    report.findings = findings
    if !added.isEmpty {
      report.frames = (report.frames + added).sorted {
        $0.header.firstNumber < $1.header.firstNumber
      }
    }
  }
}
