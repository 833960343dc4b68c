import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization

/// A log with small segments on a simulated disk; everything about it comes from the seed.
enum SmallLog {
  static let directory = SimulatedDisk.root + "/log"

  static func configuration(_ disk: any FileSystem, seed: UInt64 = 1) -> LogConfiguration {
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = 32 << 10
    var feed = StreamOptions.feed
    feed.segmentByteLimit = 16 << 10
    let random = Mutex(SplitMix64(seed: seed))
    let clock = Mutex<UInt64>(seed << 16)
    return LogConfiguration(
      streams: [feed, outbox], account: "rep-7", fileSystem: disk,
      random: { random.withLock { $0.next() } },
      clock: {
        clock.withLock { clock in
          clock += 1
          return HybridTime(rawValue: clock)
        }
      }, idleMarkDelay: nil)
  }

  /// Opens the log and gives the texts of its entries, by stream, each with its number.
  static func open(
    _ disk: any FileSystem, seed: UInt64 = 1
  ) throws(LogError) -> (log: Log, found: Found) {
    var found = Found()
    let log = try Log.open(directory, configuration(disk, seed: seed)) {
      _, entry throws(LogError) in found.add(entry)
    }
    found.findings = log.findings
    return (log, found)
  }

  /// Reads the log without opening it.
  static func inspect(_ disk: any FileSystem) throws(LogError) -> Found {
    var found = Found()
    var replay = try LogReplay(
      try LogDirectory(directory, fileSystem: disk), streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in found.add(entry) }
    found.findings = replay.findings
    return found
  }

  /// What verifying says of every file.
  static func reports(_ disk: any FileSystem) throws(LogError) -> [SegmentReport] {
    let found = try LogDirectory(directory, fileSystem: disk)
    let witnesses = try found.witnesses()
    var reports: [SegmentReport] = []
    for stream in ["feed", "outbox"] {
      var segments = try found.segments(of: stream, witnesses: witnesses)
      while let report = try segments.next() { reports.append(report) }
    }
    return reports
  }

  /// The files of a closed log that are not whole, with what is wrong.
  static func unwhole(_ disk: any FileSystem) throws(LogError) -> [String] {
    try reports(disk).filter { ![.clean, .settled].contains($0.verdict) }.map {
      "\($0.file) \($0.verdict) \($0.findings.map(\.message))"
    }
  }

  static func entry(_ text: String) -> NewEntry {
    NewEntry(kind: 1, bytes: Array(text.utf8))
  }

  /// What reading a log gave.
  struct Found: Equatable {
    var texts: [String: [String]] = ["outbox": [], "feed": []]
    var order: [String] = []
    var findings: [LogFinding] = []
    /// The gap entries, as `stream:number`, in the order of replay.
    var gaps: [String] = []
    /// The texts as `stream:number text`, without their filling.
    var places: Set<String> = []
    /// The highest number of each stream.
    var last: [String: UInt64] = [:]
    /// The numbers went on without a gap.
    var isGapless = true

    mutating func add(_ entry: LogEntry) {
      if entry.number != last[entry.stream, default: 0] + 1 { isGapless = false }
      last[entry.stream] = entry.number
      if entry.kind == EntryKind.gap.rawValue {
        gaps.append("\(entry.stream):\(entry.number)")
        return
      }
      let text = String(decoding: entry.bytes, as: UTF8.self)
      texts[entry.stream, default: []].append(text)
      places.insert("\(entry.stream):\(entry.number) \(text.prefix { $0 != "-" })")
      order.append(text)
    }

    var damage: [LogFinding] { findings.filter { $0.kind != .tornTail } }
  }
}
