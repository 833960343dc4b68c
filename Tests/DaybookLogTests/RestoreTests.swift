import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

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
    #expect(throws: CopyError.noSegment(path: SimulatedDisk.root + "/empty")) {
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

  @Test func `of a copy that ends in what was compacted meanwhile goes on from its inputs`() throws
  {
    let rig = CopyRig()
    for life in 0..<3 { try rig.write(6, from: 6 * life, seed: UInt64(life)).close() }
    rig.disk.drop("\(SmallLog.directory)/feed/00000003.g0.dbs")
    rig.disk.drop("\(SmallLog.directory)/HEAD")
    let directory = try LogDirectory(SmallLog.directory, fileSystem: rig.disk)
    try rig.restore(from: SmallLog.directory)
    let expected = try rig.read(CopyRig.restored)
    rig.disk.dropTree(CopyRig.restored)
    var random = SplitMix64(seed: 3)
    let made = try Compactor(directory, random: { random.next() }).compact(
      "outbox", directory.closedFiles(of: "outbox").map(\.file), isEchoed: true,
      isCompressed: false, keeps: { _ in true })
    #expect(made?.inputs.count ?? 0 > 2)
    try rig.restore(from: SmallLog.directory)
    let found = try rig.read(CopyRig.restored)
    #expect(found.entries == expected.entries)
    #expect(found.entries.count { $0.hasPrefix("outbox") } > 4)
    #expect(found.findings.filter(\.isLoss).map(\.stream) == expected.findings.map(\.stream))
  }
}
