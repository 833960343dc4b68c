import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

/// What opening says of a log that is not as it should be, and what holds for one that is.
@Suite struct OpeningTests {
  private let closed = DamageTests.log(Workload.everything + [.close]).disk
  private var disk: SimulatedDisk { closed.crashed(.killed, seed: 0) }

  private func path(_ name: String) -> String { "\(SmallLog.directory)/\(name)" }

  private func error(_ disk: SimulatedDisk) -> LogError? {
    do throws(LogError) {
      try SmallLog.open(disk).log.close()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a log that is open is locked for everybody else`() throws {
    let disk = disk
    let (log, _) = try SmallLog.open(disk)
    guard case .locked = error(disk) else {
      Issue.record("a second writer was let in")
      return
    }
    try log.close()
    #expect(error(disk) == nil)
  }

  @Test func `a newer version in FORMAT or in a header is told as such`() throws {
    let disk = disk
    disk.put(Array("daybook 2\n".utf8), at: path("FORMAT"))
    // Segments of this version know better than a text without a checksum.
    #expect(error(disk) == nil)
    for path in disk.paths where path.hasSuffix(".dbs") { disk.drop(path) }
    disk.put(Array("daybook 2\n".utf8), at: path("FORMAT"))
    #expect(error(disk) == .newerFormat(file: "FORMAT", found: 2, supported: 1))
    let other = self.disk
    let name = "outbox/00000001.g0.dbs"
    var bytes = try #require(other.content(of: path(name)))
    for page in [0, 4_096] {
      bytes[page + 8] = 2
      let checksum = CRC32C.checksum(bytes[page..<page + 508])
      withUnsafeBytes(of: checksum.littleEndian) {
        bytes.replaceSubrange(page + 508..<page + 512, with: $0)
      }
    }
    other.put(bytes, at: path(name))
    #expect(error(other) == .newerFormat(file: name, found: 2, supported: 1))
  }

  @Test func `another account, a file and a foreign folder are each told`() throws {
    var configuration = SmallLog.configuration(disk)
    configuration.account = "rep-8"
    #expect(throws: LogError.otherAccount(path: SmallLog.directory, found: "rep-7")) {
      _ = try Log.open(SmallLog.directory, configuration) { _, _ throws(LogError) in }
    }
    let file = SimulatedDisk()
    file.put([1], at: SmallLog.directory)
    #expect(error(file) == .notADirectory(path: SmallLog.directory))
    let folder = SimulatedDisk()
    folder.put([1], at: path("holiday.jpg"))
    #expect(error(folder) == .notALog(path: SmallLog.directory))
    #expect(folder.paths == [path("holiday.jpg")])
  }

  @Test func `what can be lost is made again with a note`() throws {
    for name in ["FORMAT", "HEAD", "LOCK"] {
      let disk = disk
      disk.drop(path(name))
      let (log, found) = try SmallLog.open(disk)
      #expect(found.findings == [], "\(name)")
      #expect(log.notes.count == 1, "\(name)")
      try log.close()
      let (again, _) = try SmallLog.open(disk)
      #expect(again.notes == [], "\(name)")
      try again.close()
    }
  }

  @Test func `every missing segment is told, and the log goes on`() throws {
    for path in closed.paths where path.hasSuffix(".dbs") {
      let disk = disk
      disk.drop(path)
      let (log, found) = try SmallLog.open(disk)
      let name = String(path.dropFirst(SmallLog.directory.count + 1))
      #expect(found.damage.contains { $0.kind == .missing && $0.file == name }, "\(name)")
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("more")]])
      try log.close()
    }
  }

  @Test func `a segment under the name of another is no segment of its own`() throws {
    let disk = disk
    let first = try #require(disk.content(of: path("outbox/00000001.g0.dbs")))
    disk.put(first, at: path("outbox/00000002.g0.dbs"))
    let found = try SmallLog.inspect(disk)
    #expect(found.damage.contains { $0.file == "outbox/00000002.g0.dbs" })
    #expect(found.texts["outbox"]?.count == Set(found.texts["outbox"] ?? []).count)
  }

  @Test func `odd file names are left alone`() throws {
    let disk = disk
    for name in ["1", "0", "18446744073709551615", "x"] {
      disk.put([1, 2, 3], at: path("outbox/\(name).g0.dbs"))
    }
    #expect(try SmallLog.inspect(disk).findings == [])
  }

  @Test func `two streams are replayed in the order in which they were written`() throws {
    for seed in UInt64(0)..<12 {
      var random = SplitMix64(seed: seed)
      let disk = SimulatedDisk()
      let (log, _) = try SmallLog.open(disk)
      var order: [String] = []
      for index in 0..<60 {
        let text = Workload.long("\(index)", Int(random.next() % 1_500))
        let stream = random.next() % 2 == 0 ? "outbox" : "feed"
        _ = try log.appendAndWait(stream, [[SmallLog.entry(text)]])
        order.append(text)
        if random.next() % 8 == 0 { try log.markIdle() }
      }
      try log.close()
      #expect(try SmallLog.inspect(disk).order == order, "seed \(seed)")
    }
  }

  @Test func `writers at the same time get numbers in order without a gap`() throws {
    let disk = SimulatedDisk()
    let (log, _) = try SmallLog.open(disk)
    let told = Mutex<[UInt64]>([])
    let group = WaitGroup()
    for writer in 0..<32 {
      group.start {
        for index in 0..<8 {
          let first = try? log.appendAndWait("outbox", [[SmallLog.entry("\(writer):\(index)")]])
          told.withLock { $0.append(first ?? 0) }
        }
      }
    }
    group.wait()
    try log.close()
    #expect(told.withLock { $0.sorted() } == Array(1...256))
    let found = try SmallLog.inspect(disk)
    #expect(found.isGapless)
    for writer in 0..<32 {
      let own = found.order.filter { $0.hasPrefix("\(writer):") }
      #expect(own == (0..<8).map { "\(writer):\($0)" })
    }
  }

  @Test func `a transaction beyond the limit is refused and costs nothing`() throws {
    let disk = SimulatedDisk()
    let (log, _) = try SmallLog.open(disk)
    let limit = LogLayout.frameByteLimit
    let large = NewEntry(kind: 1, bytes: [UInt8](repeating: 1, count: limit))
    #expect(throws: LogError.tooLarge(byteCount: limit + 12, limit: limit)) {
      _ = try log.appendAndWait("outbox", [[large]])
    }
    #expect(try log.appendAndWait("outbox", [[SmallLog.entry("small")]]) == 1)
    try log.close()
    #expect(throws: LogError.closed) {
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("late")]])
    }
  }
}
