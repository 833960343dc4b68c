/// The 80 bytes before the payload of a frame. All numbers are little-endian.
///
///     offset  size  field
///     0       4     magic "DBF1"
///     4       4     CRC-32C of bytes 8 to 79, the segment's salt, and the frame's offset (8 bytes)
///     8       1     kind: 1 batch, 2 echo, 3 idle mark, 4 closing mark, 5 seal, 6 kept, 7 proof,
///                   8 echo of a kept; 0 is never valid
///     9       1     codec: 0 raw, 1 LZ4 block
///     10      2     flags, zero
///     12      4     payload bytes as stored
///     16      4     payload bytes before compression
///     20      4     entries
///     24      8     frame number in the file, from 0; an echo carries its original's
///     32      8     number of the first entry; of the next entry in a mark
///     40      8     durable number: all entries of the stream up to it were synced before
///     48      8     the other stream's next number
///     56      8     clock (hybrid)
///     64      4     CRC-32C of the payload as stored
///     68      4     CRC-32C of the payload before compression
///     72      8     zero
///     80      ...   the payload, then zeros to a multiple of 8
///
/// Source: `Docs/Format.md`, section "Frame".
package struct FrameHeader: Sendable, Hashable {
  /// What a frame is. Kinds from 128 on may be skipped by a reader that does not know them.
  package enum Kind: UInt8, Sendable {
    case batch = 1
    case echo = 2
    case idleMark = 3
    case closingMark = 4
    /// What the file holds, before its closing marks.
    case seal = 5
    /// A batch of a compaction output, each entry with its own number.
    case kept = 6
    /// What a compaction output knows of an original segment.
    case proof = 7
    /// The echo of a ``kept``.
    case keptEcho = 8
  }

  /// How a payload is stored.
  package enum Codec: UInt8, Sendable {
    case raw = 0
    case lz4 = 1
  }

  /// Bytes of the header.
  package static let byteCount = 80
  /// "DBF1" as a little-endian number.
  package static let magic: UInt32 = 0x3146_4244

  /// What the frame is; `nil` for a kind that is not known.
  package var kind: Kind?
  /// A later version made the kind up, and it may not be skipped.
  package private(set) var isMandatoryUnknown = false
  /// How the payload is stored.
  package var codec: Codec
  /// Payload bytes as stored.
  package var storedByteCount: UInt32
  /// Payload bytes before compression.
  package var rawByteCount: UInt32
  /// Entries in the payload.
  package var entryCount: UInt32
  /// The frame's number in its file.
  package var frameNumber: UInt64
  /// The number of the first entry, or of the next one for a mark.
  package var firstNumber: UInt64
  /// All entries of the stream up to this number had been synced when the frame was built.
  package var durableNumber: UInt64
  /// The other stream's next number: all before it were durable.
  package var otherNext: UInt64
  /// The clock when the frame was built.
  package var clock: UInt64
  /// CRC-32C of the payload as stored.
  package var storedChecksum: UInt32
  /// CRC-32C of the payload before compression.
  package var rawChecksum: UInt32

  /// A header of these parts.
  package init(
    kind: Kind, codec: Codec = .raw, storedByteCount: UInt32 = 0, rawByteCount: UInt32 = 0,
    entryCount: UInt32 = 0, frameNumber: UInt64, firstNumber: UInt64, durableNumber: UInt64,
    otherNext: UInt64, clock: UInt64, storedChecksum: UInt32 = 0, rawChecksum: UInt32 = 0
  ) {
    self.kind = kind
    self.codec = codec
    self.storedByteCount = storedByteCount
    self.rawByteCount = rawByteCount
    self.entryCount = entryCount
    self.frameNumber = frameNumber
    self.firstNumber = firstNumber
    self.durableNumber = durableNumber
    self.otherNext = otherNext
    self.clock = clock
    self.storedChecksum = storedChecksum
    self.rawChecksum = rawChecksum
  }

  /// The bytes that the frame takes in the file, with its padding.
  package var frameByteCount: Int {
    LogLayout.align(
      FrameHeader.byteCount + Int(storedByteCount), to: LogLayout.frameAlignment)
  }

  /// The header's bytes for a frame at `offset` of the segment with `salt`.
  package func bytes(at offset: Int, salt: Identifier) -> [UInt8] {
    var body = ByteWriter(capacity: FrameHeader.byteCount)
    body.append(kind?.rawValue ?? 0)
    body.append(codec.rawValue)
    body.append(UInt16(0))
    body.append(storedByteCount)
    body.append(rawByteCount)
    body.append(entryCount)
    body.append(frameNumber)
    body.append(firstNumber)
    body.append(durableNumber)
    body.append(otherNext)
    body.append(clock)
    body.append(storedChecksum)
    body.append(rawChecksum)
    body.append(UInt64(0))
    var writer = ByteWriter(capacity: FrameHeader.byteCount)
    writer.append(FrameHeader.magic)
    writer.append(FrameHeader.checksum(body.bytes[...], offset: offset, salt: salt))
    writer.append(contentsOf: body.bytes)
    return writer.bytes
  }

  /// The header at the front of `bytes`, which stand at `offset`; `nil` if they are none.
  ///
  /// Lengths are checked against the limits, not against what follows.
  package init?(bytes: ArraySlice<UInt8>, offset: Int, salt: Identifier) {
    self.init(bytes: bytes, offset: offset, binding: FrameHeader.binding(of: salt))
  }

  /// The same, for a file whose salt has this ``binding(of:)``.
  package init?(bytes: ArraySlice<UInt8>, offset: Int, binding: UInt32) {
    guard bytes.count >= FrameHeader.byteCount else { return nil }
    let body = bytes.dropFirst(8).prefix(FrameHeader.byteCount - 8)
    do throws(EntryError) {
      var reader = ByteReader(bytes)
      guard try reader.read(UInt32.self) == FrameHeader.magic,
        try reader.read(UInt32.self)
          == FrameHeader.checksum(body, offset: offset, salt: .zero) ^ binding
      else { return nil }
      let kindCode: UInt8 = try reader.read()
      let codecCode: UInt8 = try reader.read()
      let flags: UInt16 = try reader.read()
      guard kindCode != 0,
        let codec = Codec(rawValue: codecCode), flags == 0
      else { return nil }
      kind = Kind(rawValue: kindCode)
      isMandatoryUnknown = kind == nil && kindCode < 0x80
      self.codec = codec
      storedByteCount = try reader.read()
      rawByteCount = try reader.read()
      entryCount = try reader.read()
      frameNumber = try reader.read()
      firstNumber = try reader.read()
      durableNumber = try reader.read()
      otherNext = try reader.read()
      clock = try reader.read()
      storedChecksum = try reader.read()
      rawChecksum = try reader.read()
      try reader.readZeros(8)
    } catch {
      return nil
    }
    guard storedByteCount <= UInt32(LogLayout.frameByteLimit),
      rawByteCount <= UInt32(LogLayout.frameByteLimit),
      frameNumber <= LogLayout.numberLimit, (1...LogLayout.numberLimit).contains(firstNumber),
      durableNumber <= LogLayout.numberLimit, otherNext <= LogLayout.numberLimit
    else { return nil }
  }

  /// What a file's salt adds to the checksum of each of its frame headers. CRC-32C is linear, so
  /// that is one number, whatever the header holds.
  package static func binding(of salt: Identifier) -> UInt32 {
    checksum([], offset: 0, salt: salt) ^ checksum([], offset: 0, salt: .zero)
  }

  /// The number by which the header at the front of `bytes`, which stand at `offset`, would be one
  /// of its file: all frames of a file agree in it, even if the salt is lost.
  package static func binding(ofFrame bytes: ArraySlice<UInt8>, offset: Int) -> UInt32? {
    guard bytes.count >= FrameHeader.byteCount else { return nil }
    let body = bytes.dropFirst(8).prefix(FrameHeader.byteCount - 8)
    var reader = ByteReader(bytes.dropFirst(4))
    guard let stored = try? reader.read(UInt32.self) else { return nil }
    return stored ^ checksum(body, offset: offset, salt: .zero)
  }

  private static func checksum(
    _ body: ArraySlice<UInt8>, offset: Int, salt: Identifier
  ) -> UInt32 {
    var binding = ByteWriter(capacity: 24)
    binding.append(salt)
    binding.append(UInt64(offset))
    return CRC32C.checksum(binding.bytes, from: CRC32C.checksum(body))
  }
}
