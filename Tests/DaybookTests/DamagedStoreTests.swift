import Daybook
import DaybookFormat
import DaybookLog
import DaybookServer
import DaybookTestKit
import Foundation
import Testing

/// A store whose log was damaged: it opens, says what is lost, and heals what the server has.
@Suite(.timeLimit(.minutes(2))) struct DamagedStoreTests {
  typealias Sale = TestShop.Sale

  /// The frames of both copies, in all files of a stream, of which an entry fits `isMeant`, become
  /// zeros.
  private func destroy(
    _ stream: String, of log: URL, where isMeant: (Entry) -> Bool
  ) throws -> Int {
    var count = 0
    for file in try files(stream, of: log) {
      var bytes = [UInt8](try Data(contentsOf: file))
      for frame in SegmentScan(bytes).frames where frame.isBatch {
        let isHit = frame.parts.contains { part in
          (try? Entry(kind: part.kind, bytes: part.bytes)).flatMap { $0 }.map(isMeant) ?? false
        }
        guard isHit else { continue }
        for offset in frame.offset..<frame.end { bytes[offset] = 0 }
        count += 1
      }
      try Data(bytes).write(to: file)
    }
    return count
  }

  private func files(_ stream: String, of log: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: log.appendingPathComponent(stream), includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "dbs" }.sorted { $0.path < $1.path }
  }

  private func isOperation(_ number: UInt64) -> (Entry) -> Bool {
    { entry in
      if case .operation(let operation) = entry { operation.number == number } else { false }
    }
  }

  // Scenario 11: the outbox
  @Test func `a damaged outbox keeps and sends every other operation, and names what is lost`()
    async throws
  {
    let server = try await TestServer()
    let offline = try await server.device("rep")
    for id in 1...4 {
      try await offline.write { tx in try tx.insert(Sale(id: "\(id)", shop: "1", quantity: id)) }
    }
    try await offline.close()
    let log = server.folder.place("rep")
    #expect(try destroy("outbox", of: log, where: isOperation(2)) == 2)
    let rep = try await server.device("rep")
    let damage = try #require(rep.damage)
    #expect(damage.lostOutboxEntries == [2...2])
    #expect(damage.findings.count == 1 && damage.known == [])
    #expect(damage.findings[0].contains("outbox/00000001.g0.dbs"))
    #expect(!damage.isReadOnly && !damage.isFetchedAgain)
    #expect(damage.evidence.count == 2)
    #expect(rep.collection(Sale.self).query().map(\.id).sorted() == ["1", "3", "4"])
    try await rep.write { tx in try tx.insert(Sale(id: "5", shop: "1", quantity: 5)) }
    let status = await rep.sync()
    #expect(status.problem == nil)
    #expect(status.unsettledCount == 0 && status.unconfirmedCount == 0)
    try await rep.close()
    // A later opening knows of it, and still says it.
    let again = try await server.device("rep")
    #expect(again.damage?.findings == [])
    #expect(again.damage?.known.count == 1)
    #expect(again.damage?.lostOutboxEntries == [2...2])
    let other = try await server.device("other")
    await other.sync()
    #expect(other.collection(Sale.self).query().map(\.id).sorted() == ["1", "3", "4", "5"])
    try await again.close()
    try await other.close()
    try await server.server.stop()
  }

  @Test func `strict opening throws for new damage and changes nothing`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    for id in 1...2 {
      try await rep.write { tx in try tx.insert(Sale(id: "\(id)", shop: "1", quantity: id)) }
    }
    try await rep.close()
    let log = server.folder.place("rep")
    _ = try destroy("outbox", of: log, where: isOperation(1))
    let before = try FileManager.default.subpathsOfDirectory(atPath: log.path).sorted()
    do {
      _ = try await server.device("rep") { $0.isStrict = true }
      Issue.record("strict opened a damaged log")
    } catch {
      #expect((error as? DaybookError)?.code == .damaged)
    }
    #expect(try FileManager.default.subpathsOfDirectory(atPath: log.path).sorted() == before)
    try await server.server.stop()
  }

  enum FeedDamage: CaseIterable {
    case page, segment, all

    func inflict(on files: [URL]) throws {
      switch self {
      case .page:
        let file = files[files.count / 2]
        var bytes = try Data(contentsOf: file)
        let end = min(12_288, bytes.count)
        bytes.replaceSubrange(8_192..<end, with: Data(count: end - 8_192))
        try bytes.write(to: file)
      case .segment: try FileManager.default.removeItem(at: files[files.count / 2])
      case .all: for file in files { try FileManager.default.removeItem(at: file) }
      }
    }
  }

  // Scenario 11: the feed
  @Test(arguments: FeedDamage.allCases)
  func `a damaged feed is pulled again until it equals an undamaged one`(
    _ damage: FeedDamage
  ) async throws {
    let server = try await TestServer()
    let office = try await server.device("office", account: "office")
    // Several lives, so that the feed has several segments.
    for round in 0..<5 {
      try await office.write { tx in
        for item in 0..<10 {
          try tx.insert(Sale(id: "\(round)-\(item)", shop: "\(round)", quantity: item))
        }
        if round > 0 { try tx.update(Sale.self, "\(round - 1)-3") { $0.quantity = 99 } }
      }
      await office.sync()
      let rep = try await server.device("rep")
      try await rep.write { tx in
        try tx.insert(Sale(id: "own-\(round)", shop: "own", quantity: round))
      }
      await rep.sync()
      if round == 4 {
        // One that has not been sent must not be touched by what becomes of the feed.
        try await rep.write { tx in try tx.insert(Sale(id: "last", shop: "own", quantity: 7)) }
      }
      try await rep.close()
    }
    let twin = server.folder.place("twin")
    try FileManager.default.copyItem(at: server.folder.place("rep"), to: twin)
    try damage.inflict(on: files("feed", of: server.folder.place("rep")))
    let rep = try await server.device("rep")
    #expect(rep.damage?.isFetchedAgain == true)
    #expect(rep.damage?.lostOutboxEntries == [])
    #expect(try rep.collection(Sale.self).get("last")?.quantity == 7)
    await rep.sync()
    let status = await rep.sync()
    #expect(status.problem == nil)
    #expect(status.isComplete && status.unsettledCount == 0 && status.unconfirmedCount == 0)
    let whole = try await server.device("twin") { $0.device = "rep" }
    #expect(await whole.sync().problem == nil)
    #expect(whole.damage == nil)
    let rows = rep.collection(Sale.self).query().sorted { $0.id < $1.id }
    #expect(rows.count == 56)
    let wanted = whole.collection(Sale.self).query().sorted { $0.id < $1.id }
    #expect(rows.filter { !wanted.contains($0) } == [])
    #expect(wanted.filter { !rows.contains($0) } == [])
    for row in rows {
      let one = try rep.collection(Sale.self).details(row.id)
      let other = try whole.collection(Sale.self).details(row.id)
      #expect(one?.version == other?.version && one?.isPending == other?.isPending)
    }
    try await rep.close()
    let again = try await server.device("rep")
    #expect(again.damage?.isFetchedAgain == false && again.damage?.findings == [])
    #expect(again.collection(Sale.self).query().sorted { $0.id < $1.id } == rows)
    try await again.close()
    try await whole.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a verdict that was lost is asked for again, below the watermark too`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await office.perform("cancel", on: "1", of: Sale.self)
    await office.sync()
    // Number 2 is refused; number 3 goes out with a watermark above it.
    try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 12 } }
    await rep.sync()
    #expect(rep.drafts.count == 1)
    try await rep.write { tx in try tx.insert(Sale(id: "3", shop: "17", quantity: 3)) }
    await rep.sync()
    let draft = try #require(rep.drafts.first)
    try await rep.close()
    let lost = try destroy("outbox", of: server.folder.place("rep")) { entry in
      if case .settlement(let settlement) = entry { settlement.refusal != nil } else { false }
    }
    #expect(lost == 2)
    let again = try await server.device("rep")
    #expect(again.damage?.lostOutboxEntries.isEmpty == false)
    #expect(again.drafts == [], "its verdict is gone")
    let status = await again.sync()
    #expect(status.problem == nil)
    #expect(status.unsettledCount == 0)
    #expect(again.drafts.map(\.id) == [draft.id])
    try await again.write { tx in try tx.insert(Sale(id: "4", shop: "17", quantity: 4)) }
    let last = await again.sync()
    #expect(last.problem == nil && last.unsettledCount == 0 && last.unconfirmedCount == 0)
    try await again.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `an operation that was sent and lost gives its number to no other`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    for id in 1...3 {
      try await rep.write { tx in try tx.insert(Sale(id: "\(id)", shop: "1", quantity: id)) }
    }
    await rep.sync()
    try await rep.close()
    // The last one, so that nothing behind it tells of its number.
    #expect(try destroy("outbox", of: server.folder.place("rep"), where: isOperation(3)) == 2)
    let again = try await server.device("rep")
    #expect(again.damage?.lostOutboxEntries.count == 1)
    for id in 4...5 {
      try await again.write { tx in try tx.insert(Sale(id: "\(id)", shop: "1", quantity: id)) }
    }
    let status = await again.sync()
    #expect(status.problem == nil)
    #expect(status.unsettledCount == 0 && status.unconfirmedCount == 0)
    #expect(again.collection(Sale.self).query().map(\.id).sorted() == ["1", "2", "3", "4", "5"])
    try await again.close()
    try await server.server.stop()
  }

  @Test func `an entry that can't be read is kept aside and told, and the store goes on`()
    async throws
  {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    try await rep.close()
    let log = try Log.open(
      server.folder.place("rep").path,
      LogConfiguration(
        streams: [.feed, .outbox], account: "rep-7", random: { UInt64.random(in: 0 ... .max) },
        clock: { HybridTime(Timestamp(milliseconds: 1_800_000_000_000)) })
    ) { _, _ in }
    let strange = NewEntry(kind: EntryKind.operation.rawValue, bytes: [1, 2, 3])
    let number = try log.appendAndWait("outbox", [[strange]])
    try log.close()
    for round in 0..<2 {
      let again = try await server.device("rep")
      let damage = try #require(again.damage)
      let told = round == 0 ? damage.findings : damage.known
      #expect(told.count == 1)
      #expect(told[0].contains("an entry is whole and can't be read"))
      #expect(damage.lostOutboxEntries == [number...number])
      try await again.write { tx in
        try tx.insert(Sale(id: "more-\(round)", shop: "1", quantity: 1))
      }
      #expect(await again.sync().problem == nil)
      #expect(again.collection(Sale.self).query().count == 2 + round)
      try await again.close()
    }
    try await server.server.stop()
  }
}
