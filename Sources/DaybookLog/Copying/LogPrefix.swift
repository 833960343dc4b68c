package import DaybookFormat

/// A place in a log's history, as a person names it.
package enum LogPlace: Sendable, Hashable {
  /// Behind an entry.
  case position(LogPosition)
  /// Behind the last frame with a clock up to it.
  case time(Timestamp)
}

/// The longest part of a log, from its beginning, in which nothing is missing: what a restore goes
/// on from.
///
/// Frames count in the order in which they were written. A stream ends at its first loss that no
/// gap entry records, and at the first frame that had seen more of the other stream than is there.
/// A plain copy of a log in use holds everything that was durable when the copy was begun.
package struct LogPrefix: Sendable {
  /// Where one stream ends.
  package struct End: Sendable, Hashable {
    /// The file with the last frame that counts, from the log's directory on.
    package var file: String
    /// The first byte of that frame.
    package var frameOffset: UInt64
    /// The number behind the last entry that counts.
    package var nextNumber: UInt64
  }

  /// Where each stream ends; a stream without entries is not in it.
  package private(set) var ends: [String: End] = [:]
  /// The clock of the last frame that counts.
  package private(set) var clock: HybridTime?
  /// How many entries count.
  package private(set) var entryCount: UInt64 = 0
  /// Entries are there that do not count, because something before them is missing.
  package private(set) var leavesOut = false
  /// Entries are missing that had been acknowledged long before: the damage is not at a stream's
  /// end, where a copy of a log in use may end in the middle of a write, or a stream is gone whole.
  package private(set) var hasHole = false
  /// An entry at the place or behind it was met; without a place it is the log's end.
  package private(set) var reachesPlace = false
  /// What is missing.
  package private(set) var findings: [LogFinding] = []
  /// What was missing before, and is recorded as such by gap entries.
  private(set) var recorded: [LogFinding] = []

  /// The part of `directory` up to `place`.
  package static func find(
    in directory: LogDirectory, streams: [String], until place: LogPlace? = nil
  ) throws(LogError) -> LogPrefix {
    var walk = PrefixWalk(place)
    var replay = try LogReplay(directory, streams: streams, history: true)
    try replay.run(visit: { report throws(LogError) in walk.visit(report) }) {
      entry throws(LogError) in walk.take(entry)
    }
    let there = directory.streams.filter { !$0.files.isEmpty && streams.contains($0.name) }
    let last = Set(there.compactMap { $0.segments.last?.file })
    var prefix = walk.finish()
    prefix.findings = replay.findings.filter(\.isUnrecordedLoss)
    prefix.recorded = replay.findings.filter { $0.isLoss && $0.record != nil }
    prefix.hasHole = prefix.findings.contains { finding in
      finding.kind == .missing
        ? !there.contains { $0.name == finding.stream } : !last.contains(finding.file)
    }
    return prefix
  }

  fileprivate mutating func append(_ frame: PrefixWalk.Frame) {
    ends[frame.stream] = End(
      file: frame.file, frameOffset: frame.offset, nextNumber: frame.nextNumber)
    // A compaction may have dropped the other stream's last entries that this frame had seen.
    for (stream, end) in ends where stream != frame.stream {
      ends[stream]?.nextNumber = max(end.nextNumber, frame.otherNext)
    }
    clock = frame.clock
    entryCount += frame.entryCount
  }

  fileprivate mutating func raise(to numbers: [String: UInt64], isWhole: Bool) {
    for (stream, next) in numbers where isWhole {
      if let end = ends[stream] { ends[stream]?.nextNumber = max(end.nextNumber, next) }
    }
  }

  /// The numbers of the last entries that count, by stream.
  package var lastNumbers: [String: UInt64] { ends.mapValues { $0.nextNumber - 1 } }

  fileprivate mutating func note(reachesPlace: Bool, leavesOut: Bool) {
    self.reachesPlace = reachesPlace
    self.leavesOut = leavesOut
  }
}

/// Takes entries in replay order and keeps the prefix that counts.
private struct PrefixWalk {
  struct Frame {
    let stream: String
    let file: String
    let offset: UInt64
    let firstNumber: UInt64
    var nextNumber: UInt64
    var entryCount: UInt64
    let otherNext: UInt64
    let clock: HybridTime
  }

  private let place: LogPlace?
  /// All that counts so far, wherever the place is.
  private var reached = LogPrefix()
  /// What counts up to the place.
  private var kept = LogPrefix()
  private var frame: Frame?
  private var stopped: Set<String> = []
  /// The first number of each stream that is lost and not recorded as lost.
  private var lost: [String: UInt64] = [:]
  /// The number behind what the compaction outputs of each stream stand for.
  private var compacted: [String: UInt64] = [:]
  private var isPastPlace = false
  private var leavesOut = false

  init(_ place: LogPlace?) { self.place = place }

  mutating func visit(_ report: SegmentReport) {
    // A file of which nothing can be read and nothing is missed ends nothing: numbers go on.
    for first in report.findings.filter(\.isUnrecordedLoss).compactMap(\.lost?.lowerBound) {
      lost[report.stream] = min(lost[report.stream] ?? .max, first)
    }
    if report.lastOrdinal > report.ordinal || report.header?.generation ?? 0 > 0 {
      compacted[report.stream] = min(report.nextNumber, lost[report.stream] ?? .max)
    }
  }

  mutating func take(_ entry: LogEntry) {
    if var frame, frame.file == entry.file, frame.offset == entry.frameOffset {
      frame.nextNumber = entry.number + 1
      frame.entryCount += 1
      self.frame = frame
      return
    }
    commit()
    frame = Frame(
      stream: entry.stream, file: entry.file, offset: entry.frameOffset,
      firstNumber: entry.number, nextNumber: entry.number + 1, entryCount: 1,
      otherNext: entry.otherNext, clock: entry.clock)
  }

  private mutating func commit() {
    guard let frame, !isPastPlace else { return }
    self.frame = nil
    let isOther = { (stream: String) in stream != frame.stream }
    let known = max(
      reached.ends.first { isOther($0.key) }?.value.nextNumber ?? 1,
      compacted.first { isOther($0.key) }?.value ?? 1)
    if frame.otherNext > known || frame.firstNumber >= lost[frame.stream] ?? .max {
      stopped.insert(frame.stream)
    }
    guard !stopped.contains(frame.stream) else {
      leavesOut = true
      return
    }
    if case .position(let position) = place, frame.stream == position.stream {
      isPastPlace = frame.nextNumber > position.number
      if frame.nextNumber - 1 > position.number { return }
    }
    reached.append(frame)
    if case .time(let time) = place, frame.clock.time > time { return }
    kept = reached
  }

  mutating func finish() -> LogPrefix {
    commit()
    // What a compaction output stands for is there, though its last entries were dropped.
    let whole = compacted.filter { !stopped.contains($0.key) }
    kept.raise(to: whole, isWhole: !isPastPlace && kept.entryCount == reached.entryCount)
    kept.note(reachesPlace: isPastPlace, leavesOut: leavesOut)
    return kept
  }
}

extension LogFinding {
  /// Entries are lost, and no gap entry says so: nothing behind it counts.
  fileprivate var isUnrecordedLoss: Bool { isLoss && record == nil }
}
