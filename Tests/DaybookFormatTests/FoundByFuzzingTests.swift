import DaybookFormat
import Testing

/// What the fuzzers of `Tests/Fuzz` found, each as the smallest input that shows it.
@Suite struct `found by fuzzing` {
  /// `bytes` with 0xFF at `offset` and the checksum of the first 508 bytes behind them.
  private func changed(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
    var bytes = Array(bytes.prefix(508))
    bytes[offset] = 0xFF
    var writer = ByteWriter()
    writer.append(contentsOf: bytes)
    writer.append(CRC32C.checksum(bytes))
    return writer.bytes
  }

  @Test func `a header or a slot whose stream has no name in UTF-8 is none`() throws {
    let header = SegmentHeader(
      logID: .zero, incarnation: .zero, salt: .zero, stream: "feed", ordinal: 1, isEchoed: false,
      firstNumber: 1, clock: 0, predecessor: nil, account: "")
    let again = try SegmentHeader(copy: header.pages[...])
    #expect(again == header)
    let bytes = changed(header.pages, at: 88)
    #expect(throws: SegmentHeader.Problem.damaged) { _ = try SegmentHeader(copy: bytes[...]) }
    #expect(HeadSlot(bytes: changed(ByteProbe.head.bytes, at: 24)[...]) == nil)
  }
}
