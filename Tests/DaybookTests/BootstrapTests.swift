import Daybook
import DaybookFormat
import DaybookNet
import DaybookServer
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// Whole scopes and long histories, in pages, with interruptions.
@Suite(.timeLimit(.minutes(3))) struct BootstrapTests {
  typealias Sale = TestShop.Sale

  /// An office with `count` orders on the server.
  private func office(_ server: TestServer, _ count: Int) async throws -> Daybook {
    let office = try await server.device("office", account: "office")
    for start in stride(from: 0, to: count, by: 250) {
      try await office.write { tx in
        for id in start..<min(start + 250, count) {
          try tx.insert(Sale(id: "\(10_000 + id)", shop: "\(id % 7)", quantity: id))
        }
      }
    }
    let status = await office.sync()
    #expect(status.unsettledCount == 0 && status.problem == nil)
    return office
  }

  @Test func `a bootstrap that is interrupted goes on where it was, also after reopening`()
    async throws
  {
    let server = try await TestServer()
    let office = try await office(server, 2_500)
    let transport = try server.hooked()
    let pages = Counter()
    transport.setHook { request in
      guard request.path.hasPrefix(Wire.bootstrapPath) else { return .forward }
      return pages.add() == 3 ? .lose : .forward
    }
    var rep = try await server.device("rep", transport: transport)
    // The rep's own scope, which is empty, is whole by now; the shop's is not.
    var status = await rep.sync()
    #expect(!status.isComplete)
    #expect(status.problem != nil)
    // Half a catalogue is not shown as if it were whole.
    #expect(rep.collection(Sale.self).count() == 0)
    #expect(!rep.collection(Sale.self).isComplete)
    // A record that arrives later, edited by its id before it does.
    try await rep.write { tx in try tx.insert(Sale(id: "own", shop: "9", quantity: 1)) }
    #expect(rep.collection(Sale.self).query().map(\.id) == ["own"])
    try await rep.close()
    // Meanwhile the world goes on.
    try await office.write { tx in
      try tx.update(Sale.self, "10001") { $0.quantity = -1 }
      try tx.delete(Sale.self, "10002")
      try tx.insert(Sale(id: "new", shop: "1", quantity: 5))
    }
    await office.sync()
    let before = transport.seen.count
    rep = try await server.device("rep", transport: transport)
    status = await rep.sync()
    #expect(status.isComplete && status.problem == nil && status.unsettledCount == 0)
    await office.sync()
    #expect(rep.collection(Sale.self).query() == office.collection(Sale.self).query())
    #expect(rep.collection(Sale.self).count() == 2_501)
    let again = transport.seen[before...].filter { $0.path.hasPrefix(Wire.bootstrapPath) }
    #expect(again.allSatisfy { $0.path.contains("after=") }, "the first page came twice")
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a device far behind catches up page by page, and an interruption skips nothing`()
    async throws
  {
    let server = try await TestServer()
    let office = try await office(server, 10)
    let transport = try server.hooked()
    let rep = try await server.device("rep", transport: transport)
    await rep.sync()
    for round in 1...5 {
      try await office.write { tx in
        for id in 0..<250 {
          try tx.insert(Sale(id: "\(round)-\(id)", shop: "1", quantity: round))
        }
      }
    }
    await office.sync()
    let pages = Counter()
    transport.setHook { request in
      guard request.path.hasPrefix(Wire.changesPath) else { return .forward }
      return pages.add() == 2 ? .loseAnswer : .forward
    }
    var updates = rep.collection(Sale.self).observe().makeAsyncIterator()
    #expect(await updates.next()?.count == 10)
    let half = await rep.sync()
    #expect(half.problem != nil)
    #expect(await updates.next()?.count == 510)
    let status = await rep.sync()
    #expect(status.problem == nil)
    #expect(pages.count >= 4)
    #expect(rep.collection(Sale.self).query() == office.collection(Sale.self).query())
    #expect(await updates.next()?.count == 1_260)
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a catch-up that is asked for while one is under way sees what came since`()
    async throws
  {
    let server = try await TestServer()
    let office = try await office(server, 1)
    let transport = try server.hooked()
    let rep = try await server.device("rep", transport: transport)
    await rep.sync()
    let (reached, gate) = (Gate(), Gate())
    let reads = Counter()
    // The first answer is held back after the server has read.
    transport.setHook { request in
      if request.path.hasPrefix(Wire.changesPath), reads.add() == 1 {
        reached.open()
        await gate.wait()
        return .answer(status: 503)
      }
      return .forward
    }
    let first = Task { await rep.sync() }
    await reached.wait()
    try await office.write { tx in try tx.insert(Sale(id: "late", shop: "1", quantity: 1)) }
    await office.sync()
    transport.setHook(nil)
    gate.open()
    _ = await first.value
    await rep.sync()
    #expect(try rep.collection(Sale.self).get("late") != nil)
    try await rep.close()
    try await office.close()
    try await server.server.stop()
  }

  /// Syncs until nothing waits any more.
  private func settle(_ reps: [Daybook]) async throws {
    for _ in 0..<100 {
      var isDone = true
      for rep in reps {
        let status = await rep.sync()
        let waiting = status.unsettledCount + status.unconfirmedCount
        if status.problem != nil || waiting > 0 { isDone = false }
      }
      if isDone { return }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `two devices on a bad network with a server that restarts: every order once`(seed: UInt64)
    async throws
  {
    var server = try await TestServer()
    let folder = server.folder
    let proxy = LossyProxy(upstreamPort: server.server.port)
    let network = ProxiedDevice.Network(loss: 0.2, cutShare: 0.2)
    var ports: [UInt16] = []
    for number in 0..<2 {
      ports.append(
        try proxy.addDevice(
          named: "rep-\(number)", network: network,
          generator: SplitMix64(seed: seed * 10 + UInt64(number))
        ).port)
    }
    var reps: [Daybook] = []
    for number in 0..<2 {
      reps.append(
        try await server.device("rep-\(number)", account: "a\(number)", port: ports[number]))
    }
    for round in 0..<6 {
      for (number, rep) in reps.enumerated() {
        try await rep.write { tx in
          try tx.insert(Sale(id: "\(number)-\(round)", shop: "\(number)", quantity: round))
        }
        if round > 0 {
          try await rep.write { tx in
            try tx.update(Sale.self, "\(number)-\(round - 1)") { $0.quantity += 100 }
          }
        }
        await rep.sync()
      }
      if round == 2 {
        try await server.server.stop()
        await reps[0].sync()
        server = try await TestServer(folder: folder)
        proxy.upstreamPort = server.server.port
      }
      if round == 4 {
        try await reps[1].close()
        reps[1] = try await server.device("rep-1", account: "a1", port: ports[1])
      }
    }
    try await settle(reps)
    let expected = (0..<2).flatMap { number in
      (0..<6).map {
        Sale(
          id: "\(number)-\($0)", shop: "\(number)", quantity: $0 < 5 ? $0 + 100 : 5)
      }
    }
    for rep in reps {
      await rep.sync()
      #expect(rep.drafts.isEmpty && rep.deadLetters.isEmpty)
      #expect(await rep.status.unsettledCount == 0)
    }
    let reader = try await server.device("reader", account: "reader")
    await reader.sync()
    #expect(reader.collection(Sale.self).query() == expected)
    for rep in reps + [reader] { try await rep.close() }
    proxy.stop()
    try await server.server.stop()
  }
}
