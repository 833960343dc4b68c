import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

@Suite struct ChecksumTests {
  @Test func `CRC-32C gives the values of RFC 3720`() {
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(CRC32C.checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(CRC32C.checksum(Array(0..<32)) == 0x46DD_794E)
  }

  @Test func `the processor's instruction and the tables agree at every length`() {
    var random = SplitMix64(seed: 7)
    let bytes = (0..<301).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    for count in 0...300 {
      let part = Array(bytes.prefix(count))
      #expect(CRC32C.checksum(part) == CRC32C.portableChecksum(part), "\(count) bytes")
    }
  }

  private let salt = Identifier(high: 1, low: 2)

  private func segment(_ frame: [UInt8]) -> SegmentScan {
    let header = SegmentHeader(
      logID: .zero, incarnation: .zero, salt: salt, stream: "feed", ordinal: 1, isEchoed: false,
      firstNumber: 1, clock: 0, predecessor: nil, account: "")
    return SegmentScan(header.pages + frame)
  }

  private func frame(
    storedByteCount: UInt32 = 0, entryCount: UInt32 = 0, at offset: Int = 8_192,
    salt: Identifier? = nil, kind: UInt8 = 1
  ) -> [UInt8] {
    let header = FrameHeader(
      kind: .batch, storedByteCount: storedByteCount, rawByteCount: storedByteCount,
      entryCount: entryCount, frameNumber: 0, firstNumber: 1, durableNumber: 0, otherNext: 1,
      clock: 0)
    var bytes = header.bytes(at: offset, salt: salt ?? self.salt)
    bytes[8] = kind
    var binding = (salt ?? self.salt).bytes
    withUnsafeBytes(of: UInt64(offset).littleEndian) { binding += $0 }
    let checksum = CRC32C.checksum(binding, from: CRC32C.checksum(bytes[8..<80]))
    withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(4..<8, with: $0) }
    return bytes
  }

  @Test func `a frame counts only in its place of its own file`() {
    #expect(segment(frame()).frames.count == 1)
    #expect(segment(frame(at: 8_200)).frames.isEmpty)
    #expect(segment(frame(salt: Identifier(high: 1, low: 3))).frames.isEmpty)
  }

  @Test(arguments: [1, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
  func `lengths that can't be are no frame`(_ length: UInt32) {
    #expect(segment(frame(storedByteCount: length)).frames.isEmpty)
    #expect(segment(frame(entryCount: length)).frames.isEmpty)
  }

  @Test func `an unknown kind is skipped, or means a newer version, or is none`() {
    #expect(segment(frame(kind: 200)).frames.first?.isBatch == false)
    #expect(segment(frame(kind: 200)).newer == nil)
    #expect(segment(frame(kind: 9)).newer != nil)
    #expect(segment(frame(kind: 0)).frames.isEmpty)
  }
}
