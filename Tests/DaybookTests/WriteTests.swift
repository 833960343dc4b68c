import Daybook
import DaybookFormat
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// Writing, reading and reopening, without a server.
@Suite struct WriteTests {
  typealias Sale = TestShop.Sale

  func open(_ folder: PassingFolder, account: String = "rep-7") async throws -> Daybook {
    try await Daybook.open(at: folder.place("log"), account: account, schema: TestShop.schema)
  }

  @Test func `what was written is read at once and after reopening`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    let sales = store.collection(Sale.self)
    try await store.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
      try tx.insert(Sale(id: "2", shop: "18", quantity: 3, note: "soon"))
    }
    try await store.write { tx in
      try tx.update(Sale.self, "2") { $0.note = nil }
      try tx.update(Sale.self, "1") { $0.quantity = 12 }
    }
    let expected = [
      Sale(id: "1", shop: "17", quantity: 12), Sale(id: "2", shop: "18", quantity: 3),
    ]
    #expect(sales.query() == expected)
    #expect(await store.status.unsettledCount == 4)
    try await store.close()
    let again = try await open(folder)
    #expect(again.collection(Sale.self).query() == expected)
    #expect(await again.status.unsettledCount == 4)
    #expect(await again.status.damage == nil)
    try await again.close()
  }

  @Test func `a body that throws stores nothing`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    await #expect(throws: CancellationError.self) {
      try await store.write { tx in
        try tx.insert(Sale(id: "1", shop: "17", quantity: 1))
        throw CancellationError()
      }
    }
    #expect(store.collection(Sale.self).query().isEmpty)
    #expect(store.withState { $0.nextNumber } == 1)
    try await store.close()
  }

  @Test func `sixty-four tasks write at once, each body once, numbers without a gap`() async throws
  {
    let folder = try PassingFolder()
    let store = try await open(folder)
    let runs = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<64 {
        group.addTask {
          try await store.write { tx in
            runs.add()
            try tx.insert(Sale(id: "\(index)", shop: "1", quantity: index))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(runs.count == 64)
    #expect(store.collection(Sale.self).count() == 64)
    let numbers = store.withState { $0.unsettled.map(\.operation.number) }
    #expect(numbers == Array(1...64))
    try await store.close()
  }

  @Test func `edits of a new record build on each other, also in one group`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 0))
      try tx.update(Sale.self, "1") { $0.quantity = 1 }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await store.write { tx in try tx.update(Sale.self, "1") { $0.quantity += 1 } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.collection(Sale.self).get("1")?.quantity == 21)
    let operations = store.withState { $0.unsettled.map(\.operation) }
    for (earlier, later) in zip(operations, operations.dropFirst()) {
      #expect(later.base == .operation(earlier.id))
    }
    try await store.close()
  }

  @Test func `what does not fit is refused with its reason and stores nothing`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 1)) }
    func code(_ body: @escaping @Sendable (inout WriteTransaction) throws -> Void) async
      -> DaybookError.Code?
    {
      do {
        try await store.write(body)
        return nil
      } catch {
        return (error as? DaybookError)?.code
      }
    }
    #expect(
      await code { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) } == .recordExists)
    #expect(await code { tx in try tx.update(Sale.self, "9") { _ in } } == .noSuchRecord)
    #expect(await code { tx in try tx.delete(Sale.self, "9") } == .noSuchRecord)
    #expect(
      await code { tx in
        try tx.insert(Sale(id: "3", shop: "1", quantity: 1))
        try tx.insert(TestShop.Note(id: 1, text: "other scope"))
      } == .severalScopes)
    #expect(
      await code { tx in
        for index in 0...256 { try tx.insert(Sale(id: "n\(index)", shop: "1", quantity: 1)) }
      } == .tooLarge)
    #expect(
      await code { tx in
        let note = String(repeating: "x", count: 2 << 20)
        try tx.insert(Sale(id: "3", shop: "1", quantity: 1, note: note))
      } == .tooLarge)
    #expect(
      await code { tx in try tx.perform("explode", on: RecordKey("orders", "1")) } == .schema)
    #expect(
      await code { tx in
        try tx.insert(Sale(id: String(repeating: "x", count: 513), shop: "1", quantity: 1))
      } == .schema)
    #expect(store.collection(Sale.self).count() == 1)
    try await store.close()
    #expect(await code { tx in try tx.delete(Sale.self, "1") } == .closed)
    try await store.close()
  }

  @Test func `an index finds what a scan finds`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    var generator = SplitMix64(seed: 11)
    var all: [Sale] = []
    for start in stride(from: 0, to: 400, by: 100) {
      let part = (start..<start + 100).map {
        Sale(
          id: "\($0)", shop: "\(Int.random(in: 0..<9, using: &generator))",
          quantity: Int.random(in: 0..<50, using: &generator))
      }
      all += part
      try await store.write { tx in for sale in part { try tx.insert(sale) } }
    }
    try await store.write { tx in try tx.update(Sale.self, "7") { $0.shop = "moved" } }
    all[7].shop = "moved"
    let sales = store.collection(Sale.self)
    for shop in (0..<9).map(String.init) + ["moved", "none"] {
      let found = Set(sales.query(where: .equals("shop", .text(shop))).map(\.id))
      #expect(found == Set(all.filter { $0.shop == shop }.map(\.id)))
    }
    let both = sales.query(
      where: .and([.equals("shop", "3"), .between("quantity", from: 10, upTo: 20)]),
      order: .descending("quantity"), limit: 5)
    let expected = all.filter { $0.shop == "3" && (10..<20).contains($0.quantity) }
      .sorted { ($1.quantity, $0.id) < ($0.quantity, $1.id) }.prefix(5)
    #expect(both == Array(expected))
    try await store.close()
  }

  @Test func `an observer sees the current state, then each durable batch, then the end`()
    async throws
  {
    let folder = try PassingFolder()
    let store = try await open(folder)
    let sales = store.collection(Sale.self)
    var updates = sales.observe().makeAsyncIterator()
    #expect(await updates.next()?.count == 0)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    #expect(await updates.next()?.map(\.id) == ["1"])
    for id in ["2", "3", "4"] {
      try await store.write { tx in try tx.insert(Sale(id: id, shop: "1", quantity: 1)) }
    }
    // Slow: three batches came, the newest state is what is seen.
    #expect(await updates.next()?.count == 4)
    try await store.close()
    #expect(await updates.next() == nil)
  }

  @Test func `one store at a time has a folder, and another account has another folder`()
    async throws
  {
    let folder = try PassingFolder()
    let store = try await open(folder)
    await #expect(throws: DaybookError.self) { try await open(folder) }
    do {
      _ = try await open(folder)
    } catch {
      #expect((error as? DaybookError)?.code == .locked)
    }
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    try await store.close()
    do {
      _ = try await open(folder, account: "rep-8")
      Issue.record("the log of another account opened")
    } catch {
      #expect((error as? DaybookError)?.code == .otherAccount)
    }
    let again = try await open(folder)
    try await again.close()
  }

  @Test func `a folder that is no log is left alone`() async throws {
    let folder = try PassingFolder()
    try Data("hello".utf8).write(to: folder.place("letter.txt"))
    do {
      _ = try await Daybook.open(at: folder.url, account: "a", schema: TestShop.schema)
      Issue.record("it opened")
    } catch {
      #expect(error.code == .notALog)
    }
    do {
      _ = try await Daybook.open(
        at: folder.place("letter.txt"), account: "a", schema: TestShop.schema)
      Issue.record("it opened")
    } catch {
      #expect(error.code == .notALog)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left == ["letter.txt"])
  }

  @Test func `a collection that the schema lacks is kept and reported`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    try await store.close()
    let other = Schema(name: "other", collections: [])
    let reopened = try await Daybook.open(
      at: folder.place("log"), account: "rep-7", schema: other)
    #expect(await reopened.status.unknownCollections == ["orders"])
    #expect(await reopened.status.unsettledCount == 1)
    try await reopened.close()
    let again = try await open(folder)
    #expect(again.collection(Sale.self).query().count == 1)
    try await again.close()
  }
}
