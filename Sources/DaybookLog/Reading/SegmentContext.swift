import DaybookFormat

/// What is known of a segment from outside its file.
struct SegmentContext {
  let file: String
  let stream: String
  let ordinal: UInt64
  /// The number that the segment must begin with.
  let next: UInt64
  /// What the header of the next segment says of it.
  var successor: SegmentHeader.Predecessor?
  /// The number before the first one of a later segment: nothing above it counts.
  var lastNumber: UInt64?
  /// Files between this one and that later segment may have held the numbers up to ``lastNumber``.
  var isFollowedByUnknown = false
  /// The highest number that anything outside knows to be durable.
  var witness: UInt64
  /// What `HEAD` says, if it names this segment.
  var head: HeadSlot.Stream?
  /// Entries are lifted out of damaged frames, and out of a file without a header.
  var isSalvaged = false
  /// The log that the segment must belong to; `nil` if that can't be told.
  var logID: Identifier?
  /// No frame that counts begins at or behind this offset.
  var limit: Int { successor.map { Int(clamping: $0.validEnd) } ?? .max }
  /// What earlier openings found.
  var known = KnownDamage(stream: "")
}
