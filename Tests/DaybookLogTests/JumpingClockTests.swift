import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// F70: clocks that jump. Time stands in frames and headers for people to read; nothing is decided
/// by it.
@Suite struct JumpingClockTests {
  @Test func `a clock that goes back from start to start changes nothing`() throws {
    var disk = SimulatedDisk(seed: 1)
    var written: [String] = []
    var identities: Set<LogIdentity> = []
    // The seed is the hour, too.
    for seed in [900, 5, 700, 1, 2, .max >> 20] as [UInt64] {
      let (log, found) = try SmallLog.open(disk, seed: seed)
      #expect(found.texts["outbox"] == written, "hour \(seed)")
      #expect(found.findings == [], "hour \(seed)")
      identities.insert(log.identity)
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("op \(seed)")]])
      _ = try log.appendAndWait("feed", [[SmallLog.entry("page \(seed)")]])
      written.append("op \(seed)")
      // Closed or killed, in turn.
      if written.count % 2 == 0 {
        try log.close()
      } else {
        let after = disk.crashed(.killed, seed: seed)
        disk.abandon()
        disk = after
      }
    }
    #expect(identities.count == 1)
    let found = try SmallLog.inspect(disk)
    #expect(found.texts["outbox"] == written)
    #expect(found.isGapless)
  }

  private static let first = Identifier(high: 1, low: 1)
  private static let second = Identifier(high: 2, low: 2)

  /// A directory with nothing but headers: of `stream`, of the given life, at the given hour.
  private func newest(
    _ headers: [(stream: String, life: Identifier, hour: UInt64)]
  ) throws -> Identifier? {
    let disk = SimulatedDisk(seed: 1)
    var ordinals: [String: UInt64] = [:]
    for (stream, life, hour) in headers {
      let ordinal = ordinals[stream, default: 0] + 1
      ordinals[stream] = ordinal
      let header = SegmentHeader(
        logID: Identifier(high: 9, low: 9), incarnation: life,
        salt: Identifier(high: hour, low: ordinal), stream: stream, ordinal: ordinal,
        isEchoed: false, firstNumber: 1, clock: hour, predecessor: nil, account: "rep-7")
      disk.put(
        header.pages,
        at: SmallLog.directory + "/" + LogDirectory.file(of: stream, ordinal: ordinal))
    }
    return try LogDirectory(SmallLog.directory, fileSystem: disk).newestHeader()?.incarnation
  }

  @Test func `the life that came last names the log, whatever its clock said`() throws {
    let (first, second) = (Self.first, Self.second)
    #expect(try newest([("outbox", first, 9), ("outbox", second, 1)]) == second)
    #expect(
      try newest([("outbox", first, 9), ("outbox", second, 1), ("feed", first, 99)]) == second)
    // A life that another one follows is over, in every stream.
    #expect(
      try newest([("outbox", first, 99), ("feed", first, 98), ("feed", second, 1)]) == second)
    #expect(try newest([("feed", first, 9), ("outbox", second, 1)]) == second)
    #expect(try newest([("changes", first, 9), ("changes", second, 1)]) == second)
  }
}
