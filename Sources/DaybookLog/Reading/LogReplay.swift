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
    /// A snapshot stands for all entries up to this number.
    var floor: UInt64 = 0

    /// The lowest number that is still to come.
    var coming: UInt64 { frames.first?.header.firstNumber ?? next }
  }

  private let directory: LogDirectory
  private var cursors: [Cursor] = []
  private var snapshotFrames: [SegmentScan.Frame] = []
  /// The snapshot that the replay begins with; without one, all is in the streams.
  package private(set) var snapshot: SnapshotFile?
  /// The number up to which the snapshot stands for the feed; 0 without one.
  var snapshotEnd: UInt64 { snapshot?.feedNumber ?? 0 }
  /// Entries that make no state are given too: it is history that is asked for.
  private let isHistory: Bool
  /// The last report of each stream that was read.
  package private(set) var last: [String: SegmentReport] = [:]
  /// The report before the last one of each stream.
  package private(set) var before: [String: SegmentReport] = [:]
  /// What the chain value behind each stream is made of.
  private(set) var tails: [String: ChainTail] = [:]
  /// What is wrong, in the order in which it was met.
  package private(set) var findings: [LogFinding] = []

  /// A replay of all streams of `directory`. The holder of the lock, `isWriter`, has nobody beside
  /// it whose writing could be under way. For `history`, everything that the streams hold is given,
  /// what a compaction kept too, and no snapshot: it does not make the state.
  package init(
    _ directory: LogDirectory, streams: [String], isWriter: Bool = false, history: Bool = false
  ) throws(LogError) {
    self.directory = directory
    isHistory = history
    var witnesses = try directory.witnesses()
    let logID = try directory.logID()
    if !history, streams.contains(SnapshotFile.stream), let found = try directory.newestSnapshot() {
      snapshot = found.file
      snapshotFrames = found.content.frames
      witnesses["outbox"] = max(witnesses["outbox"] ?? 0, found.file.outboxNumber)
    }
    for name in streams {
      cursors.append(
        Cursor(
          stream: name,
          segments: directory.segments(
            of: name, witnesses: witnesses, isInUse: isWriter ? false : directory.isInUse,
            logID: logID)))
      tails[name] = ChainTail(logID: logID ?? .zero)
      if name == SnapshotFile.stream, let snapshot {
        let index = cursors.count - 1
        cursors[index].floor = snapshot.feedNumber
        cursors[index].next = snapshot.feedNumber + 1
        try cursors[index].segments.skip(through: snapshot.feedNumber)
      }
    }
  }

  /// Gives every entry to `body`, and every report, as it is read, to `visit`. A stream stops at
  /// its first loss: what follows might build on what is not there.
  package mutating func run(
    visit: (SegmentReport) throws(LogError) -> Void = { _ throws(LogError) in },
    _ body: (LogEntry) throws(LogError) -> Void
  ) throws(LogError) {
    if let snapshot {
      for frame in snapshotFrames {
        for entry in frame.entries(stream: LogEntry.snapshotStream, file: snapshot.file) {
          try body(entry)
        }
      }
      snapshotFrames = []
    }
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
    return frame.header.otherNext <= cursors[1 - index].coming
  }

  private mutating func fill(
    _ index: Int, _ visit: (SegmentReport) throws(LogError) -> Void
  ) throws(LogError) {
    while cursors[index].frames.isEmpty {
      guard var report = try cursors[index].segments.next() else { return }
      if !isHistory { report.require(entriesAbove: cursors[index].floor) }
      before[cursors[index].stream] = last[cursors[index].stream]
      last[cursors[index].stream] = report
      tails[cursors[index].stream]?.add(report)
      findings += report.findings
      try visit(report)
      if let version = report.newerVersion {
        throw .newerFormat(
          file: report.file, found: Int(version), supported: Int(LogLayout.version))
      }
      if cursors[index].isStopped { continue }
      cursors[index].file = report.file
      let floor = cursors[index].floor
      cursors[index].next = max(report.nextNumber, floor + 1)
      cursors[index].frames = report.frames[...]
      cursors[index].frames.removeAll { $0.nextNumber <= floor + 1 }
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
    let floor = cursors[index].floor
    for entry in frame.entries(stream: cursors[index].stream, file: cursors[index].file)
    where entry.number > floor {
      try body(entry)
    }
  }
}

extension LogEntry {
  /// The stream that the entries of a snapshot are given as.
  package static let snapshotStream = "snapshot"
}

extension SegmentReport {
  /// Fits the report to a replay of the feed in which a snapshot stands for everything up to
  /// `floor`: what is lost below costs nothing but history. What a compaction left of the feed is
  /// no base, so above the floor it is a loss.
  fileprivate mutating func require(entriesAbove floor: UInt64) {
    guard stream == SnapshotFile.stream else { return }
    findings.removeAll { $0.lost.map { $0.upperBound <= floor } ?? false }
    if lastOrdinal > ordinal || header?.generation ?? 0 > 0, nextNumber > floor + 1,
      let first = header?.firstNumber, first < nextNumber
    {
      findings.append(
        LogFinding(.missing, file: file, offset: 0, lost: max(first, floor + 1)...(nextNumber - 1)))
    }
  }
}
