import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

/// A log on a simulated disk that is copied and restored.
private struct CopyRig {
  static let copy = SimulatedDisk.root + "/copy"
  static let restored = SimulatedDisk.root + "/restored"
  let disk = SimulatedDisk(seed: 1)

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
    _ request: LogRestore.Request = .init()
  ) throws -> LogRestore.Outcome {
    let random = Mutex(SplitMix64(seed: 77))
    return try LogRestore(
      from: source, into: target, fileSystem: disk, random: { random.withLock { $0.next() } },
      clock: { HybridTime(rawValue: 1 << 40) }
    ).run(request)
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

@Suite struct `a backup` {
  @Test func `of a closed log is the same files, durable, and a second one copies nothing`()
    throws
  {
    let rig = CopyRig()
    try rig.write(12).close()
    let outcome = try rig.backup()
    let original = rig.files(SmallLog.directory)
    #expect(rig.files(CopyRig.copy) == original)
    #expect(outcome.copiedByteCount == UInt64(original.values.reduce(0) { $0 + $1.count }))
    let again = try rig.backup()
    #expect(again.copiedFileCount == 0 && again.copiedByteCount == 0)
    #expect(again.unchangedFileCount == outcome.copiedFileCount)

    let after = rig.disk.crashed(.dropped, seed: 1)
    for file in original.keys where file != "LOCK" {
      #expect(after.content(of: "\(CopyRig.copy)/\(file)") == original[file], "\(file)")
    }
  }

  @Test func `copies only what is new`() throws {
    let rig = CopyRig()
    try rig.write(12).close()
    _ = try rig.backup()
    let before = Set(rig.files(CopyRig.copy).keys)
    try rig.write(1, from: 12, seed: 2).close()
    let outcome = try rig.backup()
    let fresh = Set(rig.files(CopyRig.copy).keys).subtracting(before)
    #expect(outcome.copiedFileCount == fresh.count + 1, "the new segments, and HEAD")
    #expect(try rig.read(CopyRig.copy).entries == rig.read(SmallLog.directory).entries)
  }

  @Test func `of an open log is a state that it had, and nothing in it is missing`() throws {
    let rig = CopyRig()
    let log = try rig.write(9)
    for round in 0..<6 {
      let outcome = try rig.backup()
      #expect(outcome.wasInUse)
      let copy = try rig.read(CopyRig.copy)
      #expect(copy.findings.filter(\.isLoss).isEmpty)
      #expect(try copy.entries == rig.read(SmallLog.directory).entries)
      try rig.add((9 + round)..<(10 + round), to: log)
    }
    try log.close()
  }

  @Test func `taken while the log is written to is whole at every moment`() throws {
    // Before each file that is copied, the log goes on.
    let rig = CopyRig()
    let log = try rig.write(7)
    var group = 7
    for _ in 0..<5 {
      let before = try rig.read(SmallLog.directory).entries
      let backup = LogBackup(from: SmallLog.directory, to: CopyRig.copy, fileSystem: rig.disk)
      _ = try backup.run { _ throws(CopyError) in
        try? rig.add(group..<(group + 1), to: log)
        group += 1
      }
      let copy = try rig.read(CopyRig.copy)
      #expect(copy.findings.filter(\.isLoss).isEmpty, "\(copy.findings.map(\.message))")
      #expect(Set(copy.entries).isSuperset(of: before))
    }
    try log.close()
  }

  @Test func `of a damaged file is made, and never takes the place of a better copy`() throws {
    let rig = CopyRig()
    try rig.write(12).close()
    _ = try rig.backup()
    let file = "outbox/00000001.g0.dbs"
    let good = try #require(rig.disk.content(of: "\(CopyRig.copy)/\(file)"))
    var bad = good
    for index in 8_192..<20_000 where index < bad.count { bad[index] = 0xAA }
    rig.disk.put(bad, at: "\(SmallLog.directory)/\(file)")
    let outcome = try rig.backup()
    #expect(outcome.keptFiles == [file])
    #expect(rig.disk.content(of: "\(CopyRig.copy)/\(file)") == good)

    let fresh = SimulatedDisk.root + "/fresh"
    _ = try LogBackup(from: SmallLog.directory, to: fresh, fileSystem: rig.disk).run()
    #expect(rig.disk.content(of: "\(fresh)/\(file)") == bad, "what is there is copied all the same")
  }

  @Test func `refuses the log itself, a place in it, another log, another life and other files`()
    throws
  {
    let rig = CopyRig()
    try rig.write(3).close()
    func error(to target: String) -> CopyError? {
      do throws(CopyError) {
        _ = try LogBackup(from: SmallLog.directory, to: target, fileSystem: rig.disk).run()
        return nil
      } catch {
        return error
      }
    }
    #expect(error(to: SmallLog.directory) == .sameDirectory(path: SmallLog.directory))
    let inside = SmallLog.directory + "/backup"
    #expect(error(to: inside) == .inside(path: inside, of: SmallLog.directory))

    let other = SimulatedDisk.root + "/other"
    let stranger = try Log.open(other, SmallLog.configuration(rig.disk, seed: 9)) { _, _ in }
    _ = try stranger.appendAndWait("outbox", [[SmallLog.entry("x")]])
    try stranger.close()
    #expect(error(to: other) == .otherLog(path: other))
    rig.disk.put([1], at: SimulatedDisk.root + "/photos/1.jpg")
    #expect(
      error(to: SimulatedDisk.root + "/photos") == .notEmpty(path: SimulatedDisk.root + "/photos"))

    // A backup goes on; a life restored from it is another one.
    _ = try rig.backup()
    try rig.restore()
    try rig.write(1, from: 3, seed: 3).close()
    #expect(throws: CopyError.self) {
      _ = try LogBackup(from: CopyRig.restored, to: SmallLog.directory, fileSystem: rig.disk).run()
    }
  }

  @Test func `survives a machine that stops at any call, and the next one makes it whole`() throws {
    let rig = CopyRig()
    try rig.write(6).close()
    let start = rig.disk.callCount
    _ = try rig.backup()
    let calls = rig.disk.callCount - start
    let entries = try rig.read(SmallLog.directory).entries
    for call in stride(from: 1, through: calls, by: 3) {
      let rig = CopyRig()
      try rig.write(6).close()
      rig.disk.set(.stop(at: rig.disk.callCount + call))
      _ = try? rig.backup()
      let disk = rig.disk.crashed(.tornPages, seed: UInt64(call))
      _ = try LogBackup(from: SmallLog.directory, to: CopyRig.copy, fileSystem: disk).run()
      var found: [String] = []
      var replay = try LogReplay(
        LogDirectory(CopyRig.copy, fileSystem: disk), streams: ["feed", "outbox"])
      try replay.run { entry throws(LogError) in found.append("\(entry.stream):\(entry.number)") }
      #expect(found.count == entries.count, "call \(call)")
      #expect(replay.findings.isEmpty, "call \(call)")
    }
  }
}

@Suite struct `a restore` {
  @Test func `has all entries, a life of its own, and says so in the outbox`() throws {
    let rig = CopyRig()
    try rig.write(8).close()
    _ = try rig.backup()
    let before = try #require(
      try LogDirectory(CopyRig.copy, fileSystem: rig.disk).newestHeader()
    ).incarnation
    let outcome = try rig.restore()
    let original = try rig.read(SmallLog.directory).entries
    let restored = try rig.read(CopyRig.restored)
    #expect(restored.findings.isEmpty)
    #expect(restored.entries.dropLast() == original[...])
    #expect(restored.entries.last == "outbox:17 restored")
    #expect(outcome.from == before && outcome.incarnation != before)
    let directory = try LogDirectory(CopyRig.restored, fileSystem: rig.disk)
    #expect(try directory.newestHeader()?.incarnation == outcome.incarnation)
    #expect(!directory.isInUse && directory.head != nil)
  }

  @Test func `ends at any position, at a frame boundary, and every entry stands in two pages`()
    throws
  {
    let rig = CopyRig()
    try rig.write(8).close()
    let original = try rig.read(SmallLog.directory).entries
    for number in UInt64(0)...16 {
      let target = "\(CopyRig.restored)-\(number)"
      try rig.restore(
        from: SmallLog.directory, to: target,
        LogRestore.Request(until: .position(LogPosition(stream: "outbox", number: number))))
      let restored = try rig.read(target)
      #expect(restored.findings.isEmpty, "\(number)")
      let entries = Array(restored.entries.dropLast())
      #expect(entries == Array(original.prefix(entries.count)), "\(number)")
      // Short transactions of a group share a frame, which is never split.
      let last = entries.last { $0.hasPrefix("outbox") }
      let reached = last.flatMap { UInt64($0.dropFirst(7).prefix { $0.isNumber }) } ?? 0
      #expect(reached == number || reached == number - 1, "\(number)")

      // One page of the last file gone costs nothing.
      let directory = try LogDirectory(target, fileSystem: rig.disk)
      guard
        let cut = directory.streams.first(where: { $0.name == "outbox" })?.segments.dropLast().last
      else { continue }
      let path = "\(target)/\(cut.file)"
      let bytes = try #require(rig.disk.content(of: path))
      for page in stride(from: 8_192, to: bytes.count, by: 4_096) {
        var harmed = bytes
        for index in page..<min(page + 4_096, bytes.count) { harmed[index] = 0 }
        rig.disk.put(harmed, at: path)
        let found = try rig.read(target)
        #expect(found.entries == restored.entries, "\(number), page \(page)")
      }
      rig.disk.put(bytes, at: path)
    }
  }

  @Test func `ends at a time`() throws {
    let rig = CopyRig()
    let log = try rig.write(6)
    try log.close()
    let original = try rig.read(SmallLog.directory).entries
    var clocks: [Timestamp] = []
    var replay = try LogReplay(
      LogDirectory(SmallLog.directory, fileSystem: rig.disk), streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in clocks.append(entry.clock.time) }
    let time = try #require(clocks.max())
    try rig.restore(from: SmallLog.directory, LogRestore.Request(until: .time(time)))
    #expect(try rig.read(CopyRig.restored).entries.dropLast() == original[...])
    let early = CopyRig.restored + "-early"
    try rig.restore(
      from: SmallLog.directory, to: early,
      LogRestore.Request(until: .time(Timestamp(milliseconds: -1))))
    #expect(try rig.read(early).entries == ["outbox:1 restored"])
  }

  @Test func `of streams copied at different times ends where both are there`() throws {
    // The feed as it was early, the outbox as it is now, and the other way round.
    for stream in ["feed", "outbox"] {
      let rig = CopyRig()
      let log = try rig.write(4)
      let early = rig.files(SmallLog.directory)
      let count = try rig.read(SmallLog.directory).entries.count
      try rig.add(4..<9, to: log)
      let late = rig.files(SmallLog.directory)
      try log.close()
      for (file, bytes) in late {
        guard let chosen = file.hasPrefix(stream) ? early[file] : bytes else { continue }
        rig.disk.put(chosen, at: "\(CopyRig.copy)/\(file)")
      }
      try rig.restore()
      let restored = try rig.read(CopyRig.restored)
      let original = try rig.read(SmallLog.directory).entries
      let entries = Array(restored.entries.dropLast())
      #expect(restored.findings.isEmpty)
      #expect(entries.count >= count)
      #expect(Set(entries).isSubset(of: original))
    }
  }

  @Test func `of a copy with any one page gone has every entry of the outbox`() throws {
    let rig = CopyRig()
    try rig.write(4).close()
    _ = try rig.backup()
    let original = try rig.read(SmallLog.directory).entries.filter { $0.hasPrefix("outbox") }
    let files = rig.files(CopyRig.copy).keys.filter { $0.hasPrefix("outbox/") }.sorted()
    for file in files {
      let path = "\(CopyRig.copy)/\(file)"
      let bytes = try #require(rig.disk.content(of: path))
      for page in stride(from: 0, to: bytes.count, by: 4_096) {
        var harmed = bytes
        for index in page..<min(page + 4_096, bytes.count) { harmed[index] = 0 }
        rig.disk.put(harmed, at: path)
        let target = "\(CopyRig.restored)-\(file.filter { $0 != "/" })-\(page)"
        try rig.restore(to: target)
        let restored = try rig.read(target).entries.filter { $0.hasPrefix("outbox") }
        #expect(Array(restored.prefix(original.count)) == original, "\(file), page \(page)")
      }
      rig.disk.put(bytes, at: path)
    }
  }

  @Test func `of a copy with a hole ends before it and says what it leaves out`() throws {
    let rig = CopyRig()
    try rig.write(8).close()
    _ = try rig.backup()
    let file = "\(CopyRig.copy)/outbox/00000002.g0.dbs"
    var bytes = try #require(rig.disk.content(of: file))
    for index in 8_192..<bytes.count { bytes[index] = 0x55 }
    rig.disk.put(bytes, at: file)
    let outcome = try rig.restore()
    #expect(outcome.prefix.leavesOut && !outcome.prefix.findings.isEmpty)
    let restored = try rig.read(CopyRig.restored)
    let original = try rig.read(SmallLog.directory).entries
    #expect(restored.findings.isEmpty)
    let entries = Array(restored.entries.dropLast())
    #expect(!entries.isEmpty && entries.count < original.count)
    #expect(Set(entries).isSubset(of: original))
  }

  @Test func `refuses a place that is taken, a log of nothing and a stream that is not there`()
    throws
  {
    let rig = CopyRig()
    try rig.write(2).close()
    #expect(throws: CopyError.notEmpty(path: SmallLog.directory)) {
      try rig.restore(from: SmallLog.directory, to: SmallLog.directory)
    }
    #expect(throws: CopyError.log(.noSuchStream("changes"))) {
      try rig.restore(
        from: SmallLog.directory,
        LogRestore.Request(until: .position(LogPosition(stream: "changes", number: 1))))
    }
    rig.disk.put(Array("daybook 1\n".utf8), at: SimulatedDisk.root + "/empty/FORMAT")
    #expect(throws: CopyError.nothingWhole(path: SimulatedDisk.root + "/empty")) {
      try rig.restore(from: SimulatedDisk.root + "/empty")
    }
  }

  @Test func `can be backed up, restored and written to again`() throws {
    let rig = CopyRig()
    try rig.write(3).close()
    try rig.restore(from: SmallLog.directory)
    let second = CopyRig.restored + "-2"
    try rig.restore(from: CopyRig.restored, to: second)
    let log = try Log.open(second, SmallLog.configuration(rig.disk, seed: 5)) { _, _ in }
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("z")]])
    try log.close()
    let found = try rig.read(second)
    #expect(found.findings.isEmpty)
    #expect(found.entries.suffix(3) == ["outbox:7 restored", "outbox:8 restored", "outbox:9 z"])
  }
}
