import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A call to the disk that fails, at every place where one can, with the life going on around it.
@Suite struct FaultTests {
  private static let enumerator = FaultEnumerator<Workload> { disk in
    var workload = Workload()
    workload.run(Workload.everything, on: disk)
    return workload
  }

  @Test(arguments: FaultEnumerator<Workload>.Kind.allCases)
  func `a call that fails costs nothing acknowledged and the log goes on`(
    _ kind: FaultEnumerator<Workload>.Kind
  ) {
    var isTwice = false
    if case .twice(let distance) = kind {
      isTwice = true
      if !Thoroughness.isFull, distance % 3 == 2 { return }
    }
    let modes: [SimulatedDisk.Crash] =
      Thoroughness.isFull
      ? SimulatedDisk.Crash.allCases : isTwice ? [.tornPages] : [.killed, .garbagePages]
    let count = Self.enumerator.forEach(kind, then: modes) { disk, workload, place in
      #expect(workload.damage == [], "\(place)")
      withKnownPlace(place) {
        let (log, found) = try SmallLog.open(disk, seed: 2)
        #expect(workload.complaint(found) == nil, "\(place)")
        #expect(!log.isReadOnly, "\(place)")
        _ = try log.appendAndWait("outbox", [[SmallLog.entry("later")]])
        try log.close()
        let settled = try SmallLog.inspect(disk)
        #expect(settled.damage == [], "\(place)")
        #expect(settled.texts["outbox"] == (found.texts["outbox"] ?? []) + ["later"], "\(place)")
        #expect(try SmallLog.unwhole(disk) == [], "\(place)")
      }
    }
    #expect(count > 100)
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
