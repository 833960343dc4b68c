import DaybookFormat

/// Reading what was before the last compaction.
extension LogDirectory {
  /// The directory as it is for a state at these numbers, as ``asOf(_:)`` gives it for a copy. To
  /// read is possible also inside of what a compaction made, as far as that dropped nothing.
  ///
  /// - Returns: `nil` if what made that state is not kept any more.
  package func past(_ ends: [String: UInt64]) throws(LogError) -> LogDirectory? {
    if let found = try asOf(ends) { return found }
    for stream in streams {
      let end = ends[stream.name] ?? 0
      for output in stream.serving where output.isCompacted {
        guard let first = try header(of: output.file)?.firstNumber else { return nil }
        if first > end { continue }
        let bytes = try bytes(of: output.file)
        guard let sealed = SealedScan(SegmentScan(bytes), bytes: bytes) else { return nil }
        if let dropped = sealed.firstDropped, dropped <= end { return nil }
      }
    }
    var found = self
    found.snapshots = snapshots.filter {
      $0.feedNumber <= ends["feed"] ?? 0 && $0.outboxNumber <= ends["outbox"] ?? 0
    }
    return found
  }
}

extension SealedScan {
  /// The number of the first entry that a compaction dropped; `nil` if it kept all.
  var firstDropped: UInt64? { proofs.flatMap(\.droppedNumbers).map(\.lowerBound).min() }
}
