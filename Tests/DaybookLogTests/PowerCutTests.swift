import DaybookLog
import DaybookTestKit
import Testing

/// A power cut after every call of a short workload, in every way that a disk may forget.
@Suite struct PowerCutTests {
  private static let callCount: Int = {
    let disk = SimulatedDisk(seed: 1)
    TwoLives(LogHarness(disk: disk)).run()
    return disk.callCount
  }()

  @Test func `what was acknowledged is there after a power cut at any call`() throws {
    var changeCount = -1
    for call in 1...Self.callCount + 1 {
      let disk = SimulatedDisk(seed: UInt64(call), fault: .stop(at: call))
      let workload = TwoLives(LogHarness(disk: disk))
      workload.run()
      // After a call that only looks, nothing is as it was not before.
      if disk.changeCount == changeCount { continue }
      changeCount = disk.changeCount
      for mode in SimulatedDisk.Crash.allCases {
        let survivor = disk.crashed(mode, seed: UInt64(call))
        try check(LogHarness(disk: survivor), workload, "\(mode) at call \(call)")
      }
    }
  }

  /// A pure crash is never taken for damage; opening shows what was acknowledged, and the same
  /// again; then the log can be written to and ends whole.
  private func check(_ harness: LogHarness, _ workload: TwoLives, _ place: String) throws {
    if harness.disk.paths.contains(where: { $0.hasSuffix("/FORMAT") }) {
      let reports = try harness.reports()
      let alarms = reports.filter(\.isDamage).flatMap(\.findings).map(\.message)
      #expect(alarms == [], "verified after \(place)")
    }
    let first = try harness.open()
    #expect(workload.problem(with: first.entries) == nil, "\(place)")
    #expect(!first.log.isReadOnly, "\(place): \(first.log.findings.map(\.message))")
    try first.log.close()
    let second = try harness.open()
    #expect(second.entries == first.entries, "opened twice after \(place)")
    _ = try second.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [1])]])
    _ = try second.log.appendAndWait("feed", [[NewEntry(kind: 1, bytes: [2])]])
    try second.log.close()
    let whole = try harness.reports().filter { ![.clean, .settled].contains($0.verdict) }
    #expect(
      whole.map { "\($0.file) \($0.verdict)" } == [], "closed after \(place)")
    #expect(try harness.replayed().count == first.entries.count + 2, "\(place)")
  }

  @Test(arguments: [SimulatedDisk.Crash.dropped, .tornPages, .garbage])
  func `a power cut while opening after a power cut loses nothing either`(
    mode: SimulatedDisk.Crash
  ) throws {
    for call in stride(from: 7, through: Self.callCount, by: 19) {
      let disk = SimulatedDisk(seed: UInt64(call), fault: .stop(at: call))
      let workload = TwoLives(LogHarness(disk: disk))
      workload.run()
      let quiet = LogHarness(disk: disk.crashed(mode, seed: UInt64(call)))
      try settle(quiet)
      var changeCount = -1
      for inner in 1...quiet.disk.callCount {
        let again = disk.crashed(mode, seed: UInt64(call), fault: .stop(at: inner))
        try? settle(LogHarness(disk: again))
        if again.changeCount == changeCount { continue }
        changeCount = again.changeCount
        let survivor = LogHarness(disk: again.crashed(mode, seed: UInt64(inner)))
        let opened = try survivor.open()
        let place = "\(mode) at call \(call), then \(inner)"
        let entries = opened.entries.filter { !$0.contains("after") }
        #expect(workload.problem(with: entries) == nil, "\(place)")
        #expect(!opened.log.isReadOnly, "\(place): \(opened.log.findings.map(\.message))")
        try opened.log.close()
        let whole = try survivor.reports().filter { ![.clean, .settled].contains($0.verdict) }
        let problems = whole.map { "\($0.file) \($0.verdict) \($0.findings.map(\.message))" }
        #expect(problems == [], "\(place)")
      }
    }
  }

  /// Opens a log after a power cut, goes on in it, and ends it.
  private func settle(_ harness: LogHarness) throws {
    let opened = try harness.open()
    defer { try? opened.log.close() }
    _ = try opened.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: Array("after".utf8))]])
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
