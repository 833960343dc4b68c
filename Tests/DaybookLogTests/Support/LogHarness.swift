import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization

/// A small log on a simulated disk, the same bytes each time.
struct LogHarness {
  static let directory = SimulatedDisk.root + "/log"
  static let milliseconds: Int64 = 1_700_000_000_000

  /// The clock of every frame.
  static let clock = HybridTime(Timestamp(milliseconds: milliseconds)).rawValue

  let disk: SimulatedDisk
  var account = "rep-7"
  var streams: [StreamOptions] = LogHarness.smallStreams
  var path = LogHarness.directory

  /// The client's streams, with segments small enough to be full after a few groups.
  static var smallStreams: [StreamOptions] {
    var feed = StreamOptions.feed
    feed.segmentByteLimit = 24 << 10
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = 40 << 10
    return [feed, outbox]
  }

  var configuration: LogConfiguration {
    // A seed of its own for each life, so that no two segments share a salt.
    let random = Mutex(SplitMix64(seed: UInt64(disk.paths.count)))
    return LogConfiguration(
      streams: streams, account: account, fileSystem: disk,
      random: { random.withLock { $0.next() } },
      clock: { HybridTime(Timestamp(milliseconds: LogHarness.milliseconds)) },
      idleMarkDelay: nil)
  }

  /// An open log and what it replayed, as `stream:number text`.
  struct Opened {
    let log: Log
    let entries: [String]
  }

  func open() throws(LogError) -> Opened {
    var entries: [String] = []
    let log = try Log.open(path, configuration) { _, entry throws(LogError) in
      // What opening itself has to say of damage is no entry of the app's.
      if entry.kind != EntryKind.gap.rawValue { entries.append(LogHarness.name(of: entry)) }
    }
    return Opened(log: log, entries: entries)
  }

  static func name(of entry: LogEntry) -> String {
    let text = String(decoding: entry.bytes.prefix(24), as: UTF8.self)
    return "\(entry.stream):\(entry.number) \(text) (\(entry.bytes.count))"
  }

  /// What opening replays, without keeping the log open or ending it.
  func replayed() throws(LogError) -> [String] {
    let opened = try open()
    try opened.log.close()
    return opened.entries
  }

  /// What verifying says of every file, its chain included.
  func reports() throws(LogError) -> [SegmentReport] {
    try ChainOracle.reports(path, disk, streams: streams.map(\.name).sorted())
  }

  /// The segment files, in order.
  var segments: [String] { disk.paths.filter { $0.hasSuffix(".dbs") } }
}

extension SegmentReport {
  /// The file is not as it was written, and no crash explains it.
  var isDamage: Bool { [.healed, .damaged, .missing, .newer].contains(verdict) }
}

extension SplitMix64 {
  /// Bytes that do not compress.
  static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }
}
