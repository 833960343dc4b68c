import CLZ4

/// The entries of a frame as bytes, and their compression.
///
///     offset  size  field, for each entry
///     0       4     bytes of the entry
///     4       1     kind
///     5       3     zero
///     8       4     CRC-32C of the kind and the bytes: lifts single entries out of a damaged frame
///     12      ...   the bytes
///
/// Source: `Docs/Format.md`, section "Entries in a frame".
package enum FramePayload {
  /// One entry in a payload.
  package struct Part: Sendable {
    /// The entry's kind.
    package let kind: UInt8
    /// The entry's bytes.
    package let bytes: ArraySlice<UInt8>
    /// Where the entry's header begins in the payload.
    package let offset: Int

    /// An entry of this kind, found at `offset`.
    package init(kind: UInt8, bytes: ArraySlice<UInt8>, offset: Int) {
      self.kind = kind
      self.bytes = bytes
      self.offset = offset
    }
  }

  /// Appends one entry.
  package static func append(kind: UInt8, bytes: [UInt8], to payload: inout [UInt8]) {
    var header = ByteWriter(capacity: LogLayout.entryHeaderByteCount)
    header.append(UInt32(bytes.count))
    header.append(kind)
    header.appendZeros(3)
    header.append(CRC32C.checksum(bytes, from: CRC32C.checksum([kind])))
    payload.append(contentsOf: header.bytes)
    payload.append(contentsOf: bytes)
  }

  /// The `count` entries that fill `payload`; `nil` if it does not hold just those.
  package static func parts(of payload: [UInt8], count: Int) -> [Part]? {
    guard count <= payload.count / LogLayout.entryHeaderByteCount else { return nil }
    var parts: [Part] = []
    var offset = 0
    for _ in 0..<count {
      guard let part = part(of: payload[...], at: offset) else { return nil }
      parts.append(part)
      offset = part.bytes.endIndex
    }
    return offset == payload.count ? parts : nil
  }

  /// `payload` as an LZ4 block, if that saves a sixteenth; else `nil`.
  package static func compress(_ payload: [UInt8]) -> [UInt8]? {
    guard payload.count >= LogLayout.compressionThreshold else { return nil }
    let capacity = payload.count - payload.count / 16
    var block = [UInt8](repeating: 0, count: capacity)
    let written = payload.withUnsafeBytes { source in
      block.withUnsafeMutableBytes { target in
        LZ4_compress_default(
          source.bindMemory(to: CChar.self).baseAddress,
          target.bindMemory(to: CChar.self).baseAddress, Int32(payload.count), Int32(capacity))
      }
    }
    guard written > 0 else { return nil }
    block.removeLast(capacity - Int(written))
    return block
  }

  /// The `count` bytes that the LZ4 block `stored` holds; `nil` if it does not hold just those.
  package static func decompress(_ stored: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
    guard count <= LogLayout.frameByteLimit else { return nil }
    var payload = [UInt8](repeating: 0, count: count)
    let read = stored.withUnsafeBytes { source in
      payload.withUnsafeMutableBytes { target in
        LZ4_decompress_safe(
          source.bindMemory(to: CChar.self).baseAddress,
          target.bindMemory(to: CChar.self).baseAddress, Int32(stored.count), Int32(count))
      }
    }
    return read == Int32(count) ? payload : nil
  }
}
