import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A disk that can't read a page any more, for good.
@Suite struct UnreadablePageTests {
  private let disk = SimulatedDisk(seed: 4)

  init() throws {
    let log = try SmallLog.open(disk).log
    for group in 0..<6 {
      let filling = String(repeating: "-", count: 1_500)
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("a\(group)\(filling)")]])
      _ = try log.appendAndWait("feed", [[SmallLog.entry("f\(group)\(filling)")]])
    }
    try log.close()
  }

  @Test func `each page is told, and no entry of the outbox is lost by it`() throws {
    let before = try SmallLog.inspect(disk)
    #expect(before.findings == [])
    var count = 0
    for path in disk.paths where path.hasSuffix(".dbs") {
      let byteCount = disk.content(of: path)?.count ?? 0
      for page in 0..<(byteCount + 4_095) / 4_096 {
        let copy = disk.crashed(.persisted, seed: 1)
        copy.makeUnreadable(path, page: page)
        let told = try SmallLog.reports(copy).flatMap(\.findings).filter { $0.kind == .unreadable }
        #expect(told.map(\.offset) == [UInt64(page * 4_096)], "\(path) \(page)")
        let (log, found) = try SmallLog.open(copy, seed: 2)
        #expect(found.texts["outbox"] == before.texts["outbox"], "\(path) \(page)")
        #expect(log.damage.found.contains { $0.kind == .unreadable })
        _ = try log.appendAndWait("outbox", [[SmallLog.entry("more")]])
        try log.close()
        let (again, known) = try SmallLog.open(copy, seed: 3)
        #expect(again.damage.found == [], "\(path) \(page)")
        #expect(known.texts["outbox"]?.count == 7)
        try again.close()
        count += 1
      }
    }
    #expect(count > 30)
  }

  @Test func `a snapshot of which nothing can be read is skipped`() throws {
    let snapshot = "snapshots/0000000003-0000000003.dbs"
    disk.put([1, 2, 3], at: "\(SmallLog.directory)/\(snapshot)")
    disk.makeUnreadable("\(SmallLog.directory)/\(snapshot)", page: 0)
    let found = try SmallLog.inspect(disk)
    #expect(found.findings.map { "\($0.kind) \($0.file)" } == ["standIn \(snapshot)"])
    #expect(found.texts["feed"]?.count == 6)
  }

  @Test func `a file of which nothing can be read, and any other error, stay errors`() throws {
    let copy = disk.crashed(.persisted, seed: 1)
    let file = "\(SmallLog.directory)/\(LogDirectory.file(of: "outbox", ordinal: 1))"
    for page in 0..<(copy.content(of: file)?.count ?? 0) / 4_096 + 1 {
      copy.makeUnreadable(file, page: page)
    }
    #expect(throws: LogError.self) { try SmallLog.inspect(copy) }
    disk.set(.refuse([.read], .permission))
    #expect(throws: LogError.self) { try SmallLog.inspect(disk) }
  }
}
