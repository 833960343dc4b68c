import DaybookFormat

/// Decides what the frames and stray bytes of one segment mean.
///
/// At the first frame that is missing, with q the next number expected: a *witness* (a valid later
/// frame or mark, a slot of HEAD, or a frame of the other stream that says q was durable; a later
/// segment) makes it damage. Without one it is a torn tail. A valid echo stands in for its frame in
/// every case. Source: `Docs/Format.md`, section "Verdict".
struct SegmentJudge {
  private let scan: SegmentScan
  private let bytes: [UInt8]
  private let context: SegmentContext
  private var report: SegmentReport
  /// The frames that count, by number.
  private var originals: [UInt64: SegmentScan.Frame] = [:]
  private var echoes: [UInt64: SegmentScan.Frame] = [:]
  /// The numbers of ``originals`` and ``echoes``, in order, and how many of them are behind.
  private var numbers: [UInt64] = []
  private var passed = 0
  private var isEchoed = false
  private var closing: [SegmentScan.Frame] = []
  /// The highest number that anything knows to be durable, here or in an earlier file.
  private var durable: UInt64
  /// A sync had returned for all bytes before this offset.
  private var syncedEnd = 0

  /// Judges `scan`, made of `bytes`.
  static func judge(
    _ scan: SegmentScan, bytes: [UInt8], context: SegmentContext
  ) -> SegmentReport {
    var judge = SegmentJudge(scan, bytes, context)
    judge.report.noteNumbers(of: scan, next: context.next)
    if scan.header != nil, case .newer(let major, _)? = scan.newer {
      judge.report.newerVersion = major
    } else if let header = scan.header {
      judge.walk(header)
    } else {
      judge.withoutHeader()
    }
    judge.compare()
    judge.report.findings.sort { $0.offset < $1.offset }
    return judge.report
  }

  private init(_ scan: SegmentScan, _ bytes: [UInt8], _ context: SegmentContext) {
    self.scan = scan
    self.bytes = bytes
    self.context = context
    durable = max(context.witness, context.isFollowedByUnknown ? 0 : context.lastNumber ?? 0)
    report = SegmentReport(
      file: context.file, stream: context.stream, ordinal: context.ordinal, scan: scan,
      nextNumber: context.next)
  }

  private mutating func add(
    _ kind: LogFinding.Kind, at offset: Int, lost: ClosedRange<UInt64>? = nil
  ) {
    var finding = LogFinding(kind, file: report.file, offset: UInt64(offset), lost: lost)
    finding.record = context.known.record(of: finding)
    report.findings.append(finding)
  }

  /// The closing marks and the size were synced.
  private var isSealed: Bool {
    report.isClosed && (context.successor != nil || context.head?.isClosed == true)
  }

  /// The highest number that anything knows to be durable: what is found of it belongs here.
  private var durableAnywhere: UInt64 { max(durable, context.lastNumber ?? 0) }

  private func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<UInt64>? {
    first <= last ? first...last : nil
  }

  /// Names what is lost from ``SegmentReport/nextNumber`` to `last`, which nothing in the file
  /// tells.
  private mutating func loseAll(_ kind: LogFinding.Kind, at offset: Int, to last: UInt64) {
    let lost = range(report.nextNumber, last)
    add(kind, at: offset, lost: lost)
    if let lost { report.nextNumber = lost.upperBound + 1 }
  }

  // MARK: - Header

  private mutating func withoutHeader() {
    let isLost = durable >= report.nextNumber
    if case .newer(let major, _) = scan.newer {
      report.newerVersion = max(major, LogLayout.version)
    } else if walkWithoutHeader() {
      return
    } else if let successor = context.successor {
      // A successor that names nothing valid in it has settled a header that never became whole.
      if successor.validEnd > 0 { loseAll(.header, at: 0, to: durable) }
    } else if isLost {
      loseAll(.header, at: 0, to: durable)
    } else if let head = context.head, head.validEnd > 0 {
      add(.header, at: 0)
    } else if scan.isBlank {
      report.isSpare = context.lastNumber == nil
    } else if context.lastNumber == nil {
      add(.tornTail, at: 0)
    }
  }

  /// Walks the frames of a file whose header is lost, if anything knows that they were durable, so
  /// that the header had been, too.
  private mutating func walkWithoutHeader() -> Bool {
    guard context.isSalvaged, context.successor?.validEnd != 0 else { return false }
    let limit = context.limit
    let named = scan.frames.filter(isWithinNumbers).map(\.header.durableNumber).max()
    guard let named, max(durable, named) >= context.next else { return false }
    // What is lost before its first frame is the file before's, or gone with the header.
    let start = scan.frames.first { $0.header.frameNumber == 0 && isWithinNumbers($0) }
    loseAll(.header, at: 0, to: max(start?.header.firstNumber ?? 0, context.next) - 1)
    isEchoed = scan.frames.contains { $0.header.kind == .echo }
    report.validEnd = min(LogLayout.segmentHeaderByteCount, limit)
    walkFrames(limit)
    checkEnd()
    return true
  }

  // MARK: - Frames

  private mutating func walk(_ header: SegmentHeader) {
    guard header.kind == .segment, header.stream == context.stream,
      header.ordinal == context.ordinal
    else {
      // Whole, but another segment's: nothing in it may be taken for this one's.
      loseAll(.header, at: 88, to: durable)
      return
    }
    if let logID = context.logID, header.logID != logID {
      loseAll(.foreign, at: 40, to: durable)
      return
    }
    // Behind damage numbers go on above all that were ever named.
    let expected = min(header.predecessor?.lastNumber ?? .max, header.firstNumber - 1)
    if expected >= context.next || header.firstNumber < context.next {
      add(.missing, at: 0, lost: range(context.next, expected))
    }
    report.nextNumber = header.firstNumber
    report.firstNumber = header.firstNumber
    isEchoed = header.isEchoed
    let limit = context.limit
    report.validEnd = min(LogLayout.segmentHeaderByteCount, limit)
    walkFrames(limit)
    checkEnd()
    checkBytes(header)
  }

  private mutating func walkFrames(_ limit: Int) {
    collect(limit)
    var number: UInt64 = 0
    while let highest = numbers.last, number <= highest {
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
    }
    numbers = Set(originals.keys).union(echoes.keys).sorted()
    report.isClosed = !closing.isEmpty
  }

  /// A later segment gives the numbers behind its predecessor's last one anew.
  private func isWithinNumbers(_ frame: SegmentScan.Frame) -> Bool {
    if scan.header == nil, frame.header.firstNumber < context.next { return false }
    guard let last = context.lastNumber else { return true }
    return frame.nextNumber <= last + 1
  }

  private mutating func take(_ frame: SegmentScan.Frame) {
    let number = frame.header.frameNumber
    let isAcknowledged = isSealed || durableAnywhere >= frame.nextNumber - 1
    if isEchoed, frame.isBatch, originals[number] == nil || echoes[number] == nil {
      if isAcknowledged {
        add(.frameCopy, at: placeOfMissingCopy(of: frame))
      } else if report.lone == nil {
        report.lone = SegmentReport.Lone(index: report.frames.count, validEnd: report.validEnd)
      }
    }
    if frame.isBatch { report.frames.append(frame) }
    if frame.header.kind == .seal, report.isClosed { report.sealFrame = frame }
    report.nextNumber = frame.nextNumber
    let end = min(max(frame.end, echoes[number]?.end ?? 0), scan.byteCount)
    report.validEnd = max(report.validEnd, end)
    if frame.isBatch, isAcknowledged { syncedEnd = max(syncedEnd, end) }
  }

  /// The first stray byte at or behind `offset`: found by halving.
  private func firstStray(from offset: Int) -> Int? {
    let place = scan.strayOffsets.halved { $0 < offset }
    return place < scan.strayOffsets.count ? scan.strayOffsets[place] : nil
  }

  /// Where the twin of `frame` should stand: the first stray byte on its side, or the page it
  /// begins on.
  private func placeOfMissingCopy(of frame: SegmentScan.Frame) -> Int {
    if frame.header.kind == .echo {
      let start = placeOfNextFrame
      return firstStray(from: start).flatMap { $0 < frame.offset ? $0 : nil } ?? start
    }
    return firstStray(from: frame.end) ?? LogLayout.align(frame.end, to: LogLayout.pageByteCount)
  }

  private var placeOfNextFrame: Int {
    isEchoed ? LogLayout.align(report.validEnd, to: LogLayout.pageByteCount) : report.validEnd
  }

  /// Judges that frame `number` is missing. Returns the number of the frame to go on with; `nil` if
  /// the walk ends here.
  private mutating func hole(at number: UInt64) -> UInt64? {
    let next = report.nextNumber
    let offset = firstStray(from: report.validEnd) ?? placeOfNextFrame
    let later = laterFrame(than: number)
    if let later, later.header.firstNumber == next {
      // Only a mark is missing. It was synced with whatever came behind it.
      let wasSynced = isSealed || context.successor != nil || durable >= next
      add(wasSynced ? .mark : .tornTail, at: offset)
      return later.header.frameNumber
    }
    guard (later == nil ? durable : durableAnywhere) >= next else {
      add(.tornTail, at: offset)
      return nil
    }
    let last = later.map { $0.header.firstNumber - 1 } ?? durable
    lose(next...last, at: offset, frame: number, before: later)
    report.nextNumber = last + 1
    return later?.header.frameNumber
  }

  /// Names what is lost of `lost`, and lifts out what can be had.
  private mutating func lose(
    _ lost: ClosedRange<UInt64>, at offset: Int, frame number: UInt64,
    before later: SegmentScan.Frame?
  ) {
    var salvaged: [SegmentScan.Frame] = []
    if context.isSalvaged {
      let previous = number > 0 ? number - 1 : nil
      var starts = previous.flatMap { originals[$0]?.end }.map { [$0] } ?? []
      if !starts.contains(placeOfNextFrame) { starts.append(placeOfNextFrame) }
      var salvage = EntrySalvage(
        scan: scan, bytes: bytes, numbers: lost,
        frameNumbers: number..<max(later?.header.frameNumber ?? .max, number + 1),
        starts: starts, twinStarts: previous.flatMap { echoes[$0]?.end }.map { [$0] } ?? [],
        end: later.map(\.offset) ?? scan.byteCount, before: report.frames.last)
      salvaged = salvage.frames()
    }
    var next = lost.lowerBound
    for frame in salvaged {
      if let gone = range(next, frame.header.firstNumber - 1) {
        add(.frame, at: offset, lost: gone)
      }
      report.frames.append(frame)
      next = frame.nextNumber
    }
    if let gone = range(next, lost.upperBound) {
      add(.frame, at: offset, lost: gone)
    } else if salvaged.count == 1, salvaged[0].header.firstNumber == lost.lowerBound {
      add(.salvaged, at: offset)
    }
  }

  /// The next frame behind `number` that holds later entries. Each is passed once in a walk.
  private mutating func laterFrame(than number: UInt64) -> SegmentScan.Frame? {
    while passed < numbers.count, numbers[passed] <= number { passed += 1 }
    for place in passed..<numbers.count {
      let candidates = [originals[numbers[place]], echoes[numbers[place]]].compactMap { $0 }
      if let later = candidates.first(where: { $0.header.firstNumber >= report.nextNumber }) {
        return later
      }
    }
    return nil
  }

  // MARK: - The end

  private mutating func checkEnd() {
    // Behind closing marks there can be nothing: then the next file is missing.
    if durable >= report.nextNumber, !report.isClosed {
      loseAll(.missing, at: report.validEnd, to: durable)
    }
    if let last = closing.max(by: { $0.offset < $1.offset }) {
      let end = last.offset + FrameHeader.byteCount
      if closing.count < 2 {
        let place = firstStray(from: last.end)
        if isSealed {
          if !report.findings.contains(where: { $0.kind == .mark }) {
            add(.mark, at: place ?? LogLayout.align(last.end, to: LogLayout.pageByteCount))
          }
        } else {
          add(.tornTail, at: place ?? LogLayout.align(last.end, to: LogLayout.pageByteCount))
        }
      } else if scan.byteCount != end {
        add(isSealed ? .fileSize : .tornTail, at: min(end, scan.byteCount))
      }
    }
    let expected = max(context.successor?.validEnd ?? 0, context.head?.validEnd ?? 0)
    if UInt64(scan.byteCount) < expected {
      add(.fileSize, at: scan.byteCount)
    } else if UInt64(placeOfNextFrame) < expected, !report.findings.contains(where: \.isLoss),
      !report.findings.contains(where: { $0.kind == .mark || $0.kind == .salvaged })
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
    judgeStrays()
  }

  /// Adds a finding for each run of stray bytes that no finding before it, with no whole frame
  /// between, accounts for. Findings, frames and strays are walked side by side.
  private mutating func judgeStrays() {
    let starts = report.findings.filter(\.explainsBytesBehind).map(\.offset).sorted()
    let torn = report.findings.filter { $0.kind == .tornTail }.map(\.offset).sorted()
    let copies = report.findings.filter { $0.kind == .headerCopy }.map { Int($0.offset) }
    var (start, tornStart, frame) = (0, 0, 0)
    var (lastStart, lastTorn, lastFrame) = (-1, -1, -1)
    for offset in scan.strayOffsets {
      while start < starts.count, starts[start] <= UInt64(offset) {
        lastStart = max(lastStart, Int(starts[start]))
        start += 1
      }
      while tornStart < torn.count, torn[tornStart] <= UInt64(offset) {
        lastTorn = max(lastTorn, Int(torn[tornStart]))
        tornStart += 1
      }
      while frame < scan.frames.count, scan.frames[frame].offset < offset {
        lastFrame = scan.frames[frame].offset
        frame += 1
      }
      let isTorn = offset >= syncedEnd && lastTorn >= max(lastFrame, 0)
      let isInCopy = copies.contains { $0 <= offset && offset < $0 + LogLayout.pageByteCount }
      if isTorn || isInCopy || lastStart >= max(lastFrame, 0) { continue }
      add(offset < syncedEnd ? .padding : .tornTail, at: offset)
      if offset < syncedEnd { lastStart = offset } else { lastTorn = offset }
    }
  }

  /// Compares the file with what its successor says of it: one that is as it was when it was
  /// settled has nothing new to be found.
  private mutating func compare() {
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
      report.findings.removeAll { !$0.isLoss && $0.record == nil }
    } else if report.findings.isEmpty {
      add(.settledTail, at: firstStray(from: end) ?? end)
    }
  }
}
