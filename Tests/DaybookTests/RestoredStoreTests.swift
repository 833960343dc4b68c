import Daybook
import DaybookFormat
import DaybookLog
import DaybookServer
import DaybookTestKit
import Foundation
import Testing

/// A device's log restored from a copy, opened as an app opens it.
@Suite(.timeLimit(.minutes(2))) struct RestoredStoreTests {
  typealias Sale = TestShop.Sale

  /// Restores the log of the device `name` to `copy`.
  private func restore(
    _ name: String, to copy: String, in server: TestServer, _ outbox: Restoration.Outbox
  ) throws {
    _ = try LogRestore(
      from: server.folder.place(name).path, into: server.folder.place(copy).path,
      fileSystem: SystemFileSystem(), random: { UInt64.random(in: .min ... .max) },
      clock: { HybridTime(Timestamp(milliseconds: 1_800_000_000_000)) }
    ).run(LogRestore.Request(outbox: outbox))
  }

  /// A rep with one order on the server and two that were never sent; closed.
  private func morning(_ server: TestServer) async throws {
    let rep = try await server.device("rep")
    await rep.sync()
    try await rep.write { tx in try tx.insert(Sale(id: "1", shop: "17", quantity: 1)) }
    await rep.sync()
    for id in ["2", "3"] {
      try await rep.write { tx in try tx.insert(Sale(id: id, shop: "17", quantity: 2)) }
    }
    try await rep.close()
  }

  @Test func `what the copy held is shown and waits, over a relaunch too, until it is released`()
    async throws
  {
    let server = try await TestServer()
    try await morning(server)
    try restore("rep", to: "again", in: server, .hold)
    var rep = try await server.device("again")
    #expect(rep.restored?.count == 2)
    #expect(await rep.status.heldCount == 2)
    #expect(try rep.collection(Sale.self).get("2")?.quantity == 2)
    try await rep.write { tx in try tx.insert(Sale(id: "4", shop: "17", quantity: 4)) }
    await rep.sync()
    let office = try await server.device("office", account: "office")
    await office.sync()
    #expect(try office.collection(Sale.self).get("4")?.quantity == 4)
    #expect(try office.collection(Sale.self).get("2") == nil)

    try await rep.close()
    rep = try await server.device("again")
    #expect(rep.restored?.count == 2)
    try await rep.releaseRestored(.send)
    #expect(rep.restored == nil)
    await #expect(throws: DaybookError.self) { try await rep.releaseRestored(.drop) }
    let problem = await rep.sync().problem
    #expect(problem == nil, "\(String(describing: problem)) \(rep.deadLetters)")
    #expect(await office.sync().problem == nil)
    #expect(try office.collection(Sale.self).get("2")?.quantity == 2)
    #expect(try office.collection(Sale.self).get("3")?.quantity == 2)
    #expect(await rep.status.unsettledCount == 0)
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `the original has gone on: nothing takes effect twice and nothing is lost`()
    async throws
  {
    let server = try await TestServer()
    try await morning(server)
    try restore("rep", to: "again", in: server, .send)
    let original = try await server.device("rep")
    await original.sync()
    try await original.write { tx in try tx.insert(Sale(id: "5", shop: "17", quantity: 5)) }
    await original.sync()
    let rep = try await server.device("again")
    await rep.sync()
    #expect(await rep.status.unsettledCount == 0)
    #expect(rep.drafts.isEmpty && rep.deadLetters.isEmpty)
    #expect(rep.collection(Sale.self).query().count == 4)
    try await rep.write { tx in try tx.update(Sale.self, "2") { $0.quantity = 20 } }
    await rep.sync()
    await original.sync()
    #expect(try original.collection(Sale.self).get("2")?.quantity == 20)
    try await rep.close()
    try await original.close()
    try await server.server.stop()
  }

  @Test func `dropped, the operations are gone and no drafts`() async throws {
    let server = try await TestServer()
    try await morning(server)
    try restore("rep", to: "again", in: server, .hold)
    let rep = try await server.device("again")
    try await rep.releaseRestored(.drop)
    #expect(try rep.collection(Sale.self).get("2") == nil)
    await rep.sync()
    #expect(rep.drafts.isEmpty && rep.deadLetters.isEmpty)
    #expect(await rep.status.unsettledCount == 0)
    #expect(rep.collection(Sale.self).query().count == 1)
    try await rep.close()
    try await server.server.stop()
  }
}
