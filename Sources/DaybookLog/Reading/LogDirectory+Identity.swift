package import DaybookFormat

extension LogDirectory {
  /// The log that the segments belong to: the one that most headers name, of two that as many name
  /// the one in `FORMAT`, else the older one's; `nil` if there is neither. Reads all headers.
  package func logID() throws(LogError) -> Identifier? { logID(by: try headers()) }

  /// The headers that are whole, by file.
  private func headers() throws(LogError) -> [String: SegmentHeader] {
    var headers: [String: SegmentHeader] = [:]
    for file in streams.flatMap(\.files) { headers[file.file] = try header(of: file.file) }
    return headers
  }

  private func logID(by headers: [String: SegmentHeader]) -> Identifier? {
    var counts: [(id: Identifier, count: Int)] = []
    for file in streams.flatMap(\.files) {
      guard let id = headers[file.file]?.logID else { continue }
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
  /// which a new life begins, has the word. Reads all headers.
  package func newestHeader() throws(LogError) -> SegmentHeader? { try identity().newest }

  /// What ``logID()`` and ``newestHeader()`` give, from one reading of all headers.
  func identity() throws(LogError) -> (logID: Identifier?, newest: SegmentHeader?) {
    let headers = try headers()
    let logID = logID(by: headers)
    var newest: [SegmentHeader] = []
    var ended: Set<Identifier> = []
    let isOutbox = { (stream: Stream) in stream.name == "outbox" }
    for stream in streams.filter(isOutbox) + streams.filter({ !isOutbox($0) }) {
      var later: Identifier?
      for segment in stream.segments.reversed() {
        guard let header = headers[segment.file], header.stream == stream.name,
          header.logID == logID
        else { continue }
        if later == nil { newest.append(header) }
        if let later, header.incarnation != later { ended.insert(header.incarnation) }
        later = header.incarnation
      }
    }
    return (logID, newest.first { !ended.contains($0.incarnation) } ?? newest.first)
  }
}
