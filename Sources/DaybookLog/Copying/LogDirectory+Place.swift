import DaybookFormat

/// Looking back in a log of which parts were compacted.
extension LogDirectory {
  /// The directory as it is for a state at these numbers, the last ones of the streams that count:
  /// without the snapshots that hold more.
  ///
  /// - Returns: `nil` if what made that state is not kept any more: a compaction dropped what was
  ///   of no use behind it.
  package func asOf(_ ends: [String: UInt64]) throws(LogError) -> LogDirectory? {
    for stream in streams {
      guard let output = stream.serving.last(where: \.isCompacted),
        try lastNumber(of: output, in: stream) > ends[stream.name] ?? 0
      else { continue }
      return nil
    }
    var found = self
    found.snapshots = snapshots.filter {
      $0.feedNumber <= ends["feed"] ?? 0 && $0.outboxNumber <= ends["outbox"] ?? 0
    }
    return found
  }

  /// The number of the last entry that `file`, a compaction output, stands for.
  private func lastNumber(of file: StreamFile, in stream: Stream) throws(LogError) -> UInt64 {
    if let next = stream.serving.first(where: { $0.first == file.last + 1 }),
      let header = try header(of: next.file)
    {
      return header.firstNumber - 1
    }
    let bytes = try bytes(of: file.file)
    return SealedScan(SegmentScan(bytes), bytes: bytes)?.seal.lastNumber ?? .max
  }
}
