import DaybookTestKit
import Daybook
import DaybookFormat
import DaybookNet
import DaybookServer
import Foundation
import Observation
import Synchronization
import Testing

/// Who watches sees the local log, and only that.
@Suite(.timeLimit(.minutes(2))) struct ObservationTests {
  typealias Sale = TestShop.Sale

  @Test func `an observer sees a local write before any network call`() async throws {
    let server = try await TestServer()
    let transport = try server.hooked()
    let first = try await server.device("rep", transport: transport)
    await first.sync()
    try await first.close()
    let requestsBefore = transport.seen.count
    let gate = Gate()
    // Everything waits until the observer has seen the write.
    transport.setHook { _ in
      await gate.wait()
      return .forward
    }
    let rep = try await server.device(
      "rep", sync: .automatic(pullEverySeconds: 600), transport: transport)
    var updates = rep.collection(Sale.self).observe().makeAsyncIterator()
    #expect(await updates.next()?.isEmpty == true)
    let receipt = try await rep.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
    }
    #expect(await updates.next()?.map(\.id) == ["1"])
    #expect(await rep.status.unsettledCount == 1)
    gate.open()
    guard case .accepted = await receipt.settlement else {
      Issue.record("not accepted")
      return
    }
    #expect(transport.seen.count > requestsBefore)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `what is sent has been readable before it is sent`() async throws {
    let server = try await TestServer()
    let transport = try server.hooked()
    let rep = try await server.device(
      "rep", sync: .automatic(pullEverySeconds: 600), transport: transport)
    let sales = rep.collection(Sale.self)
    let early = Counter()
    transport.setHook { request in
      if request.method == "POST", sales.query().isEmpty { early.add() }
      return .forward
    }
    for id in 1...5 {
      let receipt = try await rep.write { tx in
        try tx.insert(Sale(id: "\(id)", shop: "17", quantity: 10))
      }
      #expect(await receipt.settlement != nil)
    }
    #expect(transport.pushCount >= 1)
    #expect(early.count == 0)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `an observer is told of its own collection alone`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    var updates = store.collection(Sale.self).observe(limit: 1).makeAsyncIterator()
    #expect(await updates.next()?.isEmpty == true)
    try await store.write { tx in try tx.insert(TestShop.Note(id: 1, text: "other")) }
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    #expect(await updates.next()?.count == 1)
    try await store.close()
  }

  @Test func `observers get what the last write did, then their end`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    var updates = store.collection(Sale.self).observe().makeAsyncIterator()
    #expect(await updates.next()?.isEmpty == true)
    let late = Task {
      try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    }
    _ = try await late.value
    try await store.close()
    #expect(await updates.next()?.count == 1)
    #expect(await updates.next() == nil)
    var after = store.collection(Sale.self).observe().makeAsyncIterator()
    #expect(await after.next()?.count == 1)
    #expect(await after.next() == nil)
  }

  @Test func `a cancelled observer ends, and the store keeps nothing of it`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    let sales = store.collection(Sale.self)
    for _ in 0..<20 {
      let begun = Gate()
      let watching = Task {
        for await _ in sales.observe() { begun.open() }
      }
      await begun.wait()
      watching.cancel()
      await watching.value
    }
    #expect(store.observerCount == 0)
    try await store.close()
  }

  @Test @MainActor func `a live query has rows at once and follows every write`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    let live = store.collection(Sale.self).live(order: .descending("quantity"))
    #expect(live.rows.map(\.id) == ["1"])
    for expected in 2...4 {
      let changed = Gate()
      withObservationTracking {
        _ = live.rows
      } onChange: {
        changed.open()
      }
      try await store.write { tx in
        try tx.insert(Sale(id: "\(expected)", shop: "1", quantity: expected))
      }
      // The first value of the query itself may come in between.
      while live.rows.count < expected { await Task.yield() }
      await changed.wait()
      #expect(live.rows.first?.id == "\(expected)")
    }
    try await store.close()
  }
}
