import DaybookFormat

/// The bytes of a segment up to a frame: what is copied of a file that is still written to, and of
/// the file in which a restore ends.
///
/// Bytes already written never change, so a file cut behind a whole group is what a crash at that
/// time could have left, and any reader takes it.
enum OpenTail {
  /// Whether every frame that was begun is whole, with its echo, and nothing else stands in the
  /// file: then no write was under way while it was read.
  static func isOrderly(_ scan: SegmentScan) -> Bool {
    guard let header = scan.header, scan.strayOffsets.isEmpty, scan.badHeaderCopies.isEmpty else {
      return scan.isBlank
    }
    var originals: [UInt64: Int] = [:]
    var echoes: Set<UInt64> = []
    for frame in scan.frames {
      if frame.header.kind == .echo {
        echoes.insert(frame.header.frameNumber)
      } else {
        originals[frame.header.frameNumber] = frame.offset
      }
    }
    guard originals.keys.allSatisfy({ $0 < UInt64(originals.count) }) else { return false }
    guard header.isEchoed else { return true }
    return scan.frames.allSatisfy {
      $0.header.kind != .batch || echoes.contains($0.header.frameNumber)
    }
  }

  /// The file of `bytes`, scanned as `scan`, cut behind frame `last`; `nil` if it has no such
  /// frame. In an echoed file the group is written anew with the echoes of the frames that stay, so
  /// that each still stands in two pages.
  static func bytes(
    _ bytes: [UInt8], _ scan: SegmentScan, through last: UInt64
  ) -> [UInt8]? {
    guard let header = scan.header else { return nil }
    let copies = Copies(scan)
    guard let end = copies[last] else { return nil }
    guard header.isEchoed else {
      return end.offset < bytes.count ? Array(bytes.prefix(end.end)) : nil
    }
    var first = last
    while first > 0, copies.isSameGroup(first - 1, first) { first -= 1 }
    let before = scan.frames.filter { $0.header.frameNumber < first }.map(\.end).max()
    let start = LogLayout.align(
      before ?? LogLayout.segmentHeaderByteCount, to: LogLayout.pageByteCount)
    var result = Array(bytes.prefix(start))
    result += [UInt8](repeating: 0, count: max(0, start - result.count))
    let group = (first...last).compactMap { copies[$0] }
    for kind in [FrameHeader.Kind.batch, .echo] {
      for frame in group {
        var copy = frame.header
        copy.kind = kind
        let offset = result.count
        result += copy.bytes(at: offset, salt: header.salt)
        result += frame.stored
        result += [UInt8](repeating: 0, count: offset + copy.frameByteCount - result.count)
      }
      let end = LogLayout.align(result.count, to: LogLayout.pageByteCount)
      result += [UInt8](repeating: 0, count: end - result.count)
    }
    return result
  }
}

/// The frames of a file by number, each with its echo.
private struct Copies {
  private var originals: [UInt64: SegmentScan.Frame] = [:]
  private var echoes: [UInt64: SegmentScan.Frame] = [:]

  init(_ scan: SegmentScan) {
    for frame in scan.frames where frame.isBatch {
      if frame.header.kind == .echo {
        echoes[frame.header.frameNumber] = frame
      } else {
        originals[frame.header.frameNumber] = frame
      }
    }
  }

  /// A whole copy of frame `number`.
  subscript(_ number: UInt64) -> SegmentScan.Frame? { originals[number] ?? echoes[number] }

  /// Whether frame `number` and the next one, `next`, were written in one group: its echoes come
  /// behind all of its frames.
  func isSameGroup(_ number: UInt64, _ next: UInt64) -> Bool {
    if let echo = echoes[number], let original = originals[next] {
      return echo.offset > original.offset
    }
    if let echo = echoes[number], let twin = echoes[next] { return echo.end == twin.offset }
    if let original = originals[number], let twin = originals[next] {
      return original.end == twin.offset
    }
    return false
  }
}
