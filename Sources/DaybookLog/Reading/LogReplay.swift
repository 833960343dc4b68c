package import DaybookFormat

/// One entry of a log, where it stands.
package struct LogEntry: Sendable {
  /// The stream.
  package let stream: String
  /// Its number in the stream.
  package let number: UInt64
  /// Its kind, for the reader to know.
  package let kind: UInt8
  /// Its bytes.
  package let bytes: ArraySlice<UInt8>
  /// The other stream's next number when it was written.
  package let otherNext: UInt64
  /// The clock of its frame.
  package let clock: HybridTime
  /// The file, from the log's directory on.
  package let file: String
  /// The first byte of its frame.
  package let frameOffset: UInt64
}

/// Walks the entries of all streams in the order in which they were written.
///
/// Each frame names the other stream's next number, so of two streams the order is exact: a frame
/// comes after all entries of the other stream below that number.
package struct LogReplay {
  private struct Cursor {
    let stream: String
    var segments: SegmentSequence
    var frames: ArraySlice<SegmentScan.Frame> = []
    var file = ""
    var next: UInt64 = 1
    var isStopped = false
  }

  private let directory: LogDirectory
  private var cursors: [Cursor] = []
  /// The last report of each stream that was read.
  package private(set) var last: [String: SegmentReport] = [:]
  /// The report before the last one of each stream.
  package private(set) var before: [String: SegmentReport] = [:]
  /// What is wrong, in the order in which it was met.
  package private(set) var findings: [LogFinding] = []

  /// A replay of all streams of `directory`. The holder of the lock, `isWriter`, has nobody beside
  /// it whose writing could be under way.
  package init(_ directory: LogDirectory, streams: [String], isWriter: Bool = false)
    throws(LogError)
  {
    self.directory = directory
    let witnesses = try directory.witnesses()
    for name in streams {
      cursors.append(
        Cursor(
          stream: name,
          segments: directory.segments(
            of: name, witnesses: witnesses, isInUse: isWriter ? false : directory.isInUse)))
    }
  }

  /// Gives every entry to `body`, and every report, as it is read, to `visit`. A stream stops at
  /// its first loss: what follows might build on what is not there.
  package mutating func run(
    visit: (SegmentReport) throws(LogError) -> Void = { _ throws(LogError) in },
    _ body: (LogEntry) throws(LogError) -> Void
  ) throws(LogError) {
    while true {
      for index in cursors.indices { try fill(index, visit) }
      let ready = cursors.indices.filter { !cursors[$0].frames.isEmpty }
      guard let any = ready.first else { return }
      // Of two frames that may both come, or of none that may (a loss), the first stream's is
      // taken.
      let index = ready.first { isReady($0) } ?? any
      try give(index, body)
    }
  }

  private func isReady(_ index: Int) -> Bool {
    guard cursors.count == 2, let frame = cursors[index].frames.first else { return true }
    return frame.header.otherNext <= cursors[1 - index].next
  }

  private mutating func fill(
    _ index: Int, _ visit: (SegmentReport) throws(LogError) -> Void
  ) throws(LogError) {
    while cursors[index].frames.isEmpty {
      guard let report = try cursors[index].segments.next() else { return }
      before[cursors[index].stream] = last[cursors[index].stream]
      last[cursors[index].stream] = report
      findings += report.findings
      try visit(report)
      if let version = report.newerVersion {
        throw .newerFormat(
          file: report.file, found: Int(version), supported: Int(LogLayout.version))
      }
      if cursors[index].isStopped { continue }
      cursors[index].file = report.file
      cursors[index].frames = report.frames[...]
      if report.findings.contains(where: \.isLoss) {
        let lost = report.findings.compactMap(\.lost).map(\.lowerBound).min() ?? 0
        cursors[index].frames = report.frames.prefix { $0.header.firstNumber < lost }
        cursors[index].isStopped = true
      }
    }
  }

  private mutating func give(
    _ index: Int, _ body: (LogEntry) throws(LogError) -> Void
  ) throws(LogError) {
    guard let frame = cursors[index].frames.popFirst() else { return }
    for (place, part) in frame.parts.enumerated() {
      try body(
        LogEntry(
          stream: cursors[index].stream, number: frame.header.firstNumber + UInt64(place),
          kind: part.kind, bytes: part.bytes, otherNext: frame.header.otherNext,
          clock: HybridTime(rawValue: frame.header.clock), file: cursors[index].file,
          frameOffset: UInt64(frame.offset)))
    }
    cursors[index].next = frame.nextNumber
  }
}
