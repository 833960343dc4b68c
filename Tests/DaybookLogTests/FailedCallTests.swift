import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A call to the disk that fails, at every place where one can, with the life going on around it.
@Suite struct FailedCallTests {
  private static let callCount: Int = {
    let disk = SimulatedDisk(seed: 1)
    TwoLives(LogHarness(disk: disk)).run()
    return disk.callCount
  }()

  private static let faults: [@Sendable (Int) -> SimulatedDisk.Fault] = [
    { .fail(at: $0, .other(5)) }, { .shortWrite(at: $0) }, { .failedSync(at: $0) },
  ]

  @Test(arguments: 0..<faults.count)
  func `one failed call takes no acknowledged entry and brings back no refused one`(
    kind: Int
  ) throws {
    for call in 1...Self.callCount {
      let fault = Self.faults[kind](call)
      let disk = SimulatedDisk(seed: UInt64(call), fault: fault)
      let workload = TwoLives(LogHarness(disk: disk))
      workload.run(stopsAtError: false)
      disk.set(.none)
      #expect(workload.damage == [], "\(fault)")
      for mode in [SimulatedDisk.Crash.killed, .dropped] where mode == .dropped || call % 3 == 0 {
        let harness = LogHarness(disk: disk.crashed(mode, seed: UInt64(call)))
        let opened = try harness.open()
        #expect(workload.problem(with: opened.entries) == nil, "\(fault)")
        #expect(!opened.log.isReadOnly, "\(fault): \(opened.log.findings.map(\.message))")
        try opened.log.close()
        let bad = try harness.reports().filter { ![.clean, .settled].contains($0.verdict) }
        #expect(
          bad.map { "\($0.file) \($0.verdict) \($0.findings.map(\.message))" } == [], "\(fault)")
      }
    }
  }

  @Test func `a full disk refuses writes and takes them again when it has room`() throws {
    let disk = SimulatedDisk(seed: 2)
    let harness = LogHarness(disk: disk)
    let log = try harness.open().log
    _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [1])]])
    for _ in 0..<3 {
      disk.set(.fail(at: disk.callCount + 1, .diskFull))
      #expect(throws: LogError.self) {
        try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [2])]])
      }
      disk.set(.none)
      _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [3])]])
    }
    try log.close()
    #expect(
      try harness.replayed() == [
        "outbox:1 \u{1} (1)", "outbox:2 \u{3} (1)", "outbox:3 \u{3} (1)", "outbox:4 \u{3} (1)",
      ])
  }

  @Test func `nothing is acknowledged by a sync that failed`() throws {
    let disk = SimulatedDisk(seed: 2)
    let harness = LogHarness(disk: disk)
    let log = try harness.open().log
    _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [1])]])
    disk.set(.failedSync(at: disk.callCount + 2))
    do throws(LogError) {
      _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [2])]])
      Issue.record("acknowledged")
    } catch {
      #expect(error == .notWritten(FileError(.other(5), .sync, harness.segments[0])))
    }
    let first = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [3])]])
    #expect(first == 2)
    try log.close()
    #expect(try harness.replayed() == ["outbox:1 \u{1} (1)", "outbox:2 \u{3} (1)"])
  }
}
