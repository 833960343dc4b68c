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
}
