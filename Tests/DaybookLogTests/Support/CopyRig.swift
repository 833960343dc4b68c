import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization

/// A log on a simulated disk that is copied and restored.
struct CopyRig {
  static let copy = SimulatedDisk.root + "/copy"
  static let restored = SimulatedDisk.root + "/restored"
  var disk = SimulatedDisk(seed: 1)

  /// A morning of both streams over several segments; open.
  func write(_ groups: Int, from first: Int = 0, seed: UInt64 = 1) throws -> Log {
    let log = try SmallLog.open(disk, seed: seed).log
    try add(first..<(first + groups), to: log)
    return log
  }

  func add(_ groups: Range<Int>, to log: Log) throws {
    for group in groups {
      // Two transactions in one group, which is two frames if they are long.
      let long = String(repeating: "-", count: group.isMultiple(of: 5) ? 70_000 : 1_000)
      _ = try log.appendAndWait(
        "outbox", [[SmallLog.entry("a\(group)\(long)")], [SmallLog.entry("b\(group)")]])
      if group.isMultiple(of: 2) {
        _ = try log.appendAndWait("feed", [[SmallLog.entry("f\(group)"), SmallLog.entry("g")]])
      }
    }
  }

  func backup() throws -> LogBackup.Outcome {
    try LogBackup(from: SmallLog.directory, to: Self.copy, fileSystem: disk).run()
  }

  @discardableResult
  func restore(
    from source: String = copy, to target: String = restored,
    _ request: LogRestore.Request = .init(),
    step: (String) throws(CopyError) -> Void = { _ throws(CopyError) in }
  ) throws(CopyError) -> LogRestore.Outcome {
    let random = Mutex(SplitMix64(seed: 77))
    return try LogRestore(
      from: source, into: target, fileSystem: disk, random: { random.withLock { $0.next() } },
      clock: { HybridTime(rawValue: 1 << 40) }
    ).run(request, step: step)
  }

  /// The entries of a log as `stream:number`, with a letter of each, and what is wrong with it.
  func read(_ path: String) throws -> (entries: [String], findings: [LogFinding]) {
    var entries: [String] = []
    var replay = try LogReplay(
      LogDirectory(path, fileSystem: disk), streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in
      let text =
        entry.kind == EntryKind.restored.rawValue
        ? "restored" : String(decoding: entry.bytes.prefix { $0 != 45 }, as: UTF8.self)
      entries.append("\(entry.stream):\(entry.number) \(text)")
    }
    return (entries, replay.findings)
  }

  func files(_ path: String) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for file in disk.paths where file.hasPrefix(path + "/") {
      files[String(file.dropFirst(path.count + 1))] = disk.content(of: file)
    }
    return files
  }
}
