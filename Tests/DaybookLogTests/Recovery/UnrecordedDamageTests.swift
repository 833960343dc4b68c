import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What the log says of itself while damage can't be recorded, and of files whose neighbour is
/// gone.
@Suite struct UnrecordedDamageTests {
  // A disk that is full while the log opens takes no gap entry.
  @Test func `numbers that were passed over unrecorded are not said to be durable`() throws {
    var disk = SimulatedDisk(seed: 3)
    let first = try SmallLog.open(disk).log
    _ = try first.appendAndWait("outbox", [[SmallLog.entry("one")], [SmallLog.entry("two")]])
    disk.set(.fail(at: disk.callCount + 2, .other(5)))
    #expect(throws: LogError.self) {
      _ = try first.appendAndWait("outbox", [[SmallLog.entry("refused")]])
    }
    disk.set(.none)
    disk = disk.crashed(.persisted, seed: 1)
    let log = WoundedLog(disk: disk)
    let (file, copies) = try log.place("outbox", 1)
    try log.flip(file, [copies[0] + 84])
    disk.set(.refuse([.write, .create, .makeDirectory], .diskFull))
    let second = try SmallLog.open(disk, seed: 2).log
    #expect(second.damage.found.map(\.kind) == [.frameCopy])
    disk.set(.none)
    _ = try second.appendAndWait("feed", [[SmallLog.entry("page")]])
    try second.markIdle()
    disk = disk.crashed(.killed, seed: 1)
    let (third, found) = try SmallLog.open(disk, seed: 3)
    #expect(found.damage.filter(\.isLoss) == [])
    #expect(found.places == ["outbox:1 one", "outbox:2 two", "feed:1 page"])
    // The refused group named number 3.
    #expect(try third.appendAndWait("outbox", [[SmallLog.entry("four")]]) > 3)
    try third.close()
  }

  // A disk that fails once, at any call of an opening that has damage to record.
  @Test func `what an opening shows has a number that nothing else gets`() throws {
    let log = WoundedLog()
    let (file, copies) = try log.place("outbox", 2)
    try log.flip(file, [copies[0] + 84])
    let whole = log.copy
    let before = whole.disk.callCount
    _ = try SmallLog.open(whole.disk, seed: 2)
    var unrecorded = 0
    for call in 1...(whole.disk.callCount - before) {
      let failing = log.disk.crashed(.killed, seed: 0)
      failing.set(.fail(at: failing.callCount + call, .other(5)))
      guard let (opened, found) = try? SmallLog.open(failing, seed: 2), !opened.isReadOnly else {
        continue
      }
      failing.set(.none)
      let number = try opened.appendAndWait("outbox", [[SmallLog.entry("later")]])
      #expect(!found.gaps.contains("outbox:\(number)"), "call \(call)")
      try opened.close()
      let again = try SmallLog.inspect(failing)
      if again.gaps.isEmpty { unrecorded += found.gaps.isEmpty ? 0 : 1 }
      #expect(again.places == WoundedLog.all.union(["outbox:\(number) later"]), "call \(call)")
    }
    #expect(unrecorded > 0, "no opening showed what it could not record")
  }

  @Test func `a number that leaves none is refused, and nothing is hidden behind it`() throws {
    let log = WoundedLog()
    let file = try #require(log.files("outbox").last)
    var bytes = try log.content(file)
    let scan = SegmentScan(bytes)
    let salt = try #require(scan.header?.salt)
    for frame in scan.frames {
      var header = frame.header
      header.durableNumber = LogLayout.numberLimit
      let changed = header.bytes(at: frame.offset, salt: salt)
      bytes.replaceSubrange(frame.offset..<frame.offset + changed.count, with: changed)
    }
    log.disk.put(bytes, at: WoundedLog.path(file))
    for life in UInt64(2)...3 {
      let (opened, found) = try SmallLog.open(log.disk, seed: life)
      #expect(found.places == WoundedLog.all)
      let error = #expect(throws: LogError.self) {
        _ = try opened.appendAndWait("outbox", [[SmallLog.entry("none left")]])
      }
      guard case .numbersUsedUp("outbox")? = error else {
        Issue.record("refused as \(String(describing: error))")
        return
      }
      try? opened.close()
    }
  }

  @Test func `what a compaction makes behind numbers that were passed over is whole`() throws {
    let log = WoundedLog()
    try log.flip("feed", 3)
    // Recorded in a segment whose first number is above all that were named.
    let first = try SmallLog.open(log.disk, seed: 2).log
    _ = try first.appendAndWait("feed", [[SmallLog.entry("again")]])
    try first.close()
    let second = try SmallLog.open(log.disk, seed: 3).log
    _ = try second.appendAndWait("feed", [[SmallLog.entry("more")]])
    try second.close()
    let before = try SmallLog.inspect(log.disk)
    let directory = try LogDirectory(SmallLog.directory, fileSystem: log.disk)
    let closed = try directory.closedFiles(of: "feed")
    let last = try #require(closed.last?.file)
    var random = SplitMix64(seed: 4)
    let made = try Compactor(directory, random: { random.next() }).compact(
      "feed", [last], isEchoed: false, isCompressed: false, keeps: { _ in true })
    #expect(made != nil)
    let reports = try SmallLog.reports(log.disk)
    #expect(reports.flatMap(\.findings).filter { $0.record == nil } == [])
    #expect(before.gaps.count == 1)
  }

  /// A log in which `stream` has four segments that were never closed.
  private static func crashed(_ stream: String) throws -> WoundedLog {
    var disk = SimulatedDisk(seed: 5)
    for life in UInt64(1)...4 {
      let log = try SmallLog.open(disk, seed: life).log
      for place in 1...2 {
        _ = try log.appendAndWait(stream, [[SmallLog.entry("\(life), \(place)")]])
      }
      disk = disk.crashed(.killed, seed: life)
    }
    return WoundedLog(disk: disk)
  }

  @Test(arguments: ["feed", "outbox"], [false, true])
  func `what a file has lost is not told of the one before`(stream: String, isGone: Bool) throws {
    let log = try Self.crashed(stream)
    let files = log.files(stream)
    #expect(files.count == 4)
    for place in 1...2 {
      let wounded = log.copy
      let first = try #require(SegmentScan(try log.content(files[place])).header?.firstNumber)
      let next = try #require(SegmentScan(try log.content(files[place + 1])).header?.firstNumber)
      if isGone {
        wounded.drop(files[place])
      } else {
        try wounded.zero(files[place], pages: [0, 1])
      }
      let bad = try SmallLog.reports(wounded.disk).filter(\.isDamage)
      #expect(bad.map(\.file) == [files[place]])
      let lost = bad.flatMap(\.findings).compactMap(\.lost)
      let isSalvaged = stream == "outbox" && !isGone
      #expect(lost == (isSalvaged ? [] : [first...(next - 1)]), "\(files[place])")
    }
  }

  @Test func `what was lifted out of a file without a header is shown again`() throws {
    let log = try Self.crashed("outbox")
    let files = log.files("outbox")
    // The end of the file before is lost, too.
    let last = try #require(try log.frames(files[0]).last { $0.isBatch })
    try log.zero(
      files[0],
      pages: try log.copies(files[0], holding: last.nextNumber - 1).map {
        $0 / 4_096
      })
    try log.zero(files[1], pages: [0, 1])
    let (first, shown) = try SmallLog.open(log.disk, seed: 9)
    try first.close()
    #expect(shown.places.count == 7)
    for life in UInt64(10)...11 {
      let (again, found) = try SmallLog.open(log.disk, seed: life)
      #expect(found.places == shown.places)
      #expect(again.damage.found == [])
      try again.close()
    }
  }
}
