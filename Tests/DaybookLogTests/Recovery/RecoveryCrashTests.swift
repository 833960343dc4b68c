import DaybookLog
import DaybookTestKit
import Testing

/// Crashes and failing calls inside recovery itself.
@Suite struct RecoveryCrashTests {
  #if DEBUG
    static let step = 9
  #else
    static let step = 1
  #endif

  /// The ways in which the machine stops at `call`; all of them in release builds.
  private func modes(_ call: Int) -> [SimulatedDisk.Crash] {
    let all = SimulatedDisk.Crash.allCases
    #if DEBUG
      return [all[call % all.count]]
    #else
      return all
    #endif
  }

  /// What an opening of the log must come to, however often it was begun before.
  private func check(_ disk: SimulatedDisk, _ wound: Wound, _ place: Comment) {
    do {
      let (log, found) = try SmallLog.open(disk, seed: 7)
      #expect(found.places == wound.left, place)
      #expect(!log.isReadOnly, place)
      #expect(!(log.damage.found + log.damage.known).isEmpty, place)
      let lost = log.damage.lost["outbox"] ?? []
      #expect(lost == (wound.lost.map { [$0] } ?? []), place)
      let outbox = try log.appendAndWait("outbox", [[SmallLog.entry("later")]])
      let feed = try log.appendAndWait("feed", [[SmallLog.entry("later too")]])
      #expect(outbox > 6, place)
      #expect(feed > 5, place)
      try log.close()
      let (again, rest) = try SmallLog.open(disk, seed: 8)
      #expect(again.damage.found == [], place)
      let later: Set = ["outbox:\(outbox) later", "feed:\(feed) later too"]
      #expect(rest.places == wound.left.union(later), place)
      try again.close()
    } catch {
      Issue.record(error, place)
    }
  }

  /// Opens the log of `disk` as far as it goes. Returns the number of calls, `nil` if it was not
  /// stopped.
  private func open(_ disk: SimulatedDisk, seed: UInt64) {
    let opened = try? SmallLog.open(disk, seed: seed)
    disk.abandon()
    try? opened?.log.close()
  }

  private func callCount(_ disk: SimulatedDisk) -> Int {
    let probe = disk.crashed(.killed, seed: 0)
    let before = probe.callCount
    let opened = try? SmallLog.open(probe, seed: 2)
    let count = probe.callCount - before
    try? opened?.log.close()
    return count
  }

  @Test(arguments: WoundedLog.wounds)
  func `a crash at any call of recovery loses nothing more`(_ wound: Wound) throws {
    let wounded = try wound.log()
    let count = callCount(wounded.disk)
    #expect(count > 10)
    for call in 1...count {
      for mode in modes(call) {
        let disk = wounded.disk.crashed(.killed, seed: 0)
        disk.set(.stop(at: disk.callCount + call))
        open(disk, seed: 2)
        let after = disk.crashed(mode, seed: UInt64(call))
        check(after, wound, "\(mode) at call \(call) of \(count)")
      }
    }
  }

  @Test(arguments: WoundedLog.wounds)
  func `a crash in the recovery after a crash in recovery loses nothing more`(
    _ wound: Wound
  ) throws {
    let wounded = try wound.log()
    let modes = SimulatedDisk.Crash.allCases
    for call in stride(from: 1, through: callCount(wounded.disk), by: Self.step) {
      let first = wounded.disk.crashed(.killed, seed: 0)
      first.set(.stop(at: first.callCount + call))
      open(first, seed: 2)
      let mode = modes[call % modes.count]
      let between = first.crashed(mode, seed: UInt64(call))
      let count = callCount(between)
      for second in stride(from: 1 + call % Self.step, through: count, by: Self.step) {
        let disk = between.crashed(.killed, seed: 0)
        disk.set(.stop(at: disk.callCount + second))
        open(disk, seed: 3)
        let last = modes[second % modes.count]
        check(
          disk.crashed(last, seed: UInt64(second)), wound,
          "\(mode) at call \(call), then \(last) at call \(second)")
      }
    }
  }

  @Test(arguments: WoundedLog.wounds)
  func `a call of recovery that fails costs nothing`(_ wound: Wound) throws {
    let wounded = try wound.log()
    for call in 1...callCount(wounded.disk) {
      for reason in call % 2 == 0 ? [FileError.Reason.diskFull] : [.other(5)] {
        let disk = wounded.disk.crashed(.killed, seed: 0)
        disk.set(.fail(at: disk.callCount + call, reason))
        let opened = try? SmallLog.open(disk, seed: 2)
        if let opened { #expect(opened.found.places == wound.left, "call \(call), \(reason)") }
        try? opened?.log.close()
        disk.set(.none)
        check(disk, wound, "call \(call), \(reason)")
      }
    }
  }
}
