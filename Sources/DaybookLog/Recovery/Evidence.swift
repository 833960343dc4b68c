import DaybookFormat

/// The bytes that findings of one file are about.
struct Evidence {
  private let bytes: [UInt8]
  private let frames: [SegmentScan.Frame]

  /// The evidence in the file of the content `bytes`.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    frames = SegmentScan(bytes).frames
  }

  /// The bytes from the first wrong one up to the next whole frame, without the zeros at their end;
  /// of bytes that are all zero, up to a page. Empty where the file ends before.
  func bytes(of finding: LogFinding) -> ArraySlice<UInt8> {
    let range = range(of: finding)
    guard !range.isEmpty else { return [] }
    var end = range.upperBound
    while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
    let least = finding.kind == .tornTail ? 0 : LogLayout.pageByteCount
    return bytes[range.lowerBound..<max(end, min(range.lowerBound + least, range.upperBound))]
  }

  private func range(of finding: LogFinding) -> Range<Int> {
    let start = min(Int(clamping: finding.offset), bytes.count)
    switch finding.kind {
    case .foreign, .settledTail:
      // Frames in it are whole, and no part of the log.
      return (finding.kind == .foreign ? 0 : start)..<bytes.count
    case .entry:
      let frame = frames.first { $0.offset == start }
      return start..<min(frame?.end ?? bytes.count, bytes.count)
    default:
      return start..<(next(behind: start) ?? bytes.count)
    }
  }

  /// The first frame behind `offset`: found by halving.
  private func next(behind offset: Int) -> Int? {
    let place = frames.halved { $0.offset <= offset }
    return place < frames.count ? frames[place].offset : nil
  }
}
