package import DaybookFormat
import Foundation

/// Everything that the bytes of one segment hold: the one decoder of opening, verifying and
/// dumping.
///
/// It finds all valid frames and all bytes that are neither a frame nor zero; what that means is
/// judged by ``SegmentJudge``, which knows what came before and after.
package struct SegmentScan: Sendable {
  /// A valid frame and where it stands.
  package struct Frame: Sendable {
    /// Its first byte.
    package let offset: Int
    /// The header.
    package internal(set) var header: FrameHeader
    /// The payload as stored.
    package let stored: ArraySlice<UInt8>

    /// The payload before compression.
    package let payload: [UInt8]
    /// The entries in the payload.
    package internal(set) var parts: [FramePayload.Part]
    /// The file that it stands in, if that is another one than its report's.
    package internal(set) var file: String?
    /// Its entries were lifted out of damaged bytes, one by one.
    package var isSalvaged = false

    /// The offset behind its padding.
    package var end: Int { offset + header.frameByteCount }
    /// The number behind its last entry.
    package var nextNumber: UInt64 {
      if let kept = keptEntries.last { return kept.entry.number + 1 }
      return isBatch ? header.firstNumber + UInt64(header.entryCount) : header.firstNumber
    }
    /// It holds entries.
    package var isBatch: Bool {
      switch header.kind {
      case .batch, .echo, .kept, .keptEcho: return true
      case .idleMark, .closingMark, .seal, .proof, nil: return false
      }
    }
  }

  /// A frame whose header is whole and whose payload is not.
  package struct BrokenFrame: Sendable {
    /// Its first byte.
    package let offset: Int
    /// The header.
    package let header: FrameHeader
  }

  /// The size of the file.
  package let byteCount: Int
  /// The header, from the first copy that is whole; `nil` if none is.
  package let header: SegmentHeader?
  /// A copy of the header, or a frame, that a newer version wrote and that must be known.
  package let newer: SegmentHeader.Problem?
  /// The offsets of header copies that fail their checks, though the other one is whole.
  package let badHeaderCopies: [Int]
  /// All valid frames, in the order of the file. Without a header they are those that agree with
  /// each other.
  package let frames: [Frame]
  /// All frames of which only the header is whole, in the order of the file.
  package let broken: [BrokenFrame]
  /// Where bytes stand that are neither in a frame nor zero: the first byte of each run.
  package let strayOffsets: [Int]
  /// The file has no byte that is not zero.
  package let isBlank: Bool
  /// The bytes of payloads that were checked in vain: bounded, since headers that nobody wrote may
  /// all claim the same bytes.
  package private(set) var vainByteCount = 0

  /// The most payload bytes of a file of `byteCount` that are checked in vain: each four times, and
  /// two frames of the largest size. What a disk damages is checked once.
  package static func vainByteLimit(_ byteCount: Int) -> Int {
    4 * byteCount + 2 * LogLayout.frameByteLimit
  }

  /// Scans `bytes`, the whole of a file. O(*n*).
  package init(_ bytes: [UInt8]) {
    byteCount = bytes.count
    let limit = SegmentScan.vainByteLimit(bytes.count)
    var budget = limit
    defer { vainByteCount = limit - budget }
    var header: SegmentHeader?
    var newer: SegmentHeader.Problem?
    var bad: [Int] = []
    for offset in [0, LogLayout.pageByteCount] {
      do throws(SegmentHeader.Problem) {
        let copy = try SegmentHeader(copy: bytes.dropFirst(offset))
        if header == nil { header = copy } else if header != copy { bad.append(offset) }
      } catch {
        bad.append(offset)
        if case .newer = error { newer = error }
      }
    }
    self.header = header
    badHeaderCopies = header == nil ? [] : bad
    isBlank = SegmentScan.firstNonZero(bytes, 0, bytes.count) == nil
    guard let header else {
      self.newer = newer
      let binding = newer == nil && !isBlank ? SegmentScan.binding(bytes, &budget) : nil
      let body = binding.map { SegmentScan.body(bytes, binding: $0, &budget) }
      frames = body?.frames ?? []
      broken = body?.broken ?? []
      strayOffsets = body?.strays ?? []
      return
    }
    var strays: [Int] = []
    for page in [0, LogLayout.pageByteCount] where !bad.contains(page) {
      let end = min(page + LogLayout.pageByteCount, bytes.count)
      let start = min(page + SegmentHeader.byteCount, end)
      if let stray = SegmentScan.firstNonZero(bytes, start, end) { strays.append(stray) }
    }
    let body = SegmentScan.body(bytes, binding: FrameHeader.binding(of: header.salt), &budget)
    // A bad copy may look like anything; only a frame's checksum is bound to this file.
    self.newer =
      body.hasUnknownKind
      ? .newer(major: LogLayout.version + 1, features: header.incompatibleFeatures) : nil
    frames = body.frames
    broken = body.broken
    strayOffsets = strays + body.strays
  }

  /// What stands behind the header.
  private struct Body {
    var frames: [Frame] = []
    var broken: [BrokenFrame] = []
    var strays: [Int] = []
    var hasUnknownKind = false
  }

  /// The number that the frames of a file without a header agree in: that of most frames with a
  /// whole payload, of equally many the first one's.
  private static func binding(_ bytes: [UInt8], _ budget: inout Int) -> UInt32? {
    var votes: [UInt32: (count: Int, first: Int)] = [:]
    var offset = LogLayout.segmentHeaderByteCount
    while let next = nextMagic(bytes, from: offset) {
      offset = next + LogLayout.frameAlignment
      guard let binding = FrameHeader.binding(ofFrame: bytes[next...], offset: next),
        case .whole(let frame) = frame(bytes, at: next, binding: binding, &budget)
      else { continue }
      guard !frame.parts.isEmpty else {
        budget -= frame.stored.count
        continue
      }
      votes[binding, default: (0, next)].count += 1
      offset = frame.end
    }
    return votes.max { ($0.value.count, -$0.value.first) < ($1.value.count, -$1.value.first) }?.key
  }

  private static func body(
    _ bytes: [UInt8], binding: UInt32, _ budget: inout Int
  ) -> Body {
    var body = Body()
    var offset = LogLayout.segmentHeaderByteCount
    var free = offset
    while let next = nextMagic(bytes, from: offset) {
      let read = frame(bytes, at: next, binding: binding, &budget)
      if case .broken(let frame) = read { body.broken.append(frame) }
      guard case .whole(let frame) = read else {
        offset = next + LogLayout.frameAlignment
        continue
      }
      if let stray = firstNonZero(bytes, free, next) { body.strays.append(stray) }
      let payloadEnd = frame.offset + FrameHeader.byteCount + frame.stored.count
      if let stray = firstNonZero(bytes, payloadEnd, min(frame.end, bytes.count)) {
        body.strays.append(stray)
      }
      if frame.header.isMandatoryUnknown { body.hasUnknownKind = true }
      body.frames.append(frame)
      offset = frame.end
      free = frame.end
    }
    if let stray = firstNonZero(bytes, free, bytes.count) { body.strays.append(stray) }
    return body
  }

  private enum Read {
    case none
    case broken(BrokenFrame)
    case whole(Frame)
  }

  /// What stands at `offset`; what is checked in vain is taken from `budget`.
  private static func frame(
    _ bytes: [UInt8], at offset: Int, binding: UInt32, _ budget: inout Int
  ) -> Read {
    guard let header = FrameHeader(bytes: bytes[offset...], offset: offset, binding: binding)
    else { return .none }
    let broken = Read.broken(BrokenFrame(offset: offset, header: header))
    let start = offset + FrameHeader.byteCount
    let end = start + Int(header.storedByteCount)
    guard end <= bytes.count, budget > 0 else { return broken }
    let stored = bytes[start..<end]
    let before = budget
    budget -= stored.count
    guard CRC32C.checksum(stored) == header.storedChecksum else { return broken }
    let payload: [UInt8]?
    switch header.codec {
    case .raw: payload = Array(stored)
    case .lz4:
      budget -= Int(header.rawByteCount)
      payload = FramePayload.decompress(stored, count: Int(header.rawByteCount))
    }
    guard let payload, payload.count == Int(header.rawByteCount),
      CRC32C.checksum(payload) == header.rawChecksum
    else { return broken }
    let parts: [FramePayload.Part]?
    switch header.kind {
    case .seal, .proof: parts = header.entryCount == 0 ? [] : nil
    default: parts = FramePayload.parts(of: payload, count: Int(header.entryCount))
    }
    guard header.kind == nil || parts != nil else { return broken }
    budget = before
    return .whole(
      Frame(offset: offset, header: header, stored: stored, payload: payload, parts: parts ?? []))
  }

  /// The next aligned offset at which a frame's magic stands.
  private static func nextMagic(_ bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return nil }
      let first = Int32(FrameHeader.magic & 0xFF)
      var offset = start
      // The C library's search, since most of a file is zeros or payload.
      while offset + FrameHeader.byteCount <= buffer.count,
        let found = memchr(base + offset, first, buffer.count - offset)
      {
        offset = UnsafeRawPointer(found) - base
        if offset % LogLayout.frameAlignment == 0, offset + FrameHeader.byteCount <= buffer.count,
          UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            == FrameHeader.magic
        {
          return offset
        }
        offset += 1
      }
      return nil
    }
  }

  /// The offset of the first byte in `start ..< end` that is not zero.
  static func firstNonZero(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int? {
    guard start < end else { return nil }
    return bytes.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return nil }
      // A range is all zero if its first byte is and each byte equals the one before.
      func isZero(_ low: Int, _ high: Int) -> Bool {
        buffer[low] == 0 && memcmp(base + low, base + low + 1, high - low - 1) == 0
      }
      if isZero(start, end) { return nil }
      var (low, high) = (start, end)
      while high - low > 1 {
        let middle = low + (high - low) / 2
        if isZero(low, middle) { low = middle } else { high = middle }
      }
      return low
    }
  }
}

extension SegmentScan {
  /// The first byte that is not as it must be in a file that was written at once, as far as bytes
  /// alone tell; the end, where they don't.
  var firstBad: Int {
    if header == nil { return 0 }
    return [strayOffsets.first, badHeaderCopies.first].compactMap { $0 }.min() ?? byteCount
  }
}
