import DaybookTestKit
import Daybook
import DaybookFormat
import DaybookNet
import DaybookServer
import DaybookSync
import Foundation
import Testing

/// Drafts, dead letters, problems: what did not go through waits for somebody.
@Suite(.timeLimit(.minutes(2))) struct SetAsideTests {
  typealias Sale = TestShop.Sale

  /// A rep whose edit of order 1 is refused, because the office cancelled it.
  private func refused(_ server: TestServer) async throws -> (Daybook, Draft) {
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await office.write { tx in try tx.update(Sale.self, "1") { $0.note = "repriced" } }
    await office.sync()
    try await office.close()
    try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 12 } }
    await rep.sync()
    return (rep, try #require(rep.drafts.first))
  }

  @Test func `a draft is retried once, however often somebody taps`() async throws {
    let server = try await TestServer()
    let (rep, draft) = try await refused(server)
    let refusals = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          do {
            try await rep.retry(draft.id)
          } catch {
            #expect((error as? DaybookError)?.code == .alreadyDecided)
            refusals.add()
          }
        }
      }
    }
    #expect(refusals.count == 7)
    #expect(await rep.status.unsettledCount == 1)
    await rep.sync()
    #expect(try rep.collection(Sale.self).get("1")?.quantity == 12)
    #expect(rep.drafts.isEmpty)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `a draft that does not fit stays a draft`() async throws {
    let server = try await TestServer()
    let (rep, draft) = try await refused(server)
    let failure = await #expect(throws: DaybookError.self) {
      try await rep.retry(draft.id) { _, fields in fields["quantity"] = "many" }
    }
    #expect(failure?.code == .schema)
    #expect(rep.drafts == [draft])
    try await rep.discard(draft.id)
    #expect(rep.drafts.isEmpty)
    let second = await #expect(throws: DaybookError.self) { try await rep.retry(draft.id) }
    #expect(second?.code == .alreadyDecided)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `a transaction with a refused member is one draft, and one again when retried`()
    async throws
  {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await office.write { tx in try tx.update(Sale.self, "1") { $0.note = "repriced" } }
    await office.sync()
    let receipt = try await rep.write { tx in
      try tx.update(Sale.self, "1") { $0.quantity = 12 }
      try tx.insert(Sale(id: "2", shop: "17", quantity: 1))
    }
    // Based on what the transaction would have made: leaves with it.
    try await rep.write { tx in try tx.update(Sale.self, "2") { $0.quantity = 2 } }
    // On the server's row: goes on.
    try await rep.write { tx in try tx.insert(Sale(id: "3", shop: "17", quantity: 3)) }
    await rep.sync()
    guard case .refused(let draft) = await receipt.settlement else {
      Issue.record("not refused")
      return
    }
    #expect(draft.operations.map(\.record.id) == ["1", "2", "2"])
    #expect(rep.drafts == [draft])
    let sales = rep.collection(Sale.self)
    #expect(sales.query().map(\.id) == ["1", "3"])
    #expect(try sales.get("1")?.quantity == 10)
    let again = try await rep.retry(draft.id)
    #expect(again.operationIDs.count == 3)
    let sizes = rep.withState { $0.unsettled.map { $0.operation.transaction?.count } }
    #expect(sizes == [2, 2, nil])
    await rep.sync()
    guard case .accepted(let acceptances) = await again.settlement else {
      Issue.record("the retry was not accepted")
      return
    }
    #expect(acceptances.count == 3)
    #expect(sales.query().map(\.quantity) == [12, 2, 3])
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `what the server can never take is a dead letter, which can be sent again`()
    async throws
  {
    let server = try await TestServer()
    let transport = try server.hooked()
    let rep = try await server.device("rep", transport: transport)
    await rep.sync()
    transport.setHook { $0.method == "POST" ? .answer(status: 400) : .forward }
    let receipt = try await rep.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
    }
    await rep.sync()
    guard case .failed(let letter) = await receipt.settlement else {
      Issue.record("not failed")
      return
    }
    #expect(letter.status == 400)
    #expect(rep.deadLetters == [letter])
    #expect(rep.drafts.isEmpty)
    let status = await rep.status
    #expect(status.deadLetterCount == 1 && status.unsettledCount == 0)
    try await rep.close()
    transport.setHook(nil)
    let relaunched = try await server.device("rep", transport: transport)
    #expect(relaunched.deadLetters == [letter])
    let again = try await relaunched.retry(letter.id)
    await relaunched.sync()
    guard case .accepted = await again.settlement else {
      Issue.record("the second time was not accepted")
      return
    }
    #expect(relaunched.deadLetters.isEmpty)
    #expect(relaunched.collection(Sale.self).query().map(\.id) == ["1"])
    try await relaunched.close()
    try await server.server.stop()
  }

  @Test func `missing credentials stop the queue whole, until they are there`() async throws {
    let server = try await TestServer()
    let transport = try server.hooked()
    let rep = try await server.device("rep", transport: transport)
    await rep.sync()
    transport.setHook { $0.method == "POST" ? .answer(status: 401) : .forward }
    for id in 0..<300 {
      try await rep.write { tx in try tx.insert(Sale(id: "\(id)", shop: "1", quantity: id)) }
    }
    var status = await rep.sync()
    // Pulling goes on, and does not hide that nothing is sent.
    #expect(status.problem == .credentials)
    #expect(status.unsettledCount == 300)
    let pushes = transport.pushCount
    status = await rep.sync()
    #expect(transport.pushCount == pushes)
    #expect(status.problem == .credentials)
    transport.setHook(nil)
    await rep.resumeSync()
    status = await rep.sync()
    #expect(status.problem == nil)
    #expect(status.unsettledCount == 0 && status.unconfirmedCount == 0)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `a wait for a verdict ends with the store, or when it is cancelled`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    let receipt = try await store.write { tx in
      try tx.insert(Sale(id: "1", shop: "1", quantity: 1))
    }
    let cancelled = Task { await receipt.settlement }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    let begun = Gate()
    let waiting = Task {
      begun.open()
      return await receipt.settlement
    }
    await begun.wait()
    try await store.close()
    #expect(await waiting.value == nil)
    #expect(await receipt.settlement == nil)
  }

  @Test func `a write that changes nothing is settled at once`() async throws {
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: TestShop.schema)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    let receipt = try await store.write { tx in
      try tx.update(Sale.self, "1") { $0.quantity = 1 }
    }
    #expect(receipt.operationIDs.isEmpty)
    #expect(await receipt.settlement == .accepted([]))
    #expect(await store.status.unsettledCount == 1)
    try await store.close()
  }
}
