package import DaybookFormat

extension LogDirectory {
  /// The header that names the log, its life and its account; `nil` if no segment has a whole one.
  ///
  /// In each stream the one of the highest ordinal: no clock decides. If the streams name different
  /// lives, one that a later life follows in any stream is over; of what is left the outbox, in
  /// which a new life begins, has the word.
  package func newestHeader() throws(LogError) -> SegmentHeader? {
    var newest: [SegmentHeader] = []
    var ended: Set<Identifier> = []
    let isOutbox = { (stream: Stream) in stream.name == "outbox" }
    for stream in streams.filter(isOutbox) + streams.filter({ !isOutbox($0) }) {
      var later: Identifier?
      for segment in stream.segments.reversed() {
        guard let header = try header(of: segment.file), header.stream == stream.name else {
          continue
        }
        if later == nil { newest.append(header) }
        if let later, header.incarnation != later { ended.insert(header.incarnation) }
        later = header.incarnation
      }
    }
    return newest.first { !ended.contains($0.incarnation) } ?? newest.first
  }
}
