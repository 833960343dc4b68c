/// An entry that a compaction kept: its bytes, behind what its frame had told of it. In frames of
/// kept entries numbers have gaps, so each entry brings its own.
///
///     offset  size  field
///     0       8     the entry's number in its stream
///     8       8     the other stream's next number when it was written
///     16      8     clock of the frame that it was written in (hybrid)
///     24      ...   the entry's bytes
///
/// Source: `Docs/Format.md`, section "Kept entry".
package struct KeptEntry: Sendable, Hashable {
  /// Bytes before those of the entry.
  package static let prefixByteCount = 24

  /// The entry's number in its stream.
  package let number: UInt64
  /// The other stream's next number when it was written.
  package let otherNext: UInt64
  /// The clock of the frame that it was written in.
  package let clock: UInt64
  /// The entry's own bytes.
  package let bytes: ArraySlice<UInt8>

  /// The entry of this number.
  package init(number: UInt64, otherNext: UInt64, clock: UInt64, bytes: ArraySlice<UInt8>) {
    self.number = number
    self.otherNext = otherNext
    self.clock = clock
    self.bytes = bytes
  }

  /// The prefix and the bytes, as they stand in a payload.
  package var stored: [UInt8] {
    var writer = ByteWriter(capacity: KeptEntry.prefixByteCount + bytes.count)
    writer.append(number)
    writer.append(otherNext)
    writer.append(clock)
    writer.append(contentsOf: bytes)
    return writer.bytes
  }

  /// The entry that `stored` holds; `nil` if there is no prefix with numbers in range.
  package init?(stored: ArraySlice<UInt8>) {
    do throws(EntryError) {
      var reader = ByteReader(stored)
      let number: UInt64 = try reader.read()
      let otherNext: UInt64 = try reader.read()
      let clock: UInt64 = try reader.read()
      guard (1...LogLayout.numberLimit).contains(number), otherNext <= LogLayout.numberLimit else {
        return nil
      }
      self.init(number: number, otherNext: otherNext, clock: clock, bytes: reader.rest)
    } catch {
      return nil
    }
  }
}
