import DaybookFormat

/// What is known of a segment from outside its file.
struct SegmentContext {
  let file: String
  let stream: String
  let ordinal: UInt64
  /// The number that the segment must begin with.
  let next: UInt64
  /// What the header of the next segment says of it.
  var successor: SegmentHeader.Predecessor?
  /// The number before the first one of a later segment: nothing above it counts.
  var lastNumber: UInt64?
  /// The highest number that anything outside knows to be durable.
  var witness: UInt64
  /// What `HEAD` says, if it names this segment.
  var head: HeadSlot.Stream?
  /// The log that the segment must belong to, if that is known.
  var logID: Identifier?
}

/// Decides what the frames and stray bytes of one segment mean.
///
/// At the first frame that is missing, with q the next number expected: a *witness* (a valid later
/// frame or mark, a slot of HEAD, or a frame of the other stream that says q was durable; a later
/// segment) makes it damage. Without one it is a torn tail. A valid echo stands in for its frame in
/// every case. Source: `Docs/Format.md`, section "Verdict".
struct SegmentJudge {
  private let scan: SegmentScan
  private let context: SegmentContext
  private var report: SegmentReport
  /// The frames that count, by number.
  private var originals: [UInt64: SegmentScan.Frame] = [:]
  private var echoes: [UInt64: SegmentScan.Frame] = [:]
  private var highest: UInt64?
  private var closing: [SegmentScan.Frame] = []
  /// The highest number that anything knows to be durable.
  private var durable: UInt64
  /// A sync had returned for all bytes before this offset.
  private var syncedEnd = 0

  /// Judges `scan`, made of `bytes`.
  static func judge(
    _ scan: SegmentScan, bytes: [UInt8], context: SegmentContext
  ) -> SegmentReport {
    var judge = SegmentJudge(scan, context)
    if scan.header != nil, case .newer(let major, _)? = scan.newer {
      judge.report.newerVersion = major
    } else if let header = scan.header {
      judge.walk(header)
    } else {
      judge.withoutHeader()
    }
    judge.compare(bytes)
    judge.report.findings.sort { $0.offset < $1.offset }
    return judge.report
  }

  private init(_ scan: SegmentScan, _ context: SegmentContext) {
    self.scan = scan
    self.context = context
    durable = max(context.witness, context.lastNumber ?? 0)
    report = SegmentReport(
      file: context.file, stream: context.stream, ordinal: context.ordinal, scan: scan,
      nextNumber: context.next)
  }

  private mutating func add(
    _ kind: LogFinding.Kind, at offset: Int, lost: ClosedRange<UInt64>? = nil
  ) {
    report.findings.append(
      LogFinding(kind, file: report.file, offset: UInt64(offset), lost: lost))
  }

  /// The closing marks and the size were synced.
  private var isSealed: Bool {
    report.isClosed && (context.successor != nil || context.head?.isClosed == true)
  }

  private func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<UInt64>? {
    first <= last ? first...last : nil
  }

  // MARK: - Header

  private mutating func withoutHeader() {
    let lost = range(report.nextNumber, durable)
    if case .newer(let major, _) = scan.newer {
      report.newerVersion = max(major, LogLayout.version)
    } else if let successor = context.successor {
      // A successor that names nothing valid in it has settled a header that never became whole.
      if successor.validEnd > 0 { add(.header, at: 0, lost: lost) }
    } else if lost != nil {
      add(.header, at: 0, lost: lost)
    } else if let head = context.head, head.validEnd > 0 {
      add(.header, at: 0)
    } else if scan.isBlank {
      report.isSpare = context.lastNumber == nil
    } else if context.lastNumber == nil {
      add(.tornTail, at: 0)
    }
  }

  // MARK: - Frames

  private mutating func walk(_ header: SegmentHeader) {
    guard header.kind == .segment, header.stream == context.stream,
      header.ordinal == context.ordinal
    else {
      // Whole, but another segment's: nothing in it may be taken for this one's.
      add(.header, at: 88, lost: range(report.nextNumber, durable))
      return
    }
    if let logID = context.logID, header.logID != logID {
      add(.foreign, at: 40, lost: range(report.nextNumber, durable))
      return
    }
    if header.firstNumber != context.next {
      add(.missing, at: 0, lost: range(context.next, header.firstNumber - 1))
    }
    report.nextNumber = header.firstNumber
    report.firstNumber = header.firstNumber
    let limit = context.successor.map { Int(clamping: $0.validEnd) } ?? Int.max
    report.validEnd = min(LogLayout.segmentHeaderByteCount, limit)
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
        break
      }
    }
    checkEnd()
    checkBytes(header)
  }

  private mutating func collect(_ limit: Int) {
    for frame in scan.frames where frame.offset < limit && isWithinNumbers(frame) {
      let number = frame.header.frameNumber
      if frame.header.kind == .echo {
        echoes[number] = frame
      } else {
        originals[number] = frame
      }
      if frame.header.kind == .closingMark { closing.append(frame) }
      durable = max(durable, frame.header.durableNumber)
      highest = max(highest ?? 0, number)
    }
    report.isClosed = !closing.isEmpty
  }

  /// A later segment gives the numbers behind its predecessor's last one anew.
  private func isWithinNumbers(_ frame: SegmentScan.Frame) -> Bool {
    guard let last = context.lastNumber else { return true }
    return frame.nextNumber <= last + 1
  }

  private mutating func take(_ frame: SegmentScan.Frame) {
    let number = frame.header.frameNumber
    let isAcknowledged = isSealed || durable >= frame.nextNumber - 1
    if report.header?.isEchoed == true, frame.isBatch, isAcknowledged,
      originals[number] == nil || echoes[number] == nil
    {
      add(.frameCopy, at: placeOfMissingCopy(of: frame))
    }
    if frame.isBatch { report.frames.append(frame) }
    if frame.header.kind == .seal, report.isClosed { report.sealFrame = frame }
    report.nextNumber = frame.nextNumber
    let end = min(max(frame.end, echoes[number]?.end ?? 0), scan.byteCount)
    report.validEnd = max(report.validEnd, end)
    if frame.isBatch, isAcknowledged { syncedEnd = max(syncedEnd, end) }
  }

  /// Where the twin of `frame` should stand: the first stray byte on its side, or the page it
  /// begins on.
  private func placeOfMissingCopy(of frame: SegmentScan.Frame) -> Int {
    if frame.header.kind == .echo {
      let start = placeOfNextFrame
      return scan.strayOffsets.first { $0 >= start && $0 < frame.offset } ?? start
    }
    let page = LogLayout.align(frame.end, to: LogLayout.pageByteCount)
    return scan.strayOffsets.first { $0 >= frame.end } ?? page
  }

  private var placeOfNextFrame: Int {
    report.header?.isEchoed == true
      ? LogLayout.align(report.validEnd, to: LogLayout.pageByteCount) : report.validEnd
  }

  /// Judges that frame `number` is missing. Returns the number of the frame to go on with; `nil` if
  /// the walk ends here.
  private mutating func hole(at number: UInt64) -> UInt64? {
    let next = report.nextNumber
    let offset =
      scan.strayOffsets.first { $0 >= report.validEnd } ?? placeOfNextFrame
    let later = laterFrame(than: number)
    if let later, later.header.firstNumber == next {
      // Only a mark is missing. It was synced with whatever came behind it.
      let wasSynced = isSealed || context.successor != nil || durable >= next
      add(wasSynced ? .mark : .tornTail, at: offset)
      return later.header.frameNumber
    }
    guard durable >= next else {
      add(.tornTail, at: offset)
      return nil
    }
    guard let later else {
      add(.frame, at: offset, lost: next...durable)
      report.nextNumber = durable + 1
      return nil
    }
    add(.frame, at: offset, lost: next...(later.header.firstNumber - 1))
    report.nextNumber = later.header.firstNumber
    return later.header.frameNumber
  }

  private func laterFrame(than number: UInt64) -> SegmentScan.Frame? {
    let all = [originals.values.lazy, echoes.values.lazy].joined()
    return all.filter {
      $0.header.frameNumber > number && $0.header.firstNumber >= report.nextNumber
    }.min { $0.header.frameNumber < $1.header.frameNumber }
  }

  // MARK: - The end

  private mutating func checkEnd() {
    // Behind closing marks there can be nothing: then the next file is missing.
    if durable >= report.nextNumber, !report.isClosed {
      add(.missing, at: report.validEnd, lost: report.nextNumber...durable)
    }
    if let last = closing.max(by: { $0.offset < $1.offset }) {
      let end = last.offset + FrameHeader.byteCount
      if closing.count < 2 {
        let start = scan.strayOffsets.first { $0 >= last.end }
        let place = start ?? LogLayout.align(last.end, to: LogLayout.pageByteCount)
        if isSealed {
          if !report.findings.contains(where: { $0.kind == .mark }) { add(.mark, at: place) }
        } else {
          add(.tornTail, at: place)
        }
      } else if scan.byteCount != end {
        add(isSealed ? .fileSize : .tornTail, at: min(end, scan.byteCount))
      }
    }
    let expected = max(context.successor?.validEnd ?? 0, context.head?.validEnd ?? 0)
    if UInt64(scan.byteCount) < expected {
      add(.fileSize, at: scan.byteCount)
    } else if UInt64(placeOfNextFrame) < expected, !report.findings.contains(where: \.isLoss),
      !report.findings.contains(where: { $0.kind == .mark })
    {
      // A mark stood last, and no entry with it.
      add(.mark, at: report.validEnd)
    }
  }

  /// Judges the copies of the header and every stray byte.
  private mutating func checkBytes(_ header: SegmentHeader) {
    if let successor = context.successor {
      syncedEnd = Int(clamping: successor.validEnd)
    } else if isSealed {
      syncedEnd = Int.max
    } else {
      if durable >= header.firstNumber, !report.frames.isEmpty {
        syncedEnd = max(syncedEnd, LogLayout.segmentHeaderByteCount)
      }
      syncedEnd = max(syncedEnd, Int(clamping: context.head?.validEnd ?? 0))
    }
    for offset in scan.badHeaderCopies { add(syncedEnd > 0 ? .headerCopy : .tornTail, at: offset) }
    for offset in scan.strayOffsets where !isExplained(offset) {
      add(offset < syncedEnd ? .padding : .tornTail, at: offset)
    }
  }

  /// Whether a finding before `offset`, with no whole frame between, accounts for the bytes there.
  private func isExplained(_ offset: Int) -> Bool {
    report.findings.contains { finding in
      let start = Int(clamping: finding.offset)
      guard start <= offset else { return false }
      switch finding.kind {
      case .headerCopy: return offset < start + LogLayout.pageByteCount
      case .settledTail, .fileSize: return false
      case .tornTail where offset < syncedEnd: return false
      default: return !scan.frames.contains { $0.offset > start && $0.offset < offset }
      }
    }
  }

  /// Compares the file with what its successor says of it: one that is as it was when it was
  /// settled has nothing new to be found.
  private mutating func compare(_ bytes: [UInt8]) {
    let end = min(report.validEnd, bytes.count)
    report.fileChecksum = CRC32C.checksum(bytes)
    report.hasTail = SegmentScan.firstNonZero(bytes, end, bytes.count) != nil
    if context.lastNumber != nil { report.findings.removeAll { $0.kind == .tornTail } }
    guard let tail = context.successor?.tail, report.newerVersion == nil else { return }
    if UInt64(bytes.count) != tail.byteCount {
      if !report.findings.contains(where: { $0.kind == .fileSize }) {
        add(.fileSize, at: min(bytes.count, Int(clamping: tail.byteCount)))
      }
    } else if report.fileChecksum == tail.checksum {
      report.findings.removeAll { !$0.isLoss }
    } else if report.findings.isEmpty {
      add(.settledTail, at: scan.strayOffsets.first { $0 >= end } ?? end)
    }
  }
}
