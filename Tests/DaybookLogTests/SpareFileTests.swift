import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Files that no replay reads as long as all is well, and what was before a compaction.
@Suite struct SpareFileTests {
  private func spares(_ log: CompactedLog) throws -> [SpareFile] {
    try LogDirectory(SmallLog.directory, fileSystem: log.disk).spareFiles(besides: []) {}
  }

  @Test func `every superseded file and every snapshot has a verdict`() throws {
    let log = try CompactedLog()
    let found = try spares(log)
    #expect(Set(found.map(\.file)) == Set(log.outcome.inputs.map(\.file)))
    #expect(found.allSatisfy { $0.isClosed && $0.finding == nil && $0.entryCount > 0 })
    for input in log.outcome.inputs {
      let damaged = log.copied()
      damaged.zero(damaged.path(input), page: 3)
      let wrong = try spares(damaged).compactMap(\.finding)
      #expect(wrong.map(\.file) == [input.file])
      #expect(wrong.allSatisfy { !$0.isLoss })
    }
    let snapshot = "snapshots/0000000001-0000000001.dbs"
    log.disk.put([UInt8](repeating: 0, count: 9_000), at: "\(SmallLog.directory)/\(snapshot)")
    #expect(try spares(log).compactMap(\.finding).map(\.file) == [snapshot])
  }

  @Test func `what a compaction kept whole can be read as of then, up to what it dropped`() throws {
    let log = try CompactedLog { $0 <= 20 || $0 % 5 == 0 }
    let directory = try LogDirectory(SmallLog.directory, fileSystem: log.disk)
    for number in [1, 12, 20, 21, 30] as [UInt64] {
      #expect(try directory.asOf(["outbox": number]) == nil)
      let past = try directory.past(["outbox": number])
      #expect((past != nil) == (number <= 20), "\(number)")
    }
  }
}
