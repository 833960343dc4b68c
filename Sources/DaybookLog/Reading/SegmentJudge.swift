import DaybookFormat

/// Decides what the frames and stray bytes of one segment mean.
///
/// At the first frame that is missing, with q the next number expected: a *witness* (a valid later
/// frame or mark, a slot of HEAD, or a frame of the other stream that says q was durable; a closing
/// mark; a successor's header) makes it damage. Without one it is a torn tail. A valid echo stands
/// in for its frame in every case. Source: `Docs/Format.md`, section "Verdict".
struct SegmentJudge {
  private let scan: SegmentScan
  private let successor: SegmentHeader.Predecessor?
  /// The highest number that anything outside this file knows to be durable.
  private let witness: UInt64
  private var report: SegmentReport
  private var originals: [UInt64: SegmentScan.Frame] = [:]
  private var echoes: [UInt64: SegmentScan.Frame] = [:]
  /// The highest number that anything knows to be durable.
  private var durable: UInt64 = 0
  private var highest: UInt64?
  /// Where the walk found the file torn, and stopped.
  private var isTorn = false

  /// Judges `scan` of `file`. `next` is the number that the segment must begin with.
  static func judge(
    _ scan: SegmentScan, bytes: [UInt8], file: String, stream: String, ordinal: UInt64,
    next: UInt64, successor: SegmentHeader.Predecessor?, witness: UInt64
  ) -> SegmentReport {
    var judge = SegmentJudge(
      scan: scan, successor: successor, witness: witness,
      report: SegmentReport(
        file: file, stream: stream, ordinal: ordinal, scan: scan, nextNumber: next))
    if let header = scan.header {
      judge.walk(header, next: next)
    } else {
      judge.withoutHeader()
    }
    judge.checkTail(bytes)
    judge.report.findings.sort { $0.offset < $1.offset }
    return judge.report
  }

  private init(
    scan: SegmentScan, successor: SegmentHeader.Predecessor?, witness: UInt64,
    report: SegmentReport
  ) {
    self.scan = scan
    self.successor = successor
    self.witness = witness
    self.report = report
  }

  private mutating func add(
    _ kind: LogFinding.Kind, at offset: Int, lost: ClosedRange<UInt64>? = nil
  ) {
    report.findings.append(
      LogFinding(kind, file: report.file, offset: UInt64(offset), lost: lost))
  }

  // MARK: - Header

  private mutating func withoutHeader() {
    let next = report.nextNumber
    if case .newer(let major, _) = scan.newer {
      report.newerVersion = major
    } else if let successor {
      // A successor that names nothing valid in it has settled a header that never became whole.
      if successor.validEnd > 0 { add(.header, at: 0, lost: range(next, successor.lastNumber)) }
    } else if witness >= next {
      add(.header, at: 0, lost: next...witness)
    } else if scan.isBlank {
      report.isSpare = true
    } else {
      add(.tornTail, at: 0)
    }
  }

  private func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<UInt64>? {
    first <= last ? first...last : nil
  }

  // MARK: - Frames

  private mutating func walk(_ header: SegmentHeader, next: UInt64) {
    for offset in scan.badHeaderCopies { add(.headerCopy, at: offset) }
    if header.firstNumber != next {
      add(.missing, at: 0, lost: range(next, header.firstNumber &- 1))
    }
    report.nextNumber = header.firstNumber
    report.validEnd = LogLayout.segmentHeaderByteCount
    let limit = successor.map { Int(clamping: $0.validEnd) } ?? Int.max
    collect(limit)
    var number: UInt64 = 0
    while let highest, number <= highest {
      if let frame = originals[number] ?? echoes[number],
        frame.header.firstNumber == report.nextNumber
      {
        take(frame)
        number += 1
      } else if let behind = hole(at: number) {
        number = behind
      } else {
        return
      }
    }
    checkEnd(header)
  }

  private mutating func collect(_ limit: Int) {
    durable = witness
    for frame in scan.frames where frame.offset < limit {
      let number = frame.header.frameNumber
      if frame.header.kind == .echo {
        echoes[number] = frame
      } else {
        originals[number] = frame
      }
      if frame.header.kind == .closingMark { report.isClosed = true }
      durable = max(durable, frame.header.durableNumber)
      highest = max(highest ?? 0, number)
    }
    if let successor { durable = max(durable, successor.lastNumber) }
  }

  private mutating func take(_ frame: SegmentScan.Frame) {
    let number = frame.header.frameNumber
    let isCopied = report.header?.isEchoed == true && isBatch(frame)
    if isCopied, originals[number] == nil || echoes[number] == nil {
      // Whether it was acknowledged decides between a bad copy and a group that was never finished.
      let isAcknowledged =
        report.isClosed || successor != nil || durable >= frame.nextNumber - 1
      if isAcknowledged { add(.frameCopy, at: placeOfMissingCopy(of: frame)) }
    }
    if frame.header.kind != .closingMark, frame.header.entryCount > 0 || isBatch(frame) {
      report.frames.append(frame)
    }
    report.nextNumber = frame.nextNumber
    report.validEnd = max(report.validEnd, frame.end, echoes[number]?.end ?? 0)
  }

  private func isBatch(_ frame: SegmentScan.Frame) -> Bool {
    frame.header.kind == .batch || frame.header.kind == .echo
  }

  /// Where the twin of `frame` should stand: the first stray byte on its side, or the page it
  /// begins on.
  private func placeOfMissingCopy(of frame: SegmentScan.Frame) -> Int {
    if frame.header.kind == .echo {
      let start = report.validEnd
      return scan.strayOffsets.first { $0 >= start && $0 < frame.offset } ?? start
    }
    let page = LogLayout.align(frame.end, to: LogLayout.pageByteCount)
    return scan.strayOffsets.first { $0 >= frame.end } ?? page
  }

  /// Judges that frame `number` is missing. Returns the number of the frame to go on with; `nil` if
  /// the walk ends here.
  private mutating func hole(at number: UInt64) -> UInt64? {
    let next = report.nextNumber
    let offset =
      scan.strayOffsets.first { $0 >= report.validEnd }
      ?? placeOfNextFrame
    guard report.isClosed || successor != nil || durable >= next else {
      isTorn = true
      add(.tornTail, at: offset)
      return nil
    }
    let later = scan.frames.first {
      $0.header.frameNumber > number && $0.header.kind != .echo && $0.header.firstNumber >= next
    }
    guard let later else {
      let last = max(durable, successor?.lastNumber ?? 0)
      add(.frame, at: offset, lost: range(next, last))
      return nil
    }
    if later.header.firstNumber == next {
      add(.mark, at: offset)
    } else {
      add(.frame, at: offset, lost: next...(later.header.firstNumber - 1))
      report.nextNumber = later.header.firstNumber
    }
    return later.header.frameNumber
  }

  private var placeOfNextFrame: Int {
    report.header?.isEchoed == true
      ? LogLayout.align(report.validEnd, to: LogLayout.pageByteCount) : report.validEnd
  }

  // MARK: - The end

  /// The walk came to the last frame without stopping.
  private mutating func checkEnd(_ header: SegmentHeader) {
    let next = report.nextNumber
    if let successor {
      let end =
        header.isEchoed
        ? LogLayout.align(report.validEnd, to: LogLayout.pageByteCount) : report.validEnd
      if successor.lastNumber >= next {
        add(.missing, at: report.validEnd, lost: next...successor.lastNumber)
      } else if UInt64(end) < successor.validEnd {
        // A mark stood last, and no entry with it.
        add(.mark, at: report.validEnd)
      }
    } else if durable >= next {
      add(.missing, at: report.validEnd, lost: next...durable)
    }
    let closing = scan.frames.filter { $0.header.kind == .closingMark }
    guard report.isClosed, let last = closing.last else { return }
    if closing.count < 2 {
      let start = scan.strayOffsets.first { $0 >= last.end }
      add(.mark, at: start ?? LogLayout.align(last.end, to: LogLayout.pageByteCount))
    } else if scan.byteCount != last.offset + FrameHeader.byteCount {
      add(.fileSize, at: last.offset + FrameHeader.byteCount)
    }
  }

  /// Judges every stray byte, and compares what was settled.
  private mutating func checkTail(_ bytes: [UInt8]) {
    let end = min(report.validEnd, bytes.count)
    report.tailChecksum = CRC32C.checksum(bytes[end...])
    report.hasTail = SegmentScan.firstNonZero(bytes, end, bytes.count) != nil
    if let successor, let tail = successor.tail, report.newerVersion == nil {
      let settled = min(Int(clamping: successor.validEnd), bytes.count)
      if UInt64(bytes.count) != tail.byteCount {
        add(.fileSize, at: min(bytes.count, Int(clamping: tail.byteCount)))
      } else if CRC32C.checksum(bytes[settled...]) != tail.checksum {
        add(.settledTail, at: scan.strayOffsets.first { $0 >= settled } ?? settled)
      }
    }
    guard report.header != nil else { return }
    for offset in scan.strayOffsets {
      if offset < report.validEnd {
        if !isExplained(offset) { add(.padding, at: offset) }
      } else if successor == nil, !isExplained(offset) {
        if report.isClosed {
          add(.padding, at: offset)
        } else if !isTorn {
          isTorn = true
          add(.tornTail, at: offset)
        }
      }
    }
  }

  /// Whether a finding before `offset`, with no whole frame between, accounts for the bytes there.
  private func isExplained(_ offset: Int) -> Bool {
    report.findings.contains { finding in
      let start = Int(finding.offset)
      guard start <= offset, finding.kind != .headerCopy, finding.kind != .settledTail else {
        return finding.kind == .headerCopy && offset < start + LogLayout.pageByteCount
          && offset >= start
      }
      return !scan.frames.contains { $0.offset > start && $0.offset < offset }
    }
  }
}
