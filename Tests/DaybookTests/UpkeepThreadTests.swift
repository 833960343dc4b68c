import Daybook
import DaybookFormat
import DaybookLog
import DaybookTestKit
import Dispatch
import Testing

@Suite struct `the thread of upkeep` {
  /// A thread whose rounds look at an empty disk, each telling `begun`.
  private static func thread(_ begun: DispatchSemaphore) -> UpkeepThread {
    let thread = UpkeepThread()
    thread.start(limits: MaintenanceLimits()) { isStopped in
      begun.signal()
      return LogUpkeep(
        SimulatedDisk.root, fileSystem: SimulatedDisk(), schema: Schema(name: "", collections: []),
        limits: MaintenanceLimits(), horizonMilliseconds: 0, random: { 1 },
        clock: { HybridTime(rawValue: 1) }, isStopped: isStopped)
    }
    return thread
  }

  /// Waits for a round on a thread that may block; `false` if none has begun in half a minute.
  private static func hasBegun(_ begun: DispatchSemaphore) async -> Bool {
    await withCheckedContinuation { waiting in
      DispatchQueue.global().async {
        waiting.resume(returning: begun.wait(timeout: .now() + 30) == .success)
      }
    }
  }

  @Test func `goes on after a pause in which it was woken`() async {
    let begun = DispatchSemaphore(value: 0)
    let thread = Self.thread(begun)
    #expect(await Self.hasBegun(begun))
    for round in 1...20 {
      await thread.pause()
      // Woken twice, the thread has seen that it pauses before it goes on.
      thread.wake()
      await thread.pause()
      thread.wake()
      thread.goOn()
      let hasBegun = await Self.hasBegun(begun)
      #expect(hasBegun, "round \(round)")
      if !hasBegun { break }
    }
    await thread.stop()
  }
}
