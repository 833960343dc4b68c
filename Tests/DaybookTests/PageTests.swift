import Daybook
import DaybookFormat
import DaybookTestKit
import Foundation
import Testing

/// Any single 4 KiB page of a log with much unsent work becomes zeros.
///
/// The same page of every file is zeroed at a time: more than one fault, so it holds for one of
/// them. All pages with `DAYBOOK_ALL_PAGES=1` (minutes in a debug build), else some.
@Suite(.timeLimit(.minutes(60))) struct PageTests {
  typealias Sale = TestShop.Sale

  // Promise 3; F20, F43
  @Test func `with 10,000 unsent operations, no zeroed page of any file loses one`() async throws {
    let disk = SimulatedDisk()
    let url = URL(fileURLWithPath: SimulatedDisk.root + "/log")
    var options = DaybookOptions()
    options.fileSystem = disk
    let store = try await Daybook.open(
      at: url, account: "rep-7", schema: TestShop.schema, options: options)
    for group in 0..<100 {
      try await store.write { tx in
        for item in 0..<100 {
          try tx.insert(Sale(id: "\(group)-\(item)", shop: "\(group)", quantity: item))
        }
      }
    }
    try await store.close()
    let paths = disk.paths.filter { !$0.hasSuffix("/LOCK") }
    let contents = paths.compactMap { disk.content(of: $0) }
    let pageCount = contents.map { ($0.count + 4_095) / 4_096 }.max() ?? 0
    #expect(pageCount > 100)
    let isWhole = ProcessInfo.processInfo.environment["DAYBOOK_ALL_PAGES"] != nil
    let step = isWhole ? 1 : max(1, pageCount / 5)
    for page in stride(from: 0, to: pageCount, by: step) {
      let damaged = disk.crashed(.killed, seed: 0)
      for (path, content) in zip(paths, contents) where page * 4_096 < content.count {
        let zeros = [UInt8](repeating: 0, count: min(4_096, content.count - page * 4_096))
        var bytes = content
        bytes.replaceSubrange(page * 4_096..<page * 4_096 + zeros.count, with: zeros)
        damaged.put(bytes, at: path)
      }
      options.fileSystem = damaged
      let again = try await Daybook.open(
        at: url, account: "rep-7", schema: TestShop.schema, options: options)
      let status = await again.status
      #expect(status.unsettledCount == 10_000, "page \(page)")
      #expect(again.damage?.lostOutboxEntries ?? [] == [], "page \(page)")
      #expect(again.collection(Sale.self).query(limit: 1).count == 1, "page \(page)")
      try await again.close()
    }
  }
}
