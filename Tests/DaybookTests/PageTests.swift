import Daybook
import DaybookFormat
import DaybookLog
import DaybookTestKit
import Foundation
import Testing

/// Any single 4 KiB page of a log with much unsent work becomes zeros.
///
/// The same page of every file is zeroed at a time: more than one fault, so it holds for one of
/// them. All pages with `DAYBOOK_ALL_PAGES=1` (minutes in a debug build), else some.
@Suite(.timeLimit(.minutes(60))) struct PageTests {
  typealias Sale = TestShop.Sale

  /// How the log was left.
  enum State: CaseIterable {
    case closed
    /// Its process was killed.
    case killed
    /// Everything closed was made into outputs, and nothing superseded was kept.
    case compacted
  }

  private static let url = URL(fileURLWithPath: SimulatedDisk.root + "/log")

  private static func open(_ disk: SimulatedDisk) async throws -> Daybook {
    var options = DaybookOptions()
    options.fileSystem = disk
    options.keepsLogSmall = false
    return try await Daybook.open(
      at: url, account: "rep-7", schema: TestShop.schema, options: options)
  }

  /// A log with 10,000 unsent operations, and the pages of its longest file.
  private static func disk(_ state: State) async throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try await open(disk)
    for group in 0..<100 {
      try await store.write { tx in
        for item in 0..<100 {
          try tx.insert(Sale(id: "\(group)-\(item)", shop: "\(group)", quantity: item))
        }
      }
    }
    if state == .killed {
      let killed = disk.crashed(.killed, seed: 0)
      try await store.close()
      return killed
    }
    try await store.close()
    guard state == .compacted else { return disk }
    // So that all of it is in closed files.
    try await open(disk).close()
    var limits = MaintenanceLimits()
    limits.rawFileLimit = 2
    limits.inputByteLimit = 1 << 20
    limits.supersededByteLimit = 0
    var random = SplitMix64(seed: 1)
    var upkeep = LogUpkeep(
      url.path, fileSystem: disk, schema: TestShop.schema, limits: limits, horizonMilliseconds: 0,
      random: { random.next() }, clock: { HybridTime(rawValue: 1 << 40) })
    let outcome = try upkeep.run(thorough: true)
    #expect(outcome.compactions.allSatisfy { $0.droppedCount == 0 } && !outcome.removed.isEmpty)
    return disk
  }

  // Promise 3; F20, F43
  @Test(arguments: State.allCases)
  func `with 10,000 unsent operations, no zeroed page of any file loses one`(
    state: State
  ) async throws {
    let disk = try await Self.disk(state)
    let paths = disk.paths.filter { !$0.hasSuffix("/LOCK") }
    let contents = paths.compactMap { disk.content(of: $0) }
    let pageCount = contents.map { ($0.count + 4_095) / 4_096 }.max() ?? 0
    #expect(pageCount > 100)
    let isWhole = ProcessInfo.processInfo.environment["DAYBOOK_ALL_PAGES"] != nil
    let step = isWhole ? 1 : max(1, pageCount / 2)
    for page in stride(from: 0, to: pageCount, by: step) {
      let damaged = disk.crashed(.killed, seed: 0)
      for (path, content) in zip(paths, contents) where page * 4_096 < content.count {
        let zeros = [UInt8](repeating: 0, count: min(4_096, content.count - page * 4_096))
        var bytes = content
        bytes.replaceSubrange(page * 4_096..<page * 4_096 + zeros.count, with: zeros)
        damaged.put(bytes, at: path)
      }
      let again = try await Self.open(damaged)
      let status = await again.status
      #expect(status.unsettledCount == 10_000, "\(state), page \(page)")
      #expect(again.damage?.lostOutboxEntries ?? [] == [], "\(state), page \(page)")
      #expect(again.collection(Sale.self).query(limit: 1).count == 1, "\(state), page \(page)")
      try await again.close()
    }
  }
}
