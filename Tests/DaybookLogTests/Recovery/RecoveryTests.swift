import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Opening a damaged log: what is left goes on, what is lost is named, and is known from then on.
@Suite struct RecoveryTests {
  // F20, F22, F23, F26, F27
  @Test(arguments: WoundedLog.wounds)
  func `a damaged log opens, replays what is left and names what is lost`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let (log, found) = try SmallLog.open(wounded.disk, seed: 2)
    #expect(found.places == wound.left)
    #expect(!log.isReadOnly)
    #expect(log.damage.found.isEmpty == false)
    #expect(log.damage.known == [])
    #expect(log.damage.lost["outbox"] ?? [] == (wound.lost.map { [$0] } ?? []))
    #expect(log.damage.cut == (wound.cut.map { ["feed": $0] } ?? [:]))
    #expect(
      log.damage.actions.isEmpty
        == (wound.lost == nil && log.damage.evidence.isEmpty
          && wound.cut == nil))
    // Readers without the lock see the same, before and after.
    try log.close()
    #expect(try SmallLog.inspect(wounded.disk).places == wound.left)
  }

  // F17: repair is idempotent
  @Test(arguments: WoundedLog.wounds)
  func `damage is recorded once and known from then on`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let (first, _) = try SmallLog.open(wounded.disk, seed: 2)
    try first.close()
    let contents = wounded.contents
    for seed in UInt64(3)...4 {
      let (again, found) = try SmallLog.open(wounded.disk, seed: seed)
      #expect(found.places == wound.left)
      #expect(again.damage.found == [], "\(again.damage.found.map(\.message))")
      #expect(!again.damage.known.isEmpty)
      #expect(again.damage.known.allSatisfy { $0.message.contains("; known, recorded as ") })
      #expect(again.damage.lost["outbox"] ?? [] == (wound.lost.map { [$0] } ?? []))
      #expect(again.damage.cut == [:], "what was cut off has been fetched since, or will be")
      #expect(again.damage.evidence == [])
      #expect(!found.gaps.isEmpty)
      try again.close()
      #expect(wounded.contents == contents, "no new segment, no new evidence")
    }
  }

  // F24, F25, F66: recovery deletes nothing, and absence never means delete
  @Test(arguments: WoundedLog.wounds)
  func `recovery changes and removes nothing that is there`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let before = wounded.contents
    let (log, _) = try SmallLog.open(wounded.disk, seed: 2)
    try log.close()
    // A file that was prepared and never written to is no part of the log.
    for (path, bytes) in before where bytes.contains(where: { $0 != 0 }) {
      #expect(wounded.disk.content(of: path) == bytes, "\(path)")
    }
  }

  @Test(arguments: WoundedLog.wounds)
  func `evidence is kept under the name that the gap entry gives`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let (log, _) = try SmallLog.open(wounded.disk, seed: 2)
    try log.close()
    let directory = try LogDirectory(SmallLog.directory, fileSystem: wounded.disk)
    let gaps = try directory.streams.flatMap { try directory.gaps(of: $0) }.map(\.gap)
    #expect(!gaps.isEmpty)
    for gap in gaps {
      guard let name = gap.quarantine else {
        let content = wounded.disk.content(of: WoundedLog.path(gap.file))
        #expect(content ?? [] == [], "there was something to copy")
        continue
      }
      let bytes = try #require(wounded.disk.content(of: WoundedLog.path("quarantine/\(name)")))
      #expect(SHA256Digest.hash(bytes) == gap.evidence)
      let file = try wounded.content(gap.file)
      #expect(Array(file[Int(gap.offset)...].prefix(bytes.count)) == bytes)
      let words = name.dropLast("bytes".count) + "json"
      let text = try #require(wounded.disk.content(of: WoundedLog.path("quarantine/\(words)")))
      #expect(String(decoding: text, as: UTF8.self).contains(gap.file))
    }
  }

  // F18: counters stay consistent
  @Test(arguments: WoundedLog.wounds)
  func `numbers go on above all that were ever named`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let (log, _) = try SmallLog.open(wounded.disk, seed: 2)
    let outbox = try log.appendAndWait("outbox", [[SmallLog.entry("later")]])
    let feed = try log.appendAndWait("feed", [[SmallLog.entry("later too")]])
    #expect(outbox > 6)
    #expect(feed > 5)
    try log.close()
    let (again, found) = try SmallLog.open(wounded.disk, seed: 3)
    #expect(again.damage.found == [])
    #expect(found.places == wound.left.union(["outbox:\(outbox) later", "feed:\(feed) later too"]))
    try again.close()
  }

  @Test func `what a cut took away does not count, even if it can be read again`() throws {
    let wound = WoundedLog.wounds[3]
    let whole = WoundedLog()
    let wounded = try wound.log()
    let (log, _) = try SmallLog.open(wounded.disk, seed: 2)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("pulled again")]])
    try log.close()
    let file = try whole.place("feed", 3).file
    wounded.disk.put(try whole.content(file), at: WoundedLog.path(file))
    let (again, found) = try SmallLog.open(wounded.disk, seed: 3)
    #expect(found.texts["feed"] == ["f1", "f2", "pulled again"])
    try again.close()
  }

  @Test func `damage before and behind damage that is known is new`() throws {
    let wounded = try WoundedLog.wounds[3].log()
    let (log, _) = try SmallLog.open(wounded.disk, seed: 2)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("f3")], [SmallLog.entry("f4")]])
    _ = try log.appendAndWait("feed", [[SmallLog.entry("f5")]])
    try log.close()
    // Behind: the second frame that was pulled again.
    let file = try #require(wounded.files("feed").last)
    let last = try #require(try wounded.frames(file).last { $0.isBatch })
    try wounded.flip(file, [last.offset + 84])
    let (second, found) = try SmallLog.open(wounded.disk, seed: 3)
    #expect(found.texts["feed"] == ["f1", "f2", "f3", "f4"])
    #expect(second.damage.cut == ["feed": last.header.firstNumber])
    _ = try second.appendAndWait("feed", [[SmallLog.entry("f5")]])
    try second.close()
    // Before: all that was pulled since does not count either.
    try wounded.flip("feed", 1)
    let (third, rest) = try SmallLog.open(wounded.disk, seed: 4)
    #expect(rest.texts["feed"] == [])
    #expect(third.damage.cut == ["feed": 1])
    try third.close()
  }

  @Test func `a server's stream is not written to behind damage`() throws {
    let disk = SimulatedDisk()
    var configuration = SmallLog.configuration(disk)
    configuration.streams = [.changes]
    let log = try Log.open(SmallLog.directory, configuration) { _, _ in }
    for text in ["c1", "c2", "c3"] {
      _ = try log.appendAndWait("changes", [[SmallLog.entry(text)]])
    }
    try log.close()
    let path = WoundedLog.path("changes/00000001.g0.dbs")
    var bytes = try #require(disk.content(of: path))
    bytes[8_192 + 84] ^= 1
    disk.put(bytes, at: path)
    let paths = disk.paths
    let damaged = try Log.open(SmallLog.directory, configuration) { _, _ in }
    #expect(damaged.isReadOnly)
    #expect(throws: LogError.self) {
      try damaged.appendAndWait("changes", [[SmallLog.entry("c4")]])
    }
    try damaged.close()
    #expect(disk.paths == paths)
  }

  @Test func `a strict opening throws for new damage and leaves everything as it is`() throws {
    let wounded = try WoundedLog.wounds[0].log()
    let paths = wounded.disk.paths
    var configuration = SmallLog.configuration(wounded.disk, seed: 2)
    configuration.isStrict = true
    #expect(throws: LogError.self) {
      try Log.open(SmallLog.directory, configuration) { _, _ in }
    }
    #expect(wounded.disk.paths == paths)
    let (log, _) = try SmallLog.open(wounded.disk, seed: 3)
    try log.close()
    let again = try Log.open(SmallLog.directory, configuration) { _, _ in }
    #expect(!again.damage.known.isEmpty)
    try again.close()
  }
}
