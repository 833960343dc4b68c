import Daybook
import DaybookLog
import DaybookTestKit
import Foundation
import Testing

/// Whoever writes waits for upkeep, and upkeep keeps nobody from writing.
@Suite(.timeLimit(.minutes(2))) struct UpkeepPaceTests {
  private static let plan: SizeBoundTests.Plan = {
    var plan = SizeBoundTests.Plan(serverBackupDays: 0)
    plan.operationCount = 3_000
    plan.recordCount = 100
    plan.roundCount = 100
    plan.scale = 16
    return plan
  }()

  /// Writes all of it to a disk on which `hook` decides about each sync of a file of upkeep's.
  private func write(
    waitLimit: Duration, _ hook: @escaping HookedDisk.Hook,
    _ check: (Daybook, _ segmentCount: Int) async throws -> Void
  ) async throws {
    let folder = try PassingFolder()
    let clock = SimulatedClock()
    let disk = HookedDisk()
    disk.setHook { path throws(FileError) in
      if path.hasSuffix(".tmp") { try hook(path) }
    }
    var options = Self.plan.options(clock)
    options.fileSystem = disk
    options.maintenanceLimits.waitLimit = waitLimit
    let store = try await Daybook.open(
      at: folder.place("log"), account: "rep-7", schema: SizeBoundTests.schema, options: options)
    for first in stride(from: 0, to: Self.plan.operationCount, by: Self.plan.roundCount) {
      try await SizeBoundTests.write(Self.plan, store, from: first, clock)
    }
    #expect(await store.status.unsettledCount == Self.plan.operationCount)
    let files = try FileManager.default.contentsOfDirectory(
      atPath: folder.place("log").appendingPathComponent("outbox").path)
    try await check(store, files.count)
    try await store.close()
  }

  @Test func `while upkeep hangs each segment waits once and is written all the same`()
    async throws
  {
    let held = Gate()
    let mayGoOn = DispatchSemaphore(value: 0)
    let isOver = Counter()
    try await write(waitLimit: .milliseconds(1)) { _ in
      held.open()
      if isOver.count == 0 { mayGoOn.wait() }
    } _: { store, segmentCount in
      await held.wait()
      #expect((1...segmentCount).contains(store.upkeepWaitCount), "\(store.upkeepWaitCount)")
      isOver.add()
      mayGoOn.signal()
    }
  }

  @Test func `upkeep that fails is not waited for`() async throws {
    // Whoever waits for less than the first failure would wait for a minute.
    try await write(waitLimit: .seconds(60)) { path throws(FileError) in
      throw FileError(.diskFull, .sync, path)
    } _: { store, _ in
      #expect(await store.status.upkeepProblem != nil)
      #expect(store.upkeepWaitCount <= 1)
    }
  }
}
