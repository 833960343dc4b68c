import DaybookLog
import DaybookTestKit
import Testing

@Suite struct FaultTests {
  enum Kind: CaseIterable {
    case failure, fullDisk, shortWrite, failedSync

    func fault(at call: Int) -> SimulatedDisk.Fault {
      switch self {
      case .failure: .fail(at: call, .other(5))
      case .fullDisk: .fail(at: call, .diskFull)
      case .shortWrite: .shortWrite(at: call)
      case .failedSync: .failedSync(at: call)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `a call that fails costs nothing acknowledged and the log goes on`(_ kind: Kind) {
    for call in 1...CrashTests.callCount {
      let disk = SimulatedDisk(seed: UInt64(call), fault: kind.fault(at: call))
      var workload = Workload()
      workload.run(Workload.everything, on: disk)
      #expect(workload.damage == [], "call \(call)")
      for mode in [SimulatedDisk.Crash.killed, .garbagePages] {
        let after = disk.crashed(mode, seed: UInt64(call))
        let place: Comment = "\(kind) at call \(call), then \(mode)"
        do {
          let (log, found) = try SmallLog.open(after, seed: 2)
          #expect(workload.complaint(found) == nil, place)
          _ = try log.appendAndWait("outbox", [[SmallLog.entry("later")]])
          try log.close()
          let settled = try SmallLog.inspect(after)
          #expect(settled.damage == [], place)
          #expect(settled.texts["outbox"] == (found.texts["outbox"] ?? []) + ["later"], place)
        } catch {
          Issue.record(error, place)
        }
      }
    }
  }

  @Test func `two calls that fail cost nothing acknowledged`() {
    for call in 1...CrashTests.callCount {
      for distance in [1, 2, 3, 5] {
        let disk = SimulatedDisk(
          seed: UInt64(call), fault: .failTwice(at: call, distance: distance, .other(5)))
        var workload = Workload()
        workload.run(Workload.everything, on: disk)
        for mode in [SimulatedDisk.Crash.tornPages] {
          let after = disk.crashed(mode, seed: UInt64(call))
          let place: Comment = "calls \(call) and \(distance) later, then \(mode)"
          do {
            let (log, found) = try SmallLog.open(after, seed: 2)
            #expect(workload.complaint(found) == nil, place)
            try log.close()
          } catch {
            Issue.record(error, place)
          }
        }
      }
    }
  }
}
