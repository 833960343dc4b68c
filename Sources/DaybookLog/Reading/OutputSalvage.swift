import DaybookFormat

/// What can still be told of a file that a compaction made and that is not whole: the kept entries
/// that are there, and the numbers of which nothing is missing, there or dropped on purpose.
///
/// What is dropped is told by the proofs, by frames that follow each other, and by the seal's count
/// if as many entries are there. Only frames that exist are walked: numbers may be anything.
struct OutputSalvage {
  let file: StreamFile
  /// The frames with kept entries, by number; none twice.
  private(set) var frames: [SegmentScan.Frame] = []
  /// The numbers of which nothing is missing, in order.
  private(set) var told: [ClosedRange<UInt64>] = []
  /// The number of the first entry that the file stands for; `nil` if nothing says so.
  private(set) var first: UInt64?
  /// The number of the last entry that the file stands for; `nil` if nothing says so.
  private(set) var last: UInt64?
  /// Where frames stand of which the other copy is not whole.
  private(set) var halfFrames: [Int] = []
  /// A frame without entries is not whole: a proof, the seal, or a closing mark.
  private(set) var lacksMark = false
  /// The closing marks, or one of them, are there.
  private(set) var isClosed = false

  private let scan: SegmentScan
  /// The frames that exist, by their number in the file, one copy of each.
  private var existing: [SegmentScan.Frame] = []

  /// What can be told by `scan` of `file`, which ends at `end` at the latest, if that is known.
  init(_ scan: SegmentScan, of file: StreamFile, end: UInt64? = nil) {
    self.scan = scan
    self.file = file
    first = scan.header?.firstNumber
    collect()
    let proofs = existing.filter { $0.header.kind == .proof }.compactMap {
      try? SegmentProof(bytes: $0.payload[...])
    }
    let seal = existing.first { $0.header.kind == .seal }.flatMap {
      try? Seal(bytes: $0.payload[...])
    }
    first = first ?? proofs.first { $0.ordinal == file.first }?.firstNumber
    last = seal?.lastNumber ?? proofs.first { $0.ordinal == file.last }?.lastNumber ?? end
    if let end { last = min(last ?? end, end) }
    take()
    for proof in proofs { told += proof.droppedNumbers }
    let count = frames.reduce(0) { $0 + UInt64($1.parts.count) }
    if let seal, seal.count == count { tell(first, last) }
    told = DamageReport.union(of: told)
    lacksMark =
      lacksMark || seal == nil
      || scan.frames.count { $0.header.kind == .closingMark } < 2
  }

  /// One copy of each frame, by frame numbers.
  private mutating func collect() {
    var originals: [UInt64: SegmentScan.Frame] = [:]
    var echoes: [UInt64: SegmentScan.Frame] = [:]
    for frame in scan.frames {
      let number = frame.header.frameNumber
      if frame.header.kind == .closingMark { isClosed = true }
      if frame.header.kind == .keptEcho {
        echoes[number] = frame
      } else {
        originals[number] = frame
      }
    }
    for number in Set(originals.keys).union(echoes.keys).sorted() {
      guard let frame = originals[number] ?? echoes[number] else { continue }
      existing.append(frame)
      let isHalf = originals[number] == nil || echoes[number] == nil
      if frame.isBatch, scan.header?.isEchoed == true, isHalf { halfFrames.append(frame.offset) }
    }
  }

  /// Takes the entries, and what frames tell that follow each other.
  private mutating func take() {
    var before: (frame: UInt64, last: UInt64?)?
    for frame in existing {
      let number = frame.header.frameNumber
      let follows = number == 0 || before.map { $0.frame + 1 == number } ?? false
      let next = before.flatMap(\.last).map { $0 + 1 } ?? (number == 0 ? first : nil)
      if !follows, !frame.isBatch { lacksMark = true }
      guard frame.isBatch else {
        // Behind the first frame without entries none has any.
        if follows, let next { tell(next, last) }
        before = (number, nil)
        continue
      }
      let numbers = frame.keptEntries.map(\.entry.number)
      guard let lowest = numbers.first, let highest = numbers.last,
        zip(numbers, numbers.dropFirst()).allSatisfy(<),
        lowest > frames.last.map({ $0.nextNumber - 1 }) ?? 0, lowest >= first ?? 1,
        highest <= last ?? .max
      else {
        before = nil
        continue
      }
      tell(follows ? next ?? lowest : lowest, highest)
      for var part in frame.byOtherNext {
        part.file = file.file
        frames.append(part)
      }
      before = (number, highest)
    }
  }

  private mutating func tell(_ first: UInt64?, _ last: UInt64?) {
    if let first, let last, first <= last { told.append(first...last) }
  }

  /// The first byte that is not as it was written, as far as bytes alone tell.
  var firstBad: Int { scan.firstBad }

  /// What there is of `numbers`: the frames with such entries, and the numbers that nothing tells.
  func fill(
    _ numbers: ClosedRange<UInt64>
  ) -> (frames: [SegmentScan.Frame], lost: [ClosedRange<UInt64>]) {
    var lost: [ClosedRange<UInt64>] = []
    var next = numbers.lowerBound
    let from = told.halved { $0.upperBound < numbers.lowerBound }
    for range in told[from...].prefix(while: { $0.lowerBound <= numbers.upperBound }) {
      if range.lowerBound > next { lost.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= numbers.upperBound { lost.append(next...numbers.upperBound) }
    let there = frames[frames.halved { $0.nextNumber <= numbers.lowerBound }...].prefix {
      $0.header.firstNumber <= numbers.upperBound
    }
    return (there.compactMap { $0.kept(within: numbers) }, lost)
  }

  /// Where the bytes begin that may have held `number`: behind the last frame below it.
  func place(of number: UInt64) -> Int {
    let count = frames.halved { $0.nextNumber <= number }
    let start = count > 0 ? frames[count - 1].end : LogLayout.segmentHeaderByteCount
    let stray = scan.strayOffsets.halved { $0 < start }
    return stray < scan.strayOffsets.count
      ? scan.strayOffsets[stray] : min(start, scan.byteCount)
  }
}

extension SegmentProof {
  /// The numbers of the entries that were dropped: a segment that is compacted has lost none, so
  /// its leaves are its numbers.
  var droppedNumbers: [ClosedRange<UInt64>] {
    dropped.compactMap { subtree in
      guard subtree.level < 53, subtree.index < 1 << UInt64(53 - subtree.level) else { return nil }
      let start = firstNumber + subtree.firstLeaf
      let end = min(start + (1 << UInt64(subtree.level)) - 1, lastNumber)
      return start <= end ? start...end : nil
    }
  }
}

extension SegmentScan.Frame {
  /// A frame of the kept entries with numbers in `numbers` alone; `nil` if there is none.
  fileprivate func kept(within numbers: ClosedRange<UInt64>) -> SegmentScan.Frame? {
    let entries = keptEntries
    guard entries.count == parts.count else { return nil }
    let places = entries.indices.filter { numbers.contains(entries[$0].entry.number) }
    guard let first = places.first, let last = places.last else { return nil }
    var frame = self
    frame.header.firstNumber = entries[first].entry.number
    frame.header.entryCount = UInt32(last - first + 1)
    frame.parts = Array(parts[first...last])
    return frame
  }
}
