import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

/// A damaged log on a simulated disk, and copies of it.
private struct RepairRig {
  static let copy = SimulatedDisk.root + "/copy"
  static let repaired = SimulatedDisk.root + "/repaired"
  let disk = SimulatedDisk(seed: 1)

  /// Two lives of a log with several segments of both streams, closed, and its backup.
  init() throws {
    for life in 0..<2 {
      let log = try SmallLog.open(disk, seed: UInt64(life + 1)).log
      for group in 0..<8 {
        let text = "\(life).\(group)" + String(repeating: "-", count: 9_000)
        _ = try log.appendAndWait("outbox", [[SmallLog.entry(text)]])
        _ = try log.appendAndWait(
          "feed", [[NewEntry(kind: 1, bytes: SplitMix64.bytes(3_000, seed: UInt64(group)))]])
      }
      try log.close()
    }
    _ = try LogBackup(from: SmallLog.directory, to: Self.copy, fileSystem: disk).run()
  }

  var segments: [String] {
    disk.paths.filter { $0.hasPrefix(SmallLog.directory + "/") && $0.hasSuffix(".dbs") }
      .map { String($0.dropFirst(SmallLog.directory.count + 1)) }
  }

  func repair(from copy: String? = RepairRig.copy) throws -> LogRepair {
    try LogRepair(of: SmallLog.directory, from: copy, fileSystem: disk)
  }

  func write(_ repair: LogRepair, _ steps: [LogRepair.Step], to target: String = repaired) throws {
    let random = Mutex(SplitMix64(seed: 9))
    _ = try repair.write(
      steps, to: target, random: { random.withLock { $0.next() } },
      clock: { HybridTime(rawValue: 1 << 40) })
  }

  func apply(_ repair: LogRepair, _ steps: [LogRepair.Step]) throws {
    let random = Mutex(SplitMix64(seed: 9))
    _ = try repair.apply(
      steps, random: { random.withLock { $0.next() } }, clock: { HybridTime(rawValue: 1 << 40) })
  }

  func read(_ path: String) throws -> (entries: [String], findings: [LogFinding]) {
    var entries: [String] = []
    var replay = try LogReplay(LogDirectory(path, fileSystem: disk), streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in
      entries.append("\(entry.stream):\(entry.number) \(CRC32C.checksum(entry.bytes))")
    }
    return (entries, replay.findings)
  }

  func spoil(_ file: String) throws -> [UInt8] {
    let path = "\(SmallLog.directory)/\(file)"
    var bytes = try #require(disk.content(of: path))
    for index in 8_192..<bytes.count { bytes[index] = 0x5A }
    disk.put(bytes, at: path)
    return bytes
  }
}

@Suite struct `a repair` {
  @Test func `of any file, harmed or gone, takes it whole from a copy`() throws {
    for place in 0..<(try RepairRig().segments.count) {
      for isGone in [false, true] {
        let rig = try RepairRig()
        let file = rig.segments[place]
        let before = try rig.read(SmallLog.directory)
        var harmed: [UInt8]?
        if isGone {
          try rig.disk.remove("\(SmallLog.directory)/\(file)")
        } else {
          harmed = try rig.spoil(file)
        }
        let repair = try rig.repair()
        let steps = try repair.plan()
        // Nothing tells of the last file of a stream that is gone but HEAD and the other stream,
        // and nothing names its chain value.
        let isLast = !rig.segments.contains { $0.hasPrefix(file.prefix(4)) && $0 > file }
        let step = try #require(steps.first { $0.file == file }, "\(file), \(isGone)")
        guard !(isLast && isGone) else { continue }
        #expect(step.isReplaced, "\(file), \(isGone)")
        try rig.write(repair, steps)
        let after = try rig.read(RepairRig.repaired)
        #expect(after.entries == before.entries && after.findings.isEmpty, "\(file), \(isGone)")
        #expect(rig.disk.content(of: "\(SmallLog.directory)/\(file)") == harmed)
      }
    }
  }

  @Test func `never takes a file that the chain does not name`() throws {
    // The copy is of a life that began in the same place and wrote something else.
    let rig = try RepairRig()
    let file = try #require(rig.segments.first { $0.hasPrefix("outbox") && $0.contains("03.g0") })
    let other = SimulatedDisk.root + "/other"
    let random = Mutex(SplitMix64(seed: 5))
    _ = try LogRestore(
      from: SmallLog.directory, into: other, fileSystem: rig.disk,
      random: { random.withLock { $0.next() } }, clock: { HybridTime(rawValue: 1 << 40) }
    ).run(LogRestore.Request(until: .position(LogPosition(stream: "outbox", number: 2))))
    let log = try Log.open(other, SmallLog.configuration(rig.disk, seed: 6)) { _, _ in }
    for _ in 0..<8 {
      _ = try log.appendAndWait(
        "outbox", [[SmallLog.entry(String(repeating: "z", count: 9_000))]])
    }
    try log.close()
    #expect(rig.disk.content(of: "\(other)/\(file)") != nil)
    try rig.disk.remove("\(SmallLog.directory)/\(file)")
    let step = try #require(try rig.repair(from: other).plan().first { $0.file == file })
    #expect(!step.isReplaced && step.lostCount > 0)
  }

  @Test func `in place moves the damaged file to the quarantine`() throws {
    let rig = try RepairRig()
    let before = try rig.read(SmallLog.directory).entries
    let file = try #require(rig.segments.first { $0.hasPrefix("outbox") })
    let harmed = try rig.spoil(file)
    let repair = try rig.repair()
    try rig.apply(repair, try repair.plan())
    let after = try rig.read(SmallLog.directory)
    #expect(after.entries == before && after.findings.isEmpty)
    let kept = rig.disk.paths.filter { $0.hasPrefix(SmallLog.directory + "/quarantine/") }
    #expect(kept.count == 1 && rig.disk.content(of: kept[0]) == harmed)
  }

  @Test func `of a whole log has nothing to do, and a copy of another log is refused`() throws {
    let rig = try RepairRig()
    #expect(try rig.repair().plan().isEmpty)
    let other = SimulatedDisk.root + "/other"
    let log = try Log.open(other, SmallLog.configuration(rig.disk, seed: 77)) { _, _ in }
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("x")]])
    try log.close()
    #expect(throws: CopyError.otherLog(path: other)) { _ = try rig.repair(from: other) }
  }
}
