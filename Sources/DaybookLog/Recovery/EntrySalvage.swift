import DaybookFormat

/// Lifts single entries out of the bytes between two whole frames, where neither a frame nor its
/// echo is whole.
///
/// Entries come from frames whose header is whole, by their own checksums; where both headers of a
/// frame are bad, from the chain of entries where the frame must begin. What the original lacks the
/// echo may have. Source: `Docs/Format.md`, section "Recovery".
struct EntrySalvage {
  /// An entry, and where it was found.
  struct Found {
    let part: FramePayload.Part
    /// The frame that it stood in, or where that must begin.
    let offset: Int
    let otherNext: UInt64
    let clock: UInt64
  }

  let scan: SegmentScan
  let bytes: [UInt8]
  /// The numbers that are missing.
  let numbers: ClosedRange<UInt64>
  /// The frame numbers that are missing: from the first one up to that of the next whole frame.
  let frameNumbers: Range<UInt64>
  /// Where the first missing frame must begin: behind the one before it, or on the next page.
  let starts: [Int]
  /// Where its echo may begin, beside on a page.
  let twinStarts: [Int]
  /// Behind the last byte that may belong to it.
  let end: Int
  /// The last frame before the damage.
  let before: SegmentScan.Frame?

  private var found: [UInt64: Found] = [:]

  init(
    scan: SegmentScan, bytes: [UInt8], numbers: ClosedRange<UInt64>,
    frameNumbers: Range<UInt64>, starts: [Int], twinStarts: [Int], end: Int,
    before: SegmentScan.Frame?
  ) {
    self.scan = scan
    self.bytes = bytes
    self.numbers = numbers
    self.frameNumbers = frameNumbers
    self.starts = starts
    self.twinStarts = twinStarts
    self.end = end
    self.before = before
  }

  /// The entries that can be had, as frames of runs of numbers, in order.
  mutating func frames() -> [SegmentScan.Frame] {
    liftFromBrokenFrames()
    let isFirstKnown = scan.broken.contains { $0.header.frameNumber == frameNumbers.lowerBound }
    if !isFirstKnown { liftFromChains() }
    var frames: [SegmentScan.Frame] = []
    var run: [Found] = []
    var first: UInt64 = 0
    for (number, entry) in found.sorted(by: { $0.key < $1.key }) {
      if !run.isEmpty, number != first + UInt64(run.count) {
        frames.append(frame(run, from: first))
        run = []
      }
      if run.isEmpty { first = number }
      run.append(entry)
    }
    if !run.isEmpty { frames.append(frame(run, from: first)) }
    return frames
  }

  private mutating func add(_ number: UInt64, _ entry: Found) {
    if numbers.contains(number), found[number] == nil { found[number] = entry }
  }

  private mutating func liftFromBrokenFrames() {
    for frame in scan.broken where frameNumbers.contains(frame.header.frameNumber) {
      let header = frame.header
      guard header.kind == .batch || header.kind == .echo, header.codec == .raw else { continue }
      let start = min(frame.offset + FrameHeader.byteCount, bytes.count)
      let payload = bytes[start..<min(start + Int(header.storedByteCount), bytes.count)]
      for (place, part) in FramePayload.salvage(payload, count: Int(header.entryCount)) {
        add(
          header.firstNumber + UInt64(place),
          Found(
            part: part, offset: frame.offset, otherNext: header.otherNext, clock: header.clock))
      }
    }
  }

  private mutating func liftFromChains() {
    var original: [FramePayload.Part] = []
    var place = starts.last ?? 0
    for start in starts where original.isEmpty {
      original = chain(from: start)
      if !original.isEmpty { place = start }
    }
    take(original, at: place)
    // An echo has no place of its own, only a page: it must begin as its original does, or be the
    // only frame that is missing.
    let isAlone = frameNumbers.upperBound - frameNumbers.lowerBound == 1
    guard isAlone || !original.isEmpty else { return }
    let page = LogLayout.align(place + 1, to: LogLayout.pageByteCount)
    for start in twinStarts + Array(stride(from: page, to: end, by: LogLayout.pageByteCount)) {
      let echo = chain(from: start)
      let isTwin = echo.first.map { $0.bytes == original.first?.bytes } ?? false
      if isTwin || (isAlone && !echo.isEmpty) {
        take(echo, at: start)
        return
      }
    }
  }

  /// The entries of a frame at `start`, and of those right behind it.
  private func chain(from start: Int) -> [FramePayload.Part] {
    var parts: [FramePayload.Part] = []
    var start = start
    let limit = Int(clamping: numbers.upperBound - numbers.lowerBound + 1)
    while parts.count < limit, let end = freeEnd(from: start) {
      let next = FramePayload.chain(
        in: bytes[..<end], from: start + FrameHeader.byteCount, limit: limit - parts.count)
      guard let last = next.last else { break }
      parts += next
      start = LogLayout.align(last.bytes.endIndex, to: LogLayout.frameAlignment)
    }
    return parts
  }

  /// Where the bytes end that are in no frame that can be told, from `start` on; `nil` if it is in
  /// one.
  private func freeEnd(from start: Int) -> Int? {
    let known =
      scan.frames.map { ($0.offset, $0.end) }
      + scan.broken.map { ($0.offset, $0.offset + $0.header.frameByteCount) }
    if known.contains(where: { $0.0 <= start && start < $0.1 }) { return nil }
    let end = min(known.map(\.0).filter { $0 > start }.min() ?? end, end)
    return start + FrameHeader.byteCount < end ? end : nil
  }

  private mutating func take(_ parts: [FramePayload.Part], at offset: Int) {
    for (place, part) in parts.enumerated() {
      add(
        numbers.lowerBound + UInt64(place),
        Found(
          part: part, offset: offset, otherNext: before?.header.otherNext ?? 0,
          clock: before?.header.clock ?? 0))
    }
  }

  private func frame(_ run: [Found], from first: UInt64) -> SegmentScan.Frame {
    let header = FrameHeader(
      kind: .batch, entryCount: UInt32(clamping: run.count),
      frameNumber: frameNumbers.lowerBound, firstNumber: first,
      durableNumber: before?.header.durableNumber ?? 0, otherNext: run[0].otherNext,
      clock: run[0].clock)
    var frame = SegmentScan.Frame(
      offset: run[0].offset, header: header, stored: [], payload: [], parts: run.map(\.part))
    frame.isSalvaged = true
    return frame
  }
}
