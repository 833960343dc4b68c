/// One of the two 512-byte slots of `HEAD`: what the writer knew to be durable. Advisory: a slot
/// that fails its checksum is as good as none, but one that holds is a witness.
///
///     offset  size  field
///     0       8     magic "DBHEAD01"
///     8       8     count of writes; the slot with the higher one is newer
///     16      8     streams
///     24      8x48  for each stream: name (16, zero-padded), ordinal, durable number, valid end,
///                   closed (1 or 0)
///     408     100   zero
///     508     4     CRC-32C of bytes 0 to 507
///
/// Source: `Docs/Format.md`, section "HEAD".
package struct HeadSlot: Sendable, Hashable {
  /// What a slot says of one stream.
  package struct Stream: Sendable, Hashable {
    /// The stream's name.
    package var name: String
    /// The ordinal of the segment written last.
    package var ordinal: UInt64
    /// All entries up to this number were synced.
    package var durableNumber: UInt64
    /// The offset behind the last synced byte.
    package var validEnd: UInt64
    /// The segment ends with its closing marks.
    package var isClosed: Bool

    /// What is known of the stream `name`.
    package init(
      name: String, ordinal: UInt64, durableNumber: UInt64, validEnd: UInt64, isClosed: Bool
    ) {
      self.name = name
      self.ordinal = ordinal
      self.durableNumber = durableNumber
      self.validEnd = validEnd
      self.isClosed = isClosed
    }
  }

  /// Bytes of a slot.
  package static let byteCount = 512
  private static let magic = Array("DBHEAD01".utf8)

  /// Grows with each write.
  package var sequence: UInt64
  /// The streams, at most eight.
  package var streams: [Stream]

  /// The slot of write `sequence`.
  package init(sequence: UInt64, streams: [Stream]) {
    self.sequence = sequence
    self.streams = streams
  }

  /// The slot's bytes.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: HeadSlot.byteCount)
    writer.append(contentsOf: HeadSlot.magic)
    writer.append(sequence)
    writer.append(UInt64(streams.count))
    for stream in streams {
      let name = Array(stream.name.utf8.prefix(LogLayout.streamNameByteLimit))
      writer.append(contentsOf: name)
      writer.appendZeros(LogLayout.streamNameByteLimit - name.count)
      writer.append(stream.ordinal)
      writer.append(stream.durableNumber)
      writer.append(stream.validEnd)
      writer.append(UInt64(stream.isClosed ? 1 : 0))
    }
    writer.appendZeros(508 - writer.count)
    writer.append(CRC32C.checksum(writer.bytes))
    return writer.bytes
  }

  /// The slot that `bytes` hold; `nil` if they hold none.
  package init?(bytes: ArraySlice<UInt8>) {
    guard bytes.count == HeadSlot.byteCount, bytes.prefix(8).elementsEqual(HeadSlot.magic) else {
      return nil
    }
    do throws(EntryError) {
      var end = ByteReader(bytes.dropFirst(508))
      guard try end.read(UInt32.self) == CRC32C.checksum(bytes.prefix(508)) else { return nil }
      var reader = ByteReader(bytes.dropFirst(8))
      sequence = try reader.read()
      let count: UInt64 = try reader.read()
      guard count <= UInt64(LogLayout.streamLimit) else { return nil }
      streams = []
      for _ in 0..<count {
        let name = try reader.read(count: LogLayout.streamNameByteLimit).prefix { $0 != 0 }
        let ordinal: UInt64 = try reader.read()
        let durable: UInt64 = try reader.read()
        let validEnd: UInt64 = try reader.read()
        guard durable <= LogLayout.numberLimit, ordinal <= LogLayout.numberLimit,
          let text = String(validating: name, as: UTF8.self)
        else { return nil }
        streams.append(
          Stream(
            name: text, ordinal: ordinal, durableNumber: durable, validEnd: validEnd,
            isClosed: try reader.read(UInt64.self) == 1))
      }
    } catch {
      return nil
    }
  }
}
