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
///
/// What follows damage is given as the stream's ``DamagePolicy`` says. Entries that a gap entry cut
/// off are never given, even if they can be read again: what was decided stays decided.
package struct LogReplay {
  private struct Cursor {
    let stream: String
    let policy: DamagePolicy
    var segments: SegmentSequence
    let known: KnownDamage
    var frames: ArraySlice<SegmentScan.Frame> = []
    var file = ""
    /// Nothing that follows counts, at least until damage is recorded.
    var isStopped = false
    /// Without frames, the lowest number that may still come.
    var next: UInt64
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
  /// Where to stop: behind this entry of the feed, and whatever was written before it.
  private let feedLimit: UInt64
  /// The last report of each stream that was read.
  package private(set) var last: [String: SegmentReport] = [:]
  /// The report before the last one of each stream.
  package private(set) var before: [String: SegmentReport] = [:]
  /// What the chain value behind each stream is made of.
  private(set) var tails: [String: ChainTail] = [:]
  /// What is wrong, in the order in which it was met.
  package private(set) var findings: [LogFinding] = []
  /// The highest number of each stream that anything names: what comes behind damage begins above.
  package private(set) var named: [String: UInt64] = [:]
  /// The first entry of each stream that does not count because of damage that is not recorded yet.
  package private(set) var stops: [String: UInt64] = [:]

  /// A replay of all streams of `directory`. The holder of the lock, `isWriter`, has nobody beside
  /// it whose writing could be under way. For `history`, everything that the streams hold is given,
  /// what a compaction kept too, and no snapshot: it does not make the state. Streams without a
  /// policy have their usual one.
  ///
  /// With `upkeepThrough` this process writes to the log while it is read: what is closed is read
  /// from files that are never written to again, of the others what is there now, and the replay
  /// ends behind that entry of the feed and whatever was written before it.
  package init(
    _ directory: LogDirectory, streams: [String], isWriter: Bool = false, history: Bool = false,
    policies: [String: DamagePolicy] = [:], upkeepThrough: UInt64? = nil
  ) throws(LogError) {
    self.directory = directory
    isHistory = history
    feedLimit = upkeepThrough ?? .max
    // Witnesses are for the tail, which may be newer than the listing.
    let isUpkeep = upkeepThrough != nil
    var witnesses = isUpkeep ? [:] : try directory.witnesses()
    let logID = try directory.logID()
    for stream in directory.head?.streams ?? [] { named[stream.name] = stream.durableNumber }
    var skipped: [SnapshotFile] = []
    if !history, streams.contains(SnapshotFile.stream),
      let found = try directory.newestSnapshot(skipped: { skipped.append($0) })
    {
      snapshot = found.file
      snapshotFrames = found.content.frames
      if !isUpkeep {
        witnesses["outbox"] = max(witnesses["outbox"] ?? 0, found.file.outboxNumber)
      }
    }
    for name in streams {
      let policy = policies[name] ?? .usual(for: name)
      var segments = directory.segments(
        of: name, witnesses: witnesses, isInUse: isUpkeep || !isWriter && directory.isInUse,
        logID: logID, policy: policy)
      segments.tellVoid()
      let known = try segments.knownDamage()
      for file in name == SnapshotFile.stream ? skipped : [] {
        guard var finding = directory.damage(of: file) else { continue }
        finding.record = known.record(of: finding)
        findings.append(finding)
      }
      named[name] = max(
        named[name] ?? 0, known.gaps.last?.number ?? 0, witnesses[name] ?? 0)
      var floor: UInt64 = 0
      if name == SnapshotFile.stream, let snapshot {
        floor = snapshot.feedNumber
        try segments.skip(through: floor)
      }
      cursors.append(
        Cursor(
          stream: name, policy: policy, segments: segments, known: known, next: floor + 1,
          floor: floor))
      tails[name] = ChainTail(logID: logID ?? .zero)
    }
  }

  /// Gives every entry that counts to `body`, and every report, as it is read, to `visit`.
  ///
  /// Where `body` throws `unreadableEntry`, the entry is a finding and the replay goes on as behind
  /// other damage, unless the stream's policy is to refuse. Any other error ends the replay.
  package mutating func run(
    visit: (SegmentReport) throws(LogError) -> Void = { _ throws(LogError) in },
    _ body: (LogEntry) throws(LogError) -> Void
  ) throws(LogError) {
    if let snapshot {
      for frame in snapshotFrames {
        for entry in frame.entries(stream: LogEntry.snapshotStream, file: snapshot.file) {
          do throws(LogError) {
            try body(entry)
          } catch {
            guard case .unreadableEntry = error else { throw error }
            findings.append(LogFinding(.entry, file: entry.file, offset: entry.frameOffset))
          }
        }
      }
      snapshotFrames = []
    }
    while true {
      for index in cursors.indices { try fill(index, visit) }
      if feedLimit < .max, cursors[0].coming > feedLimit {
        // What the older snapshot had seen of the outbox, the next one has seen too.
        let seen = snapshot?.outboxNumber ?? 0
        guard cursors.count == 2, !cursors[1].frames.isEmpty, cursors[1].coming <= seen else {
          return
        }
        try give(1, body)
        continue
      }
      let ready = cursors.indices.filter { !cursors[$0].frames.isEmpty }
      guard let any = ready.first else { return }
      // Of two frames that may both come, or of none that may, the first stream's is taken.
      let index = ready.first { isReady($0) } ?? any
      try give(index, body)
    }
  }

  /// Whether all entries of the other stream that were there before the frame have been given:
  /// those that are lost never come.
  private func isReady(_ index: Int) -> Bool {
    guard cursors.count == 2, let frame = cursors[index].frames.first else { return true }
    return frame.header.otherNext <= cursors[1 - index].coming
  }

  private mutating func fill(
    _ index: Int, _ visit: (SegmentReport) throws(LogError) -> Void
  ) throws(LogError) {
    while cursors[index].frames.isEmpty {
      guard var report = try cursors[index].segments.next() else {
        // What has not come never will.
        cursors[index].next = .max
        return
      }
      let stream = cursors[index].stream
      if report.isReplaced {
        findings += report.findings
        try visit(report)
        continue
      }
      if !isHistory { report.require(entriesAbove: cursors[index].floor, cursors[index].known) }
      before[stream] = last[stream]
      last[stream] = report
      tails[stream]?.add(report)
      findings += report.findings
      note(report, stream)
      try visit(report)
      if let version = report.newerVersion {
        throw .newerFormat(
          file: report.file, found: Int(version), supported: Int(LogLayout.version))
      }
      cursors[index].file = report.file
      let floor = cursors[index].floor
      cursors[index].next = max(report.nextNumber, floor + 1)
      cursors[index].frames = frames(of: report, index)[...]
      cursors[index].frames.removeAll { $0.nextNumber <= floor + 1 }
    }
  }

  private mutating func note(_ report: SegmentReport, _ stream: String) {
    named[stream] = max(named[stream] ?? 0, report.namedNumber, report.nextNumber - 1)
    for other in cursors.map(\.stream) where other != stream && report.namedOther > 0 {
      named[other] = max(named[other] ?? 0, report.namedOther - 1)
    }
  }

  /// The frames of `report` that count.
  private mutating func frames(of report: SegmentReport, _ index: Int) -> [SegmentScan.Frame] {
    let cursor = cursors[index]
    if cursor.policy == .salvage { return report.frames }
    if cursor.isStopped { return [] }
    var frames = report.frames
    let losses = report.findings.filter { $0.isLoss && $0.record == nil }.compactMap(\.lost)
    if let first = losses.map(\.lowerBound).min() {
      frames = Array(frames.prefix { $0.header.firstNumber < first })
      stop(index, at: first)
    }
    if cursor.known.gaps.isEmpty { return frames }
    return frames.filter { frame in
      (frame.header.firstNumber..<frame.nextNumber).contains { !cursor.known.isCut($0) }
    }
  }

  private mutating func stop(_ index: Int, at number: UInt64) {
    cursors[index].isStopped = true
    stops[cursors[index].stream] = number
  }

  private mutating func give(
    _ index: Int, _ body: (LogEntry) throws(LogError) -> Void
  ) throws(LogError) {
    guard let frame = cursors[index].frames.popFirst() else { return }
    let floor = cursors[index].floor
    for entry in frame.entries(stream: cursors[index].stream, file: cursors[index].file)
    where entry.number > floor && !cursors[index].known.isCut(entry.number) {
      do throws(LogError) {
        try body(entry)
      } catch {
        guard case .unreadableEntry = error, cursors[index].policy != .refuse else { throw error }
        keepAside(entry, index)
        if cursors[index].isStopped { return }
      }
    }
  }

  /// Makes `entry`, which can't be taken, a finding.
  private mutating func keepAside(_ entry: LogEntry, _ index: Int) {
    var finding = LogFinding(
      .entry, file: entry.file, offset: entry.frameOffset, lost: entry.number...entry.number)
    finding.record = cursors[index].known.record(of: finding)
    findings.append(finding)
    guard cursors[index].policy == .cut else { return }
    cursors[index].frames = []
    stop(index, at: entry.number)
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
  fileprivate mutating func require(entriesAbove floor: UInt64, _ known: KnownDamage) {
    guard stream == SnapshotFile.stream else { return }
    findings.removeAll { $0.lost.map { $0.upperBound <= floor } ?? false }
    // What a compaction kept whole is as good as it was, up to what it dropped.
    if let sealed, sealed.firstDropped == nil { return }
    let first = sealed?.firstDropped ?? header?.firstNumber ?? firstNumber
    if isPieced || lastOrdinal > ordinal || header?.generation ?? 0 > 0, nextNumber > floor + 1,
      first < nextNumber
    {
      var finding = LogFinding(
        .missing, file: file, offset: 0, lost: max(first, floor + 1)...(nextNumber - 1))
      finding.record = known.record(of: finding)
      findings.append(finding)
    }
  }
}
