import Daybook
import DaybookFormat
import DaybookNet
import DaybookServer
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// The client against a real server over HTTP.
@Suite(.timeLimit(.minutes(2))) struct SyncOverHTTPTests {
  typealias Sale = TestShop.Sale

  @Test func `an offline write is pushed, accepted, pulled and confirmed`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let receipt = try await rep.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
      try tx.insert(Sale(id: "2", shop: "17", quantity: 1))
    }
    #expect(await rep.status.unsettledCount == 2)
    let status = await rep.sync()
    #expect(status.problem == nil)
    #expect(status.unsettledCount == 0 && status.unconfirmedCount == 0)
    guard case .accepted(let acceptances) = await receipt.settlement else {
      Issue.record("not accepted")
      return
    }
    #expect(acceptances.map(\.sequence) == [1, 2])
    #expect(try rep.collection(Sale.self).details("1")?.isPending == false)
    let other = try await server.device("other", account: "rep-8")
    await other.sync()
    #expect(other.collection(Sale.self).query() == rep.collection(Sale.self).query())
    try await rep.close()
    try await other.close()
    try await server.server.stop()
  }

  @Test func `the office cancels first: the stale edit is refused and kept as a draft`()
    async throws
  {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await office.perform("cancel", on: "1", of: Sale.self)
    await office.sync()
    let receipt = try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 12 } }
    #expect(try rep.collection(Sale.self).get("1")?.quantity == 12)
    await rep.sync()
    guard case .refused(let draft) = await receipt.settlement else {
      Issue.record("not refused")
      return
    }
    #expect(draft.refusal?.code == .stateRule)
    #expect(draft.operations.map(\.fields) == [["quantity": 12]])
    #expect(rep.drafts == [draft])
    let shown = try rep.collection(Sale.self).get("1")
    #expect(shown?.status == "cancelled" && shown?.quantity == 10)
    try await rep.close()
    // Still there after a relaunch, until the user decides.
    let relaunched = try await server.device("rep")
    #expect(relaunched.drafts == [draft])
    try await relaunched.discard(draft.id)
    #expect(relaunched.drafts.isEmpty)
    await #expect(throws: DaybookError.self) { try await relaunched.discard(draft.id) }
    try await relaunched.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `the edit comes first: the cancel wins over it and both stand`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 12 } }
    await rep.sync()
    let receipt = try await office.perform("cancel", on: "1", of: Sale.self)
    await office.sync()
    guard case .accepted = await receipt.settlement else {
      Issue.record("the cancel was not accepted")
      return
    }
    await rep.sync()
    let shown = try rep.collection(Sale.self).get("1")
    #expect(shown?.status == "cancelled" && shown?.quantity == 12)
    #expect(rep.drafts.isEmpty && office.drafts.isEmpty)
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a refused edit is changed, sent again and accepted`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    let office = try await server.device("office", account: "office")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    await office.sync()
    try await office.write { tx in try tx.update(Sale.self, "1") { $0.note = "repriced" } }
    await office.sync()
    try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 12 } }
    await rep.sync()
    let draft = try #require(rep.drafts.first)
    #expect(draft.refusal?.code == .staleBase)
    let receipt = try await rep.retry(draft.id) { _, fields in fields["quantity"] = 11 }
    #expect(rep.drafts.isEmpty)
    await rep.sync()
    guard case .accepted = await receipt.settlement else {
      Issue.record("the retry was not accepted")
      return
    }
    let shown = try rep.collection(Sale.self).get("1")
    #expect(shown?.quantity == 11 && shown?.note == "repriced")
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a lost reply leads to a second send and one order`() async throws {
    let server = try await TestServer()
    let proxy = LossyProxy(upstreamPort: server.server.port)
    let pushes = Counter()
    let network = try proxy.addDevice(named: "rep", generator: SplitMix64(seed: 1)) { request in
      guard request.method == "POST" else { return .forward }
      return pushes.add() == 1 ? .loseReply : .forward
    }
    let rep = try await server.device("rep", port: network.port)
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    let first = await rep.sync()
    #expect(first.unsettledCount == 1)
    #expect(first.problem != nil)
    let second = await rep.sync()
    #expect(second.problem == nil && second.unsettledCount == 0)
    #expect(pushes.count == 2)
    #expect(network.counters.pushRepliesLostAfterActing == 1)
    #expect(await rep.syncCounts.resentOperations == 1)
    let other = try await server.device("other")
    await other.sync()
    #expect(other.collection(Sale.self).query().map(\.id) == ["1"])
    try await rep.close()
    try await other.close()
    proxy.stop()
    try await server.server.stop()
  }

  @Test func `a login page is not the server: nothing is lost and the status says so`()
    async throws
  {
    let server = try await TestServer()
    let proxy = LossyProxy(upstreamPort: server.server.port)
    let network = try proxy.addDevice(named: "rep", generator: SplitMix64(seed: 1))
    let rep = try await server.device("rep", port: network.port)
    await rep.sync()
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    network.fixedAnswer = .loginPage
    let status = await rep.sync()
    #expect(status.problem == .notADaybookServer(status: 200))
    #expect(status.unsettledCount == 1)
    network.fixedAnswer = nil
    let after = await rep.sync()
    #expect(after.problem == nil && after.unsettledCount == 0)
    try await rep.close()
    proxy.stop()
    try await server.server.stop()
  }

  @Test func `another server than the log's gets nothing`() async throws {
    let first = try await TestServer()
    let second = try await TestServer()
    let rep = try await first.device("rep")
    await rep.sync()
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    try await rep.close()
    let moved = try await first.device("rep", port: second.server.port)
    let status = await moved.sync()
    #expect(status.problem == .notOurServer)
    #expect(status.unsettledCount == 1)
    try await moved.close()
    let back = try await first.device("rep")
    #expect(await back.sync().unsettledCount == 0)
    try await back.close()
    try await first.server.stop()
    try await second.server.stop()
  }

  @Test func `a store syncs by itself after a write, and shows it before`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep", sync: .automatic(pullEverySeconds: 600))
    let receipt = try await rep.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
    }
    #expect(try rep.collection(Sale.self).get("1") != nil)
    guard case .accepted = await receipt.settlement else {
      Issue.record("not accepted")
      return
    }
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `a store tries again by itself until the server has answered`() async throws {
    let server = try await TestServer()
    let transport = try server.hooked()
    let pushes = Counter()
    transport.setHook { request in
      guard request.method == "POST" else { return .forward }
      switch pushes.add() {
      case 1: return .lose
      case 2: return .loseAnswer
      case 3: return .answer(status: 503)
      case 4: return .strangerAnswers(status: 200)
      default: return .forward
      }
    }
    let rep = try await server.device(
      "rep", sync: .automatic(pullEverySeconds: 600), transport: transport)
    let receipt = try await rep.write { tx in
      try tx.insert(Sale(id: "1", shop: "17", quantity: 10))
    }
    guard case .accepted(let acceptances) = await receipt.settlement else {
      Issue.record("not accepted")
      return
    }
    #expect(acceptances.map(\.sequence) == [1])
    #expect(pushes.count == 5)
    #expect(await rep.status.problem == nil)
    try await rep.close()
    try await server.server.stop()
  }

  @Test func `the server stops and comes back in the middle, and forgets nothing`() async throws {
    let server = try await TestServer()
    let rep = try await server.device("rep")
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 10)) }
    await rep.sync()
    try await server.server.stop()
    try await rep.write { tx in try tx.update(Sale.self, "1") { $0.quantity = 11 } }
    let down = await rep.sync()
    #expect(down.unsettledCount == 1)
    if case .unreachable = down.problem {
    } else {
      Issue.record("\(String(describing: down.problem))")
    }
    try await rep.close()
    let again = try await TestServer(folder: server.folder)
    let back = try await again.device("rep")
    let status = await back.sync()
    #expect(status.problem == nil && status.unsettledCount == 0)
    #expect(try back.collection(Sale.self).get("1")?.quantity == 11)
    try await back.close()
    try await again.server.stop()
  }
}
