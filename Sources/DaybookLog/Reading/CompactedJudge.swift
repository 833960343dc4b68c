import DaybookFormat

/// Decides what a file holds that a compaction made. It was written at once and sealed, so it is
/// whole, or its bytes were damaged later: nothing in it is ever a torn tail.
struct CompactedJudge {
  /// The report of `scan`, made of `bytes`, which stands for the ordinals of `file`; `next` is the
  /// number that it must begin with. With `isSalvaged` entries are lifted out of a file without a
  /// header.
  static func judge(
    _ scan: SegmentScan, bytes: [UInt8], file: StreamFile, stream: String, next: UInt64,
    successor: SegmentHeader?, isSalvaged: Bool
  ) -> SegmentReport {
    var report = SegmentReport(
      file: file.file, stream: stream, ordinal: file.first, lastOrdinal: file.last, scan: scan,
      nextNumber: next)
    report.fileChecksum = CRC32C.checksum(bytes)
    report.validEnd = bytes.count
    if case .newer(let major, _) = scan.newer { report.newerVersion = major }
    let last = successor.map { $0.firstNumber - 1 }
    guard let header = scan.header, header.isOf(file, stream: stream) else {
      // Frames behind a header of other ordinals are another file's.
      let isLiftable = isSalvaged && scan.header == nil
      let salvage = isLiftable ? OutputSalvage(scan, of: file, end: last) : nil
      report.lose(.header, from: next, to: max(last ?? next, next), but: salvage)
      report.nextNumber = (last ?? next) + 1
      return report
    }
    // Behind damage numbers go on above all that were ever named.
    let expected = min(header.predecessor?.lastNumber ?? .max, header.firstNumber - 1)
    if expected >= next || header.firstNumber < next {
      report.add(.missing, at: 0, lost: next <= expected ? next...expected : nil)
    }
    report.nextNumber = header.firstNumber
    if let sealed = SealedScan(scan, bytes: bytes) {
      report.sealed = sealed
      report.isClosed = true
      report.frames = sealed.frames.flatMap(\.byOtherNext)
      report.nextNumber = sealed.seal.lastNumber + 1
    } else {
      report.salvage(scan, OutputSalvage(scan, of: file, end: last))
    }
    return report
  }
}

extension SegmentHeader {
  /// Whether it is that of `file`, which a compaction made of segments of `stream`.
  func isOf(_ file: StreamFile, stream: String) -> Bool {
    kind == .segment && self.stream == stream && ordinal == file.first && lastOrdinal == file.last
  }
}

extension SegmentReport {
  fileprivate mutating func add(
    _ kind: LogFinding.Kind, at offset: Int, lost: ClosedRange<UInt64>? = nil
  ) {
    findings.append(LogFinding(kind, file: file, offset: UInt64(offset), lost: lost))
  }

  /// Adds a finding at the file's front that `first` to `last` are lost by, but for what `salvage`
  /// has of them; one in any case.
  fileprivate mutating func lose(
    _ kind: LogFinding.Kind, from first: UInt64, to last: UInt64, but salvage: OutputSalvage?
  ) {
    var lost = [first...last]
    if let salvage { (frames, lost) = salvage.fill(first...last) }
    add(kind, at: 0, lost: lost.first)
    for range in lost.dropFirst() { add(kind, at: 0, lost: range) }
  }

  /// Takes every entry that is there, in one copy or the other, and names what is not.
  fileprivate mutating func salvage(_ scan: SegmentScan, _ salvage: OutputSalvage) {
    isClosed = salvage.isClosed
    let end = max(
      salvage.last ?? salvage.frames.last.map { $0.nextNumber - 1 } ?? 0, nextNumber - 1)
    if nextNumber <= end {
      let (there, lost) = salvage.fill(nextNumber...end)
      frames = there
      for range in lost { add(.frame, at: salvage.place(of: range.lowerBound), lost: range) }
    }
    for offset in salvage.halfFrames { add(.frameCopy, at: offset) }
    // Frames without entries are told once, and by what they have cost if that is anything.
    if salvage.lacksMark, !findings.contains(where: \.isLoss) {
      add(.mark, at: salvage.place(of: end + 1))
    }
    if findings.isEmpty {
      let stray = scan.strayOffsets.first ?? scan.badHeaderCopies.first ?? byteCount
      add(scan.badHeaderCopies.isEmpty ? .padding : .headerCopy, at: stray)
    }
    findings.sort { $0.offset < $1.offset }
    nextNumber = end + 1
  }
}

extension SegmentScan.Frame {
  /// A frame of kept entries as frames of which each was written at one place between the entries
  /// of the other stream; another frame as it is.
  var byOtherNext: [SegmentScan.Frame] {
    let entries = keptEntries
    guard let first = entries.first else { return [self] }
    var frames: [SegmentScan.Frame] = []
    var start = 0
    var current = first.entry
    func take(_ end: Int) {
      var header = self.header
      header.firstNumber = current.number
      header.otherNext = current.otherNext
      header.clock = current.clock
      header.entryCount = UInt32(end - start)
      frames.append(
        SegmentScan.Frame(
          offset: offset, header: header, stored: stored, payload: payload,
          parts: Array(parts[start..<end])))
    }
    for (index, kept) in entries.enumerated()
    where kept.entry.otherNext != current.otherNext || kept.entry.clock != current.clock {
      take(index)
      start = index
      current = kept.entry
    }
    take(entries.count)
    return frames
  }
}
