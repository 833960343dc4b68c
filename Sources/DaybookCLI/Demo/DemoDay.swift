import Daybook
import DaybookFormat
import DaybookServer
import DaybookTestKit
import Foundation

/// The day itself: one server, the office, the reps, and what happens to them in what order.
struct DemoDay: Sendable {
  let data: FieldSalesData
  let plan: DemoPlan
  let loss: Double
  let seed: UInt64
  let directory: URL
  let output: Output

  /// Everything that is open during the day.
  struct Cast {
    let server: SyncServer
    let proxy: LossyProxy
    let office: Daybook
    let reps: [DemoRep]
    let tally: DemoTally
    var stores: [Daybook] = []
  }

  /// Runs the day and checks what came of it.
  func run() async throws -> DemoReport {
    let server = try await SyncServer.start(
      dataDirectory: directory.appendingPathComponent("server"), schema: data.schema)
    // So that `daybook serve` can go on with it.
    try Data(data.schemaBytes).write(
      to: directory.appendingPathComponent("server/schema.json"))
    let proxy = LossyProxy(upstreamPort: server.port)
    let killed = KilledDevice(lastPush: plan.fates.count > plan.repCount ? 3 : 2)
    do {
      let report = try await run(server: server, proxy: proxy, killed: killed)
      return report
    } catch {
      killed.stop()
      proxy.stop()
      try? await server.stop()
      throw error
    }
  }

  private func run(
    server: SyncServer, proxy: LossyProxy, killed: KilledDevice
  ) async throws -> DemoReport {
    guard let address = URL(string: "http://127.0.0.1:\(server.port)") else {
      throw DaybookError(.invalidAddress, "The loopback address can't be used.")
    }
    let tally = DemoTally()
    let office = try await DemoRep.open(
      directory.appendingPathComponent("office"), account: "office", server: address,
      schema: data.schema)
    var cast = Cast(
      server: server, proxy: proxy, office: office, reps: try reps(proxy, tally), tally: tally)
    try await stock(office)
    var taken = try await morning(&cast, killed)
    taken.formUnion(try await takeOrders(cast))
    try await sendOrders(cast)
    try await changeOrders(cast)
    output.note("Everything is sent: closing the logs and comparing them with the server's.")
    var audit = DemoAudit(plan: plan, data: data, taken: taken)
    for store in cast.stores { audit.take(store, overseer: false) }
    audit.take(office, overseer: true)
    for store in cast.stores { try await store.close() }
    try await office.close()
    proxy.stop()
    try await server.stop()
    try audit.read(server: directory.appendingPathComponent("server").path)
    return audit.report(counters: proxy.counters, tally: tally.current)
  }

  private func reps(_ proxy: LossyProxy, _ tally: DemoTally) throws -> [DemoRep] {
    try (0..<plan.repCount).map { rep in
      let account = DemoPlan.account(rep)
      let network = try proxy.addDevice(
        named: account, network: ProxiedDevice.Network(loss: loss, cutShare: 0.25),
        generator: SplitMix64(seed: seed &* 1_000 &+ UInt64(rep)),
        hook: { request in
          tally.count(request)
          return .draw
        })
      return DemoRep(
        account: account,
        directory: directory.appendingPathComponent("reps/\(account.dropFirst(4))"),
        network: network)
    }
  }

  /// The office puts the catalogue and the shops on the server.
  private func stock(_ office: Daybook) async throws {
    output.note(
      "The office puts \(grouped(data.products.count)) products and \(grouped(data.shops.count)) "
        + "shops on the server.")
    let products = data.products
    let shops = data.shops
    for start in stride(from: 0, to: products.count, by: 200) {
      let part = Array(products[start..<min(start + 200, products.count)])
      try await office.write { transaction in
        for product in part { try transaction.insert(product) }
      }
    }
    for start in stride(from: 0, to: shops.count, by: 200) {
      let part = Array(shops[start..<min(start + 200, shops.count)])
      try await office.write { transaction in
        for shop in part { try transaction.insert(shop) }
      }
    }
    try await DemoRep.settle(office)
  }

  /// One device is a process of its own, which dies with a push in flight and is opened again; the
  /// others fetch the catalogue meanwhile.
  private func morning(_ cast: inout Cast, _ killed: KilledDevice) async throws -> Set<String> {
    output.note("\(plan.repCount) devices fetch the catalogue; \(cast.reps[0].account)'s is a")
    output.note("process of its own, which takes its orders and is killed while it sends them.")
    let first = cast.reps[0]
    let tally = cast.tally
    first.network.setHook { request in
      tally.count(request)
      return killed.verdict(on: request)
    }
    try killed.start(
      directory: first.directory, port: first.network.port, orders: plan.fates.count,
      reps: plan.repCount)
    for rep in cast.reps.dropFirst() {
      cast.stores.append(try await rep.open(schema: data.schema))
    }
    let stores = cast.stores
    try await together(stores, "catalogues") { store in try await DemoRep.settle(store) }
    let (taken, wasKilled) = await killed.wait()
    guard wasKilled else {
      throw Failure(
        status: .checkFailed, message: "the device that was to be killed ended by itself",
        remedy: "Run the demo again; if it happens again, please report it.")
    }
    first.network.setHook { request in
      tally.count(request)
      return .draw
    }
    let reopened = try await first.open(schema: data.schema)
    let pending = await reopened.status.unsettledCount
    output.note(
      "\(first.account) was killed with \(grouped(pending)) operations pending, after it had taken "
        + "\(grouped(taken.count)) orders; its log is open again.")
    guard pending > 0 else {
      throw Failure(
        status: .checkFailed, message: "the killed device came back with nothing pending",
        remedy: "Please report this with the seed.")
    }
    cast.stores.insert(reopened, at: 0)
    return Set(taken)
  }

  /// The other reps take their orders without a network.
  private func takeOrders(_ cast: Cast) async throws -> Set<String> {
    for rep in cast.reps.dropFirst() { rep.network.isOffline = true }
    var taken: Set<String> = []
    let progress = Progress("orders", total: plan.fates.count, on: output)
    for rep in cast.reps.indices.dropFirst() {
      let mine = stride(from: rep, to: plan.fates.count, by: plan.repCount).map {
        data.order($0, rep: cast.reps[rep].account)
      }
      try await DemoRep.take(mine, in: cast.stores[rep]) { id in
        taken.insert(id)
        progress.advance(to: taken.count)
      }
      // Without a network a sync fails, says so, and loses nothing.
      await cast.stores[rep].sync()
    }
    progress.finish()
    for rep in cast.reps.dropFirst() { rep.network.isOffline = false }
    return taken
  }

  private func sendOrders(_ cast: Cast) async throws {
    output.note("The network is back, and loses: the orders are sent.")
    try await together(cast.stores, "devices") { store in try await DemoRep.settle(store) }
  }

  /// Runs `body` for every device at once.
  func together(
    _ stores: [Daybook], _ label: String, _ body: @escaping @Sendable (Daybook) async throws -> Void
  ) async throws {
    let progress = Progress(label, total: stores.count, on: output)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores { group.addTask { try await body(store) } }
      var done = 0
      for try await _ in group {
        done += 1
        progress.advance(to: done)
      }
    }
    progress.finish()
  }
}
