package import DaybookFormat

extension LogDirectory {
  /// The log that the segments belong to: the one that most headers name, of two that as many name
  /// the one in `FORMAT`, else the older one's; `nil` if there is neither. Reads all headers.
  package func logID() throws(LogError) -> Identifier? {
    var counts: [(id: Identifier, count: Int)] = []
    for file in streams.flatMap(\.files) {
      guard let id = try header(of: file.file)?.logID else { continue }
      if let index = counts.firstIndex(where: { $0.id == id }) {
        counts[index].count += 1
      } else {
        counts.append((id, 1))
      }
    }
    let most = counts.map(\.count).max() ?? 0
    let candidates = counts.filter { $0.count == most }.map(\.id)
    if let formatLogID, candidates.isEmpty || candidates.contains(formatLogID) {
      return formatLogID
    }
    return candidates.first
  }

  /// The header that names the log, its life and its account; `nil` if no segment has a whole one.
  ///
  /// In each stream the one of the highest ordinal: no clock decides. If the streams name different
  /// lives, one that a later life follows in any stream is over; of what is left the outbox, in
  /// which a new life begins, has the word.
  package func newestHeader() throws(LogError) -> SegmentHeader? {
    let logID = try logID()
    var newest: [SegmentHeader] = []
    var ended: Set<Identifier> = []
    let isOutbox = { (stream: Stream) in stream.name == "outbox" }
    for stream in streams.filter(isOutbox) + streams.filter({ !isOutbox($0) }) {
      var later: Identifier?
      for segment in stream.segments.reversed() {
        guard let header = try header(of: segment.file), header.stream == stream.name,
          header.logID == logID
        else { continue }
        if later == nil { newest.append(header) }
        if let later, header.incarnation != later { ended.insert(header.incarnation) }
        later = header.incarnation
      }
    }
    return newest.first { !ended.contains($0.incarnation) } ?? newest.first
  }
}
