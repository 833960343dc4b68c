import DaybookLog
import DaybookTestKit
import Testing

@Suite struct CrashTests {
  static let later: [Workload.Step] = [
    .open, .append("outbox", [["later"]]), .append("feed", [["later too"]]), .idle, .close,
  ]

  /// Every how many first crashes are followed by a second one; all of them in release builds.
  #if DEBUG
    static let step = 9
  #else
    static let step = 1
  #endif

  static let callCount: Int = {
    let disk = SimulatedDisk()
    var workload = Workload()
    workload.run(Workload.everything, on: disk)
    return disk.callCount
  }()

  /// The disk of a machine that stopped at each call, and what had been said until then.
  static let stopped: [(call: Int, disk: SimulatedDisk, workload: Workload)] =
    (1...(callCount + 1)).map { call in
      let disk = SimulatedDisk(seed: UInt64(call), fault: .stop(at: call))
      var workload = Workload()
      workload.run(Workload.everything, on: disk)
      return (call, disk, workload)
    }

  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `a crash after any call loses nothing acknowledged and is no damage`(
    _ mode: SimulatedDisk.Crash
  ) {
    let seedCount: UInt64 = [.killed, .persisted, .dropped].contains(mode) ? 1 : 2
    for (call, disk, workload) in Self.stopped {
      for seed in 0..<seedCount {
        let after = disk.crashed(mode, seed: seed)
        let place: Comment = "call \(call), seed \(seed)"
        withKnownPlace(place) {
          let (first, found) = try SmallLog.open(after, seed: 2)
          #expect(workload.complaint(found) == nil, place)
          try first.close()
          let (second, again) = try SmallLog.open(after, seed: 3)
          #expect(again.texts == found.texts, place)
          _ = try second.appendAndWait("outbox", [[SmallLog.entry("later")]])
          _ = try second.appendAndWait("feed", [[SmallLog.entry("later too")]])
          try second.close()
          var settled = try SmallLog.inspect(after)
          #expect(settled.findings == [], place)
          #expect(try ChainOracle.problems(SmallLog.directory, after) == [], place)
          #expect(settled.texts["outbox"]?.popLast() == "later", place)
          #expect(settled.texts["feed"]?.popLast() == "later too", place)
          #expect(settled.texts == found.texts, place)
        }
      }
    }
  }

  @Test func `a second crash in any call of the reopening loses nothing either`() {
    let modes = SimulatedDisk.Crash.allCases
    for (call, disk, workload) in Self.stopped where call % Self.step == 0 {
      let first = modes[call % modes.count]
      var count = 1
      var isDone = false
      while !isDone {
        let between = disk.crashed(first, seed: UInt64(call), fault: .stop(at: count))
        var second = workload
        second.run(Self.later, on: between, seed: 2)
        isDone = second.errors.count == workload.errors.count
        let mode = modes[count % modes.count]
        let after = between.crashed(mode, seed: UInt64(count))
        let place: Comment = "\(first) at call \(call), then \(mode) at \(count)"
        withKnownPlace(place) {
          let found = try SmallLog.open(after, seed: 3)
          #expect(second.complaint(found.found) == nil, place)
          #expect(second.damage == [], place)
          for (stream, texts) in second.shown {
            let start = found.found.texts[stream]?.prefix(texts.count) ?? []
            #expect(Array(start) == texts, "shown and lost: \(place)")
          }
          try found.log.close()
          #expect(try ChainOracle.problems(SmallLog.directory, after) == [], place)
        }
        count += 1
      }
    }
  }

  private func withKnownPlace(_ place: Comment, _ body: () throws -> Void) {
    do { try body() } catch { Issue.record(error, place) }
  }
}
