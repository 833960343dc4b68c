import DaybookFormat

/// What opening writes before anybody else does: behind damage, and behind what a crash left.
extension StreamWriter {
  /// Goes on above `number`, behind damage; to be called before anything is written.
  func goOn(above number: UInt64) {
    guard number >= nextNumber, segment == nil else { return }
    lastBeforeDamage = lastBeforeDamage ?? nextNumber - 1
    nextNumber = number + 1
    durableNumber = number
  }

  /// Begins a segment with `gaps`, durable on return. After a failure the stream goes on without.
  func record(_ gaps: [Gap], otherNext: UInt64) throws(LogError) {
    if gaps.isEmpty { return }
    beginsAfterDamage = true
    defer { beginsAfterDamage = false }
    try begin()
    do throws(FileError) {
      let entries = gaps.map { [NewEntry(kind: EntryKind.gap.rawValue, bytes: $0.bytes)] }
      try putGroup(entries, otherNext: otherNext)
      try syncSegment()
    } catch {
      abandon(after: error)
      throw .notWritten(error)
    }
  }

  /// Begins a segment, so that what an earlier life left behind its valid end is settled; durable
  /// on return.
  func settleTail() throws(LogError) {
    if segment == nil, isUnsettled { try settle() }
  }

  /// Writes the entries of `frames`, of which one copy is left, into a new segment under their
  /// numbers, the first of which follows `number`; durable on return. The old ones count no more.
  func writeAgain(
    _ frames: ArraySlice<SegmentScan.Frame>, behind number: UInt64, validEnd: Int?
  ) throws(LogError) {
    nextNumber = number + 1
    durableNumber = number
    previous?.lastNumber = number
    if let validEnd { previous?.validEnd = UInt64(validEnd) }
    try begin()
    do throws(FileError) {
      // They keep their place among the entries of the other stream.
      try putGroup(
        frames.map { frame in
          frame.parts.map { NewEntry(kind: $0.kind, bytes: Array($0.bytes)) }
        }, otherNext: frames.first?.header.otherNext ?? 0)
      try syncSegment()
    } catch {
      abandon(after: error)
      throw LogError(error)
    }
  }
}
