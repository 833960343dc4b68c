import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Copies of logs of which a compaction output is damaged, or which lack something else.
@Suite struct `a copy of a compacted log` {
  /// A log whose output is damaged, and what it gave before.
  private func damaged() throws -> (rig: CopyRig, entries: [String]) {
    let rig = CopyRig()
    let output = try rig.writeCompacted()
    let entries = try rig.read(SmallLog.directory).entries
    try rig.spoil(output.file)
    #expect(try rig.read(SmallLog.directory).entries == entries, "the inputs stand in for it")
    return (rig, entries)
  }

  @Test func `has the files that stand in for a damaged output`() throws {
    let (rig, entries) = try damaged()
    _ = try rig.backup()
    #expect(try rig.read(CopyRig.copy).entries == entries)
    #expect(try rig.backup().copiedFileCount == 0, "the next one copies nothing")
  }

  @Test func `taken while the log is in use has them, too`() throws {
    let (rig, entries) = try damaged()
    let log = try SmallLog.open(rig.disk, seed: 3).log
    try rig.add(20..<21, to: log)
    _ = try rig.backup()
    #expect(Set(try rig.read(CopyRig.copy).entries).isSuperset(of: entries))
    try log.close()
  }

  @Test func `is restored with every entry that they hold`() throws {
    let (rig, entries) = try damaged()
    let outcome = try rig.restore(from: SmallLog.directory)
    #expect(!outcome.prefix.leavesOut && !outcome.prefix.hasHole)
    let restored = try rig.read(CopyRig.restored)
    #expect(restored.entries.filter { entries.contains($0) } == entries)
    #expect(restored.findings.filter(\.isLoss).isEmpty)
  }

  @Test func `has an output without a header, from which other files are completed`() throws {
    let rig = CopyRig()
    let output = try rig.writeCompacted()
    let entries = try rig.read(SmallLog.directory).entries
    let path = "\(SmallLog.directory)/\(output.file)"
    let bytes = try #require(rig.disk.content(of: path))
    rig.disk.put([UInt8](repeating: 0, count: 8_192) + bytes.dropFirst(8_192), at: path)
    try rig.spoil("outbox/00000002.g0.dbs")
    #expect(try rig.read(SmallLog.directory).entries == entries)
    _ = try rig.backup()
    #expect(try rig.read(CopyRig.copy).entries == entries)
    try rig.restore()
    #expect(Set(try rig.read(CopyRig.restored).entries).isSuperset(of: entries))
  }

  @Test func `that has a hole in an output is not restored in part, and says where it is`() throws {
    let (rig, entries) = try damaged()
    for file in rig.files(SmallLog.directory).keys where file.hasPrefix("outbox/0000000") {
      if file.hasSuffix("01.g0.dbs") { rig.disk.drop("\(SmallLog.directory)/\(file)") }
    }
    #expect(try rig.read(SmallLog.directory).entries != entries)
    do throws(CopyError) {
      try rig.restore(from: SmallLog.directory)
      Issue.record("it was restored")
    } catch {
      guard case .hole(let finding, _) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(finding.stream == "outbox")
    }
  }

  @Test func `that lacks entries in the end is an error`() throws {
    let rig = CopyRig()
    try rig.write(8).close()
    let backup = LogBackup(from: SmallLog.directory, to: CopyRig.copy, fileSystem: rig.disk)
    let error = #expect(throws: CopyError.self) {
      _ = try backup.run { file throws(CopyError) in
        // What was copied before goes away.
        if file == "outbox/00000002.g0.dbs" {
          rig.disk.drop("\(CopyRig.copy)/outbox/00000001.g0.dbs")
        }
      }
    }
    guard case .lacksEntries(CopyRig.copy, "outbox", let count)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(count > 0)
  }

  @Test func `of which a restore loses something is an error, though opening records it`() throws {
    let rig = CopyRig()
    try rig.write(8).close()
    let error = #expect(throws: CopyError.self) {
      try rig.restore(from: SmallLog.directory) { file throws(CopyError) in
        if file == "outbox/00000002.g0.dbs" {
          try? rig.spoil("outbox/00000001.g0.dbs", in: CopyRig.restored)
        }
      }
    }
    guard case .lacksEntries(CopyRig.restored, "outbox", _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `of no segment is refused, and an earlier copy stays as it is`() throws {
    let rig = CopyRig()
    try rig.write(3).close()
    _ = try rig.backup()
    let before = rig.files(CopyRig.copy)
    for file in rig.files(SmallLog.directory).keys where file.contains("/") || file == "HEAD" {
      rig.disk.drop("\(SmallLog.directory)/\(file)")
    }
    #expect(throws: CopyError.noSegment(path: SmallLog.directory)) { _ = try rig.backup() }
    #expect(throws: CopyError.noSegment(path: SmallLog.directory)) {
      try rig.restore(from: SmallLog.directory)
    }
    #expect(rig.files(CopyRig.copy) == before)
  }

  @Test func `of a feed without the outbox that it names has a hole`() throws {
    for hasHead in [false, true] {
      let rig = CopyRig()
      try rig.write(3).close()
      rig.disk.dropTree("\(SmallLog.directory)/outbox")
      if !hasHead { rig.disk.drop("\(SmallLog.directory)/HEAD") }
      let outcome = try rig.restore(from: SmallLog.directory)
      #expect(outcome.prefix.hasHole && outcome.prefix.leavesOut)
    }
  }

  @Test func `loses what the log has superseded and removed, once it is covered`() throws {
    let rig = CopyRig()
    _ = try rig.writeCompacted(isBackedUp: true)
    let entries = try rig.read(CopyRig.copy).entries
    #expect(try rig.backup().removedFileCount == 0, "the log has them still")
    let removed = try rig.removeSuperseded()
    let outcome = try rig.backup()
    #expect(outcome.removedFileCount == removed.count && !removed.isEmpty)
    #expect(try rig.read(CopyRig.copy).entries == entries)
    #expect(rig.files(CopyRig.copy).keys.sorted() == rig.files(SmallLog.directory).keys.sorted())
  }

  @Test func `keeps what a damaged output of the log does not cover`() throws {
    let rig = CopyRig()
    let output = try rig.writeCompacted(isBackedUp: true)
    let entries = try rig.read(CopyRig.copy).entries
    _ = try rig.backup()
    _ = try rig.removeSuperseded()
    try rig.spoil(output.file)
    // The copy's own is damaged, too: its inputs are all there is.
    try rig.spoil(output.file, in: CopyRig.copy)
    #expect(try rig.backup().removedFileCount == 0)
    #expect(try rig.read(CopyRig.copy).entries == entries)
  }

  @Test func `of a file that never comes to rest ends`() throws {
    let rig = CopyRig()
    let log = try rig.write(3)
    let backup = LogBackup(
      from: SmallLog.directory, to: CopyRig.copy, fileSystem: RestlessDisk(rig.disk))
    #expect(throws: CopyError.unsteady(path: SmallLog.directory)) { _ = try backup.run() }
    try log.close()
  }

  @Test func `of a place behind the end says that the log does not reach it`() throws {
    let rig = CopyRig()
    try rig.write(4).close()
    for (number, isReached) in [(8, true), (7, true), (9, false)] {
      let outcome = try rig.restore(
        from: SmallLog.directory, to: "\(CopyRig.restored)-\(number)",
        .init(until: .position(LogPosition(stream: "outbox", number: UInt64(number)))))
      #expect(outcome.prefix.reachesPlace == isReached, "\(number)")
    }
  }
}
