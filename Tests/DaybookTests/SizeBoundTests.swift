import Daybook
import DaybookFormat
import DaybookLog
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// Row L4: a log takes at most 3 times its live bytes and 64 MiB, whatever was done.
///
/// What is live is told without anything of upkeep: the bytes of a fresh log to which the base, the
/// operations that have no verdict, and those accepted within `serverBackupDays` are written once.
@Suite(.timeLimit(.minutes(60))) struct SizeBoundTests {
  struct Stock: Record, Equatable {
    static let collection = "stock"
    var id: Int
    var quantity: Int
    var note: String
  }

  static let schema = Schema(
    name: "shop",
    collections: [
      CollectionSchema(
        name: "stock", fields: ["quantity": FieldSchema(.int), "note": FieldSchema(.text)],
        scope: .constant("shop"))
    ])

  /// How much is done, and by which limits.
  struct Plan: Sendable, CustomTestStringConvertible {
    var operationCount = 1_000_000
    var recordCount = 1_000
    /// Operations written at once, each on another record, then settled and pulled.
    var roundCount = 1_000
    var serverBackupDays: Int
    var minutesPerOperation: Int64 = 1
    /// Everything that is counted in bytes is divided by it.
    var scale = 1
    /// Upkeep syncs nothing before a write waits for it: it is as slow as it can be.
    var isUpkeepSlow = false

    var testDescription: String {
      "\(operationCount) operations on \(recordCount) records, backups of "
        + "\(serverBackupDays) days" + (isUpkeepSlow ? ", slow upkeep" : "")
    }

    var fixedByteCount: Int { (64 << 20) / scale }

    var limits: MaintenanceLimits {
      var limits = MaintenanceLimits()
      limits.rawByteLimit /= UInt64(scale)
      limits.inputByteLimit /= UInt64(scale)
      limits.garbageByteLimit /= UInt64(scale)
      limits.snapshotByteLimit /= UInt64(scale)
      limits.snapshotGrowthLimit /= UInt64(scale)
      limits.supersededByteLimit /= UInt64(scale)
      limits.aheadByteLimit /= UInt64(scale)
      // A busy machine is no reason for what is small to grow.
      if isUpkeepSlow || scale > 1 { limits.waitLimit = .seconds(60) }
      return limits
    }

    func options(_ clock: SimulatedClock) -> DaybookOptions {
      var options = DaybookOptions()
      options.sync = .manual
      options.device = "phone"
      options.serverBackupDays = serverBackupDays
      options.environment.now = { clock.now }
      options.maintenanceLimits = limits
      if scale == 1 { return options }
      for index in options.streams.indices { options.streams[index].segmentByteLimit /= scale }
      return options
    }

    /// The operations that are accepted and still live, after `count`.
    func recentCount(of count: Int) -> Int {
      min(count, serverBackupDays * 1_440 / Int(minutesPerOperation))
    }
  }

  private static let isFull = ProcessInfo.processInfo.environment["DAYBOOK_FULL"] != nil

  private static let plans: [Plan] =
    isFull
    ? [
      Plan(serverBackupDays: 0), Plan(serverBackupDays: 30),
      Plan(serverBackupDays: 0, isUpkeepSlow: true),
      Plan(serverBackupDays: 30, isUpkeepSlow: true),
      Plan(
        operationCount: 600_000, recordCount: 200_000, serverBackupDays: 0, isUpkeepSlow: true),
    ]
    : [
      Plan(
        operationCount: 6_000, recordCount: 250, roundCount: 50, serverBackupDays: 0, scale: 16),
      Plan(
        operationCount: 6_000, recordCount: 250, roundCount: 50, serverBackupDays: 0, scale: 16,
        isUpkeepSlow: true),
    ]

  @Test(arguments: plans)
  func `a log that is settled never takes more than 3 times its live bytes and 64 MiB`(_ plan: Plan)
    async throws
  {
    let folder = try Self.folder()
    let clock = SimulatedClock()
    let server = SimulatedServer(schema: Self.schema, clock: clock)
    let place = folder.place("log")
    let disk = HookedDisk()
    var options = plan.options(clock)
    options.fileSystem = disk
    let store = try await Daybook.open(
      at: place, account: "rep-7", schema: Self.schema,
      server: .transport(EngineTransport(server: server)), options: options)
    await store.sync()
    let tick = DispatchSemaphore(value: 0)
    if plan.isUpkeepSlow {
      disk.setHook { [unowned store] path in
        guard path.hasSuffix(".tmp") else { return }
        while !store.isUpkeepWaitedFor {
          guard tick.wait(timeout: .now() + .milliseconds(1)) == .success else { continue }
          tick.signal()
          return
        }
      }
    }
    let done = Counter()
    let sampler = DirectorySampler(place.path, progress: done)
    let start = ContinuousClock.now
    while done.count < plan.operationCount {
      try await Self.write(plan, store, from: done.count, clock)
      let status = await store.sync()
      #expect(status.unsettledCount == 0 && status.unconfirmedCount == 0)
      #expect(status.upkeepProblem == nil && status.problem == nil)
      for _ in 0..<plan.roundCount { done.add() }
    }
    let duration = ContinuousClock.now - start
    let samples = sampler.stop()
    disk.setHook(nil)
    tick.signal()
    let rounds = store.upkeepRoundCount
    let waits = store.upkeepWaitCount
    #expect(waits > 0 || !plan.isUpkeepSlow)
    let rows = store.collection(Stock.self).query()
    let base = store.withState { Self.base(of: $0) }
    try await store.close()
    #expect(rows.count == plan.recordCount)
    #expect(rows.reduce(0) { $0 + $1.quantity } == plan.operationCount)

    let bound = try Self.bound(plan, base: base, log: place, folder)
    report("\(plan.testDescription): \(duration), \(rounds) rounds, \(waits) waits", samples, bound)

    let again = try await Daybook.open(
      at: place, account: "rep-7", schema: Self.schema, options: plan.options(clock))
    #expect(again.collection(Stock.self).query() == rows)
    #expect(await again.status.damage == nil)
    try await again.close()
  }

  private static let unsentPlan =
    isFull
    ? Plan(operationCount: 200_000, serverBackupDays: 30)
    : Plan(
      operationCount: 6_000, recordCount: 250, roundCount: 250, serverBackupDays: 0, scale: 16)

  @Test func `what was never sent stays whole, and is counted as live`() async throws {
    let plan = Self.unsentPlan
    let folder = try Self.folder()
    let clock = SimulatedClock()
    let place = folder.place("log")
    let store = try await Daybook.open(
      at: place, account: "rep-7", schema: Self.schema, options: plan.options(clock))
    let done = Counter()
    let sampler = DirectorySampler(place.path, progress: done)
    let start = ContinuousClock.now
    while done.count < plan.operationCount {
      try await Self.write(plan, store, from: done.count, clock)
      for _ in 0..<plan.roundCount { done.add() }
    }
    let duration = ContinuousClock.now - start
    let samples = sampler.stop()
    let waits = store.upkeepWaitCount
    let rows = store.collection(Stock.self).query()
    let unsettled = store.withState { $0.unsettled.map(\.operation) }
    try await store.close()
    #expect(unsettled.map(\.number) == Array(1...UInt64(plan.operationCount)))
    let files = try FileManager.default.contentsOfDirectory(
      atPath: place.appendingPathComponent("outbox").path)
    #expect(files.contains { $0.contains(".g1.") || $0.contains(".g2.") })

    let live = try Self.freshByteCount(
      feed: [], outbox: unsettled.map { .operation($0) }, folder.place("live"))
    report("\(plan.operationCount) unsent: \(duration), \(waits) waits", samples) { progress in
      3 * live / plan.operationCount * progress + plan.fixedByteCount
    }

    let again = try await Daybook.open(
      at: place, account: "rep-7", schema: Self.schema, options: plan.options(clock))
    #expect(again.withState { $0.unsettled.map(\.operation) } == unsettled)
    #expect(again.collection(Stock.self).query() == rows)
    #expect(await again.status.damage == nil)
    try await again.close()
  }
}

extension SizeBoundTests {
  /// Where the logs go: `DAYBOOK_SIZE_DIRECTORY` names a folder on another disk.
  private static func folder() throws -> PassingFolder {
    guard let path = ProcessInfo.processInfo.environment["DAYBOOK_SIZE_DIRECTORY"] else {
      return try PassingFolder()
    }
    return try PassingFolder(in: URL(fileURLWithPath: path))
  }

  /// Writes one operation for each of the next `roundCount`, each a write of its own; whoever waits
  /// shares a group.
  static func write(
    _ plan: Plan, _ store: Daybook, from first: Int, _ clock: SimulatedClock
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in first..<first + plan.roundCount {
        group.addTask {
          clock.advance(byMilliseconds: plan.minutesPerOperation * 60_000)
          let id = index % plan.recordCount
          let note = Self.note(index)
          try await store.write { tx in
            if index < plan.recordCount {
              try tx.insert(Stock(id: id, quantity: 1, note: note))
            } else {
              try tx.update(Stock.self, id) {
                $0.quantity += 1
                $0.note = note
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// 120 bytes that no compression makes small.
  private static func note(_ index: Int) -> String {
    var random = SplitMix64(seed: UInt64(index))
    return (0..<10).map { _ in String(random.next() >> 16, radix: 16).suffix(12) }.joined()
  }

  /// Prints how large a directory was, and holds each look against `bound`: the most that it may
  /// have, files or blocks of the disk, after so many operations.
  private func report(
    _ work: String, _ samples: [DirectorySampler.Sample], _ bound: (Int) -> Int
  ) {
    func share(_ sample: DirectorySampler.Sample) -> Double {
      Double(max(sample.byteCount, sample.blockByteCount)) / Double(bound(sample.progress))
    }
    guard let worst = samples.max(by: { share($0) < share($1) }), let last = samples.last else {
      Issue.record("the directory was never looked at")
      return
    }
    print(
      """
      size: \(work), \(samples.count) looks: largest \(samples.map(\.byteCount).max() ?? 0) bytes \
      (\(samples.map(\.blockByteCount).max() ?? 0) on the disk), bound at the end \
      \(bound(last.progress)); worst \(share(worst)) of the bound after \(worst.progress) \
      operations: \(worst.byteCount) (\(worst.blockByteCount)) of \(bound(worst.progress))
      """)
    #expect(share(worst) <= 1)
  }

  /// The most that the log at `log` may have after so many operations. It is at rest, and `base` is
  /// its base.
  private static func bound(
    _ plan: Plan, base: [Entry], log: URL, _ folder: PassingFolder
  ) throws -> (Int) -> Int {
    let recentCount = plan.recentCount(of: plan.operationCount)
    let recent = try outbox(of: log.path, last: recentCount)
    let baseByteCount = try freshByteCount(feed: base, outbox: [], folder.place("base"))
    let liveByteCount = try freshByteCount(feed: base, outbox: recent, folder.place("live"))
    return { progress in
      let recentPart = Double(plan.recentCount(of: progress)) / Double(max(1, recentCount))
      let basePart = min(1, Double(progress) / Double(plan.recordCount))
      let outbox = Double(liveByteCount - baseByteCount) * recentPart
      return 3 * Int(Double(baseByteCount) * basePart + outbox) + plan.fixedByteCount
    }
  }

  private static func base(of state: ClientState) -> [Entry] {
    var entries: [Entry] = []
    state.exportBase { entries.append($0) }
    return entries
  }

  /// The last `count` operations in the outbox of a log at rest, with their verdicts.
  private static func outbox(of path: String, last count: Int) throws -> [Entry] {
    var operations: [DaybookFormat.Operation] = []
    var settlements: [Identifier: Settlement] = [:]
    var replay = try LogReplay(
      LogDirectory(path, fileSystem: SystemFileSystem()), streams: ["outbox"])
    try replay.run { found throws(LogError) in
      switch try? Entry(kind: found.kind, bytes: found.bytes) {
      case .operation(let operation): operations.append(operation)
      case .settlement(let settlement): settlements[settlement.operationID] = settlement
      default: break
      }
    }
    let last = operations.suffix(count)
    #expect(last.count == count && last.allSatisfy { settlements[$0.id] != nil })
    return last.map(Entry.operation) + last.compactMap { settlements[$0.id].map(Entry.settlement) }
  }

  /// What a fresh log takes that holds these entries and nothing else.
  private static func freshByteCount(
    feed: [Entry], outbox: [Entry], _ place: URL
  ) throws -> Int {
    let log = try Log.open(
      place.path,
      LogConfiguration(
        streams: [.feed, .outbox], account: "rep-7", random: { .random(in: .min ... .max) },
        clock: { HybridTime(SimulatedClock.morning) })
    ) { _, _ in }
    for (stream, entries) in [("feed", feed), ("outbox", outbox)] {
      for start in stride(from: 0, to: entries.count, by: 256) {
        let part = entries[start..<min(start + 256, entries.count)]
        let new = part.map { NewEntry(kind: $0.kind.rawValue, bytes: $0.bytes) }
        _ = try log.appendAndWait(stream, [new])
      }
    }
    try log.close()
    return DirectorySampler.size(of: place.path).byteCount
  }
}
