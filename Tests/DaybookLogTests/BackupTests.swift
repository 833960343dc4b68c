import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

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

  @Test func `of a log whose header never became whole lacks no file`() throws {
    let rig = CopyRig()
    try rig.write(3).close()
    let last = try #require(
      rig.files(SmallLog.directory).keys.filter { $0.hasPrefix("feed") }.max())
    #expect(last == "feed/00000001.g0.dbs")
    let torn = "feed/00000002.g0.dbs"
    rig.disk.put(SplitMix64.bytes(700, seed: 1), at: "\(SmallLog.directory)/\(torn)")
    let log = try rig.write(4, from: 3, seed: 2)
    _ = try rig.backup()
    #expect(rig.files(CopyRig.copy)[torn] != nil)
    let copy = try rig.read(CopyRig.copy)
    #expect(copy.findings == [])
    #expect(try copy.entries == rig.read(SmallLog.directory).entries)
    try log.close()
  }

  @Test func `taken again after a crash has nothing that the crash took`() throws {
    let rig = CopyRig()
    let log = try rig.write(3)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("unsynced")]], isSynced: false)
    _ = try rig.backup()
    #expect(try rig.read(CopyRig.copy).entries.contains { $0.hasSuffix("unsynced") })
    let after = CopyRig(disk: rig.disk.crashed(.dropped, seed: 1))
    for path in rig.disk.paths where path.hasPrefix(CopyRig.copy) {
      after.disk.put(try #require(rig.disk.content(of: path)), at: path)
    }
    let second = try SmallLog.open(after.disk, seed: 2).log
    _ = try second.appendAndWait("outbox", [[SmallLog.entry("later")]])
    #expect(try after.backup().keptFiles == [])
    let entries = try after.read(CopyRig.copy).entries
    #expect(try entries == after.read(SmallLog.directory).entries)
    #expect(!entries.contains { $0.hasSuffix("unsynced") })
    try second.close()
  }

  @Test func `is taken after a file that had been made ahead is gone`() throws {
    let rig = CopyRig()
    try rig.write(3).close()
    let spare = "\(SmallLog.directory)/feed/00000002.g0.dbs"
    rig.disk.put([UInt8](repeating: 0, count: 16_384), at: spare)
    _ = try rig.backup()
    rig.disk.drop(spare)
    _ = try rig.backup()
    #expect(try rig.read(CopyRig.copy).entries == rig.read(SmallLog.directory).entries)
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
