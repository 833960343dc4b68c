import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A power cut, or the end of the process, after every call of a life of a log, in every way that a
/// disk may forget.
@Suite struct CrashTests {
  static let enumerator = CrashEnumerator<Workload> { disk in
    var workload = Workload()
    workload.run(Workload.everything, on: disk)
    return workload
  }

  // F1, F4, F6, F19, F31, F35: partial records, any order of what was not synced
  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `a crash after any call loses nothing acknowledged and is no damage`(
    _ mode: SimulatedDisk.Crash
  ) {
    let draws = Thoroughness.isFull ? 8 : 1
    let count = Self.enumerator.forEachCrash(in: [mode], drawCount: draws) {
      disk, workload, place in
      withKnownPlace(place) { try check(disk, workload, place) }
    }
    #expect(count > 100)
  }

  /// Looking finds no damage; opening shows what was acknowledged, and the same again; then the log
  /// can be written to and ends whole.
  private func check(_ disk: SimulatedDisk, _ workload: Workload, _ place: String) throws {
    if disk.paths.contains(where: { $0.hasSuffix("/FORMAT") }) {
      let alarms = try SmallLog.reports(disk).filter(\.isDamage).flatMap(\.findings)
      #expect(alarms.map(\.message) == [], "\(place)")
    }
    let (first, found) = try SmallLog.open(disk, seed: 2)
    #expect(workload.complaint(found) == nil, "\(place)")
    #expect(!first.isReadOnly, "\(place)")
    try first.close()
    let (second, again) = try SmallLog.open(disk, seed: 3)
    #expect(again.texts == found.texts, "\(place)")
    _ = try second.appendAndWait("outbox", [[SmallLog.entry("later")]])
    _ = try second.appendAndWait("feed", [[SmallLog.entry("later too")]])
    try second.close()
    #expect(try SmallLog.unwhole(disk) == [], "\(place)")
    #expect(try ChainOracle.problems(SmallLog.directory, disk) == [], "\(place)")
    var settled = try SmallLog.inspect(disk)
    #expect(settled.findings == [], "\(place)")
    #expect(settled.texts["outbox"]?.popLast() == "later", "\(place)")
    #expect(settled.texts["feed"]?.popLast() == "later too", "\(place)")
    #expect(settled.texts == found.texts, "\(place)")
  }

  private static let later: [Workload.Step] = [
    .open, .append("outbox", [["later"]]), .append("feed", [["later too"]]), .idle, .close,
  ]

  // F17
  @Test func `a second crash in any call of the reopening loses nothing either`() {
    let count = Self.enumerator.forEachNestedCrash(every: Thoroughness.isFull ? 1 : 17) {
      disk, workload in
      workload.run(Self.later, on: disk, seed: 2)
    } _: { disk, workload, place in
      withKnownPlace(place) {
        let (log, found) = try SmallLog.open(disk, seed: 3)
        #expect(workload.complaint(found) == nil, "\(place)")
        #expect(workload.damage == [] && !log.isReadOnly, "\(place)")
        for (stream, texts) in workload.shown {
          let start = found.texts[stream]?.prefix(texts.count) ?? []
          #expect(Array(start) == texts, "shown and lost: \(place)")
        }
        try log.close()
        #expect(try SmallLog.unwhole(disk) == [], "\(place)")
        #expect(try ChainOracle.problems(SmallLog.directory, disk) == [], "\(place)")
      }
    }
    #expect(count > 200)
  }

  @Test func `what a killed process wrote is durable before anything names it`() throws {
    let disk = SimulatedDisk(seed: 3)
    var harness = LogHarness(disk: disk)
    harness.streams[0].segmentByteLimit = 16 << 10
    let killed = try harness.open()
    // More than half a segment, so that the next one is prepared behind it.
    let page = [NewEntry(kind: 1, bytes: SplitMix64.bytes(5000, seed: 1))]
    _ = try killed.log.appendAndWait("feed", [page], isSynced: false)
    try killed.log.markIdle()
    _ = try killed.log.appendAndWait("feed", [page], isSynced: false)
    harness = LogHarness(disk: disk.crashed(.killed, seed: 1), streams: harness.streams)
    let next = try harness.open()
    #expect(next.entries.count == 2)
    _ = try next.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [1])]])
    let last = LogHarness(
      disk: harness.disk.crashed(.dropped, seed: 2), streams: harness.streams)
    let opened = try last.open()
    #expect(opened.entries.count == 3)
    #expect(opened.log.findings.filter(\.isLoss) == [])
    try opened.log.close()
  }
}

/// Runs `body`, whose errors belong to `place`.
func withKnownPlace(_ place: String, _ body: () throws -> Void) {
  do { try body() } catch { Issue.record(error, "\(place)") }
}
