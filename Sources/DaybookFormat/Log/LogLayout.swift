/// The fixed numbers of format version 1. Source: `Docs/Format.md`.
package enum LogLayout {
  /// The first line of `FORMAT`, without the version.
  package static let formatName = "daybook"
  /// The newest format version that this code reads and writes.
  package static let version: UInt16 = 1
  /// The unit that tears are assumed to come in, and that copies are kept apart by.
  package static let pageByteCount = 4_096
  /// A segment's header: two pages, a copy in each.
  package static let segmentHeaderByteCount = 2 * pageByteCount
  /// Frames begin at multiples of this.
  package static let frameAlignment = 8
  /// An entry's own header in the payload of a frame.
  package static let entryHeaderByteCount = 12
  /// The most bytes of a frame's payload before compression: 16 MiB, so that a reader can hold it.
  package static let frameByteLimit = 16 << 20
  /// Where a new frame begins once a payload has this many bytes; one transaction is never split.
  package static let frameByteTarget = 64 << 10
  /// Bytes of entries that a stream holds in memory, written and not yet synced, before it syncs by
  /// itself.
  package static let unsyncedByteLimit = 4 << 20
  /// The longest account name in a header, in bytes of UTF-8.
  package static let accountByteLimit = 128
  /// The longest stream name, in bytes of ASCII.
  package static let streamNameByteLimit = 16
  /// The most streams of a log.
  package static let streamLimit = 8
  /// The highest number of an entry, a frame or a segment: 2^53 - 1, exact in every language.
  package static let numberLimit: UInt64 = 1 << 53 - 1
  /// The end of a segment's file name.
  package static let segmentSuffix = ".dbs"
  /// Payloads from this size on are compressed where the stream says so.
  package static let compressionThreshold = 1_024

  /// `offset`, rounded up to a multiple of `unit`.
  package static func align(_ offset: Int, to unit: Int) -> Int {
    (offset + unit - 1) / unit * unit
  }
}
