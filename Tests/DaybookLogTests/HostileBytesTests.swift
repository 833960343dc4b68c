import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Bytes that no writer of ours made, with checksums that are right.
@Suite struct HostileBytesTests {
  private static let salt = Identifier(high: 1, low: 2)

  private static func segment(_ header: FrameHeader, _ stored: [UInt8]) -> [UInt8] {
    let pages = SegmentHeader(
      logID: Identifier(high: 3, low: 4), incarnation: Identifier(high: 5, low: 6), salt: salt,
      stream: "feed", ordinal: 1, isEchoed: false, firstNumber: 1, clock: 0, predecessor: nil,
      account: "rep-7")
    let bytes = pages.pages + header.bytes(at: 8192, salt: salt) + stored
    return bytes + [UInt8](repeating: 0, count: 64)
  }

  private static func header(
    stored: UInt32, raw: UInt32, entries: UInt32, codec: FrameHeader.Codec = .raw,
    _ bytes: [UInt8]
  ) -> FrameHeader {
    FrameHeader(
      kind: .batch, codec: codec, storedByteCount: stored, rawByteCount: raw,
      entryCount: entries, frameNumber: 0, firstNumber: 1, durableNumber: 0, otherNext: 0,
      clock: 0, storedChecksum: CRC32C.checksum(bytes), rawChecksum: CRC32C.checksum(bytes))
  }

  // F55, F57
  @Test(arguments: [0, 1, 11, 1 << 24, (1 << 24) + 1, 0x7FFF_FFFF, 0x8000_0000, .max] as [UInt32])
  func `a length that is not so is no frame`(length: UInt32) {
    let bytes = [UInt8](repeating: 9, count: 40)
    for header in [
      Self.header(stored: length, raw: 40, entries: 1, bytes),
      Self.header(stored: 40, raw: length, entries: 1, bytes),
      Self.header(stored: 40, raw: 40, entries: length, bytes),
      Self.header(stored: 40, raw: length, entries: 1, codec: .lz4, bytes),
      Self.header(stored: length, raw: length, entries: length, codec: .lz4, bytes),
    ] {
      #expect(SegmentScan(Self.segment(header, bytes)).frames.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `headers that all claim the same bytes cost no more than the file`(hasHeader: Bool) {
    let count = 4 << 20
    var bytes = Self.segment(Self.header(stored: 0, raw: 0, entries: 0, []), [])
    if !hasHeader { bytes = [UInt8](repeating: 7, count: LogLayout.segmentHeaderByteCount) }
    while bytes.count + FrameHeader.byteCount <= count {
      let claimed = UInt32(min(count - bytes.count - FrameHeader.byteCount, 1 << 20))
      let header = Self.header(stored: claimed, raw: claimed, entries: 1, [])
      bytes += header.bytes(at: bytes.count, salt: Self.salt)
    }
    let scan = SegmentScan(bytes)
    let limit = SegmentScan.vainByteLimit(bytes.count) + LogLayout.frameByteLimit
    #expect((1..<limit).contains(scan.vainByteCount))
    #expect(scan.frames.allSatisfy { $0.parts.isEmpty })
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1, 20_000])
  func `frame numbers of an output may be anything`(count: Int) throws {
    let log = try CompactedLog()
    let bytes = try #require(log.disk.content(of: log.output))
    let header = try #require(SegmentScan(bytes).header)
    var forged = header.pages
    for place in 0..<count {
      let number = UInt64(place + 1)
      let kept = KeptEntry(number: number, otherNext: 0, clock: 0, bytes: [1])
      var payload: [UInt8] = []
      FramePayload.append(kind: 1, bytes: kept.stored, to: &payload)
      var frame = Self.header(
        stored: UInt32(payload.count), raw: UInt32(payload.count), entries: 1, payload)
      frame.kind = .kept
      frame.frameNumber = count == 1 ? LogLayout.numberLimit : UInt64(place) * 2
      forged += frame.bytes(at: forged.count, salt: header.salt) + payload
      let end = LogLayout.align(forged.count, to: LogLayout.frameAlignment)
      forged += [UInt8](repeating: 0, count: end - forged.count)
    }
    log.disk.put(forged, at: log.output)
    for input in log.outcome.inputs.dropFirst() { log.disk.drop(log.path(input)) }
    let (numbers, findings) = try log.read()
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
    #expect(count > 1 || findings.contains { $0.isLoss })
  }

  @Test func `an entry whose length is not so makes no frame`() {
    for length in [0, 27, 29, 0x7FFF_FFFF, .max] as [UInt32] {
      var payload: [UInt8] = []
      FramePayload.append(kind: 1, bytes: [UInt8](repeating: 5, count: 28), to: &payload)
      withUnsafeBytes(of: length.littleEndian) { payload.replaceSubrange(0..<4, with: $0) }
      let header = Self.header(stored: 40, raw: 40, entries: 1, payload)
      #expect(SegmentScan(Self.segment(header, payload)).frames.isEmpty, "\(length)")
    }
  }

  @Test func `random blocks never decompress to what was not promised`() {
    var generator = SeededBytes(seed: 4)
    for _ in 0..<2000 {
      let block = generator.bytes(Int(generator.next() % 64))
      let count = Int(generator.next() % 4096)
      if let raw = FramePayload.decompress(block[...], count: count) { #expect(raw.count == count) }
    }
  }

  @Test func `a compressed payload comes back and a random one stays raw`() {
    let text = [UInt8](String(repeating: "an order of 12 boxes, ", count: 400).utf8)
    let block = FramePayload.compress(text)
    #expect(block.map { $0.count < text.count / 4 } == true)
    #expect(block.flatMap { FramePayload.decompress($0[...], count: text.count) } == text)
    var generator = SeededBytes(seed: 1)
    #expect(FramePayload.compress(generator.bytes(4096)) == nil)
    #expect(FramePayload.compress([UInt8](repeating: 0, count: 1023)) == nil)
  }

  @Test func `a frame of another file or another place is none`() {
    var payload: [UInt8] = []
    FramePayload.append(kind: 1, bytes: [1, 2, 3, 4], to: &payload)
    let header = Self.header(
      stored: UInt32(payload.count), raw: UInt32(payload.count), entries: 1, payload)
    let good = Self.segment(header, payload)
    #expect(SegmentScan(good).frames.count == 1)
    let moved = good[..<8192] + [UInt8](repeating: 0, count: 8) + good[8192...]
    #expect(SegmentScan(Array(moved)).frames.isEmpty)
    var other = header.bytes(at: 8192, salt: Identifier(high: 1, low: 3)) + payload
    other += [UInt8](repeating: 0, count: 64)
    #expect(SegmentScan(Array(good[..<8192]) + other).frames.isEmpty)
  }
}

/// Bytes from a seed.
private struct SeededBytes {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 24
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
