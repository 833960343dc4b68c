import DaybookFormat

/// Gives changed bytes the checksums that they would have had, so that a fuzzer sees what lies
/// behind them.
enum Mending {
  /// A segment file: both header copies, and every frame with its payload and entries.
  static func segment(_ bytes: inout [UInt8]) {
    for offset in [0, LogLayout.pageByteCount] where bytes.count >= offset + 512 {
      seal(&bytes, from: offset, to: offset + 508)
    }
    let headers = [0, LogLayout.pageByteCount].compactMap { offset in
      try? SegmentHeader(copy: bytes.dropFirst(offset))
    }
    guard let salt = headers.first?.salt else { return }
    var offset = LogLayout.segmentHeaderByteCount
    while offset + FrameHeader.byteCount <= bytes.count {
      if number(bytes, at: offset) == FrameHeader.magic { frame(&bytes, at: offset, salt: salt) }
      offset += LogLayout.frameAlignment
    }
  }

  /// A slot of `HEAD`.
  static func slot(_ bytes: inout [UInt8], at offset: Int) {
    guard bytes.count >= offset + HeadSlot.byteCount else { return }
    seal(&bytes, from: offset, to: offset + 508)
  }

  private static func frame(_ bytes: inout [UInt8], at offset: Int, salt: Identifier) {
    let start = offset + FrameHeader.byteCount
    let stored = Int(number(bytes, at: offset + 12))
    let count = Int(number(bytes, at: offset + 16))
    if stored <= bytes.count - start {
      let end = start + stored
      if bytes[offset + 9] == 0 { entries(&bytes, from: start, to: end) }
      let checksum = CRC32C.checksum(bytes[start..<end])
      put(checksum, at: offset + 64, in: &bytes)
      var raw = checksum
      if bytes[offset + 9] == 1, count <= 1 << 20,
        let payload = FramePayload.decompress(bytes[start..<end], count: count)
      {
        raw = CRC32C.checksum(payload)
      }
      put(raw, at: offset + 68, in: &bytes)
    }
    var binding = ByteWriter(capacity: 24)
    binding.append(salt)
    binding.append(UInt64(offset))
    let body = CRC32C.checksum(bytes[(offset + 8)..<start])
    put(CRC32C.checksum(binding.bytes, from: body), at: offset + 4, in: &bytes)
  }

  private static func entries(_ bytes: inout [UInt8], from start: Int, to end: Int) {
    var offset = start
    while offset + LogLayout.entryHeaderByteCount <= end {
      let content = offset + LogLayout.entryHeaderByteCount
      let count = Int(number(bytes, at: offset))
      guard count <= end - content else { return }
      let kind = CRC32C.checksum([bytes[offset + 4]])
      put(
        CRC32C.checksum(bytes[content..<(content + count)], from: kind), at: offset + 8,
        in: &bytes)
      offset = content + count
    }
  }

  private static func seal(_ bytes: inout [UInt8], from start: Int, to end: Int) {
    put(CRC32C.checksum(bytes[start..<end]), at: end, in: &bytes)
  }

  private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) }
  }

  private static func put(_ number: UInt32, at offset: Int, in bytes: inout [UInt8]) {
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }
}
