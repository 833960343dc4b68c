import CDaybook

/// The checksum of frames, headers and entries: CRC-32C (Castagnoli).
///
/// Source: RFC 3720, section 12.1 and appendix B.4.
package enum CRC32C {
  /// The checksum of `bytes`, continuing from `crc`.
  package static func checksum(_ bytes: UnsafeRawBufferPointer, from crc: UInt32 = 0) -> UInt32 {
    daybook_crc32c(crc, bytes.baseAddress, bytes.count)
  }

  /// The checksum of `bytes`, continuing from `crc`.
  package static func checksum(_ bytes: some Sequence<UInt8>, from crc: UInt32 = 0) -> UInt32 {
    let direct = bytes.withContiguousStorageIfAvailable {
      checksum(UnsafeRawBufferPointer($0), from: crc)
    }
    if let direct { return direct }
    return Array(bytes).withUnsafeBytes { checksum($0, from: crc) }
  }

  /// The checksum of `bytes` without the processor's instruction, to compare with.
  package static func portableChecksum(_ bytes: [UInt8], from crc: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { daybook_crc32c_portable(crc, $0.baseAddress, $0.count) }
  }
}
