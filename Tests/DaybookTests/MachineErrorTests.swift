import Daybook
import DaybookLog
import DaybookNet
import DaybookServer
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// A store on a disk that fails for a while: reads go on, and everything else by itself.
@Suite struct MachineErrorTests {
  typealias Sale = TestShop.Sale

  static let place = URL(fileURLWithPath: SimulatedDisk.root + "/log")

  private func open(
    _ disk: SimulatedDisk, _ server: ServerAddress = .none,
    sync: DaybookOptions.SyncMode = .manual
  ) async throws -> Daybook {
    var options = DaybookOptions()
    options.sync = sync
    options.device = "rep"
    options.fileSystem = disk
    options.retrySchedule = RetrySchedule(
      startMilliseconds: 10, floorMilliseconds: 1, capMilliseconds: 50)
    return try await Daybook.open(
      at: Self.place, account: "rep-7", schema: TestShop.schema, server: server, options: options)
  }

  private func insert(_ store: Daybook, _ id: String) async throws {
    try await store.write { tx in try tx.insert(Sale(id: id, shop: "1", quantity: 1)) }
  }

  /// The code of the error that inserting a sale throws; `nil` if it works.
  private func refusal(_ store: Daybook, _ id: String) async -> DaybookError.Code? {
    do {
      try await insert(store, id)
      return nil
    } catch {
      return (error as? DaybookError)?.code
    }
  }

  // S68
  @Test func `on a full disk reads go on, and writes once there is room`() async throws {
    let server = try await TestServer()
    let disk = SimulatedDisk(seed: 1)
    let store = try await open(disk, .http(try unwrapped(server.address)))
    let sales = store.collection(Sale.self)
    try await insert(store, "1")
    disk.setCapacity(disk.usedByteCount)
    // The segment that is begun takes some more; then it is full.
    var acknowledged = ["1"]
    var codes: [DaybookError.Code] = []
    for index in 2...40 where codes.count < 3 {
      let note = String(repeating: "x", count: 30_000)
      do {
        try await store.write { tx in
          try tx.insert(Sale(id: "\(index)", shop: "1", quantity: 1, note: note))
        }
        acknowledged.append("\(index)")
      } catch {
        codes.append(try #require(error as? DaybookError).code)
      }
    }
    #expect(codes == [.diskFull, .diskFull, .diskFull])
    #expect(await store.status.storage == .diskFull)
    #expect(Set(sales.query().map(\.id)) == Set(acknowledged))
    // Sync asks, can't keep the answer, and says so.
    _ = await store.sync()
    #expect(await store.status.storage == .diskFull)
    disk.setCapacity(nil)
    try await insert(store, "after")
    acknowledged.append("after")
    #expect(await store.status.storage == nil)
    let status = await store.sync()
    #expect(status.unsettledCount == 0, "\(status)")
    #expect(status.problem == nil)
    #expect(Set(sales.query().map(\.id)) == Set(acknowledged))
    let again = try await open(disk.crashed(.dropped, seed: 1))
    #expect(Set(again.collection(Sale.self).query().map(\.id)) == Set(acknowledged))
    #expect(await again.status.damage == nil)
    try await again.close()
    try await store.close()
    try await server.server.stop()
  }

  // F51
  @Test func `a disk that becomes read-only stops writes and nothing else`() async throws {
    let disk = SimulatedDisk(seed: 1)
    let store = try await open(disk)
    try await insert(store, "1")
    disk.set(.refuse([.write, .create, .truncate, .remove, .reserve], .readOnly))
    // The first may be in the file: that can't be told without a disk that is written to.
    #expect(await refusal(store, "2") == .outcomeUnknown)
    #expect(await refusal(store, "3") == .notPermitted)
    #expect(await store.status.storage == .notPermitted)
    #expect(store.collection(Sale.self).query().map(\.id) == ["1"])
    disk.set(.none)
    #expect(await refusal(store, "4") == nil)
    #expect(store.collection(Sale.self).query().map(\.id) == ["1", "4"])
    try await store.close()
  }

  @Test func `a store that may only be read opens, shows all and says why`() async throws {
    let disk = SimulatedDisk(seed: 1)
    let first = try await open(disk)
    try await insert(first, "1")
    try await first.close()
    let server = try await TestServer()
    disk.set(.refuse([.lock, .create, .write, .truncate, .remove, .sync], .readOnly))
    let store = try await open(disk, .http(try unwrapped(server.address)))
    #expect(store.collection(Sale.self).query().map(\.id) == ["1"])
    #expect(await refusal(store, "2") == .notPermitted)
    let status = await store.sync()
    #expect(status.storage == .notPermitted)
    #expect(status.damage == nil)
    #expect(status.unsettledCount == 1)
    try await store.close()
    try await server.server.stop()
  }

  @Test func `a pull whose page found no room is asked for again by itself`() async throws {
    let server = try await TestServer()
    let office = try await server.device("office")
    try await office.write { tx in try tx.insert(Sale(id: "theirs", shop: "1", quantity: 1)) }
    _ = await office.sync()
    let disk = SimulatedDisk(seed: 1)
    let transport = try server.hooked()
    let requests = Counter()
    transport.setHook { _ in
      switch requests.add() {
      case 1: disk.set(.refuse([.write, .create, .reserve], .diskFull))
      case 4: disk.set(.none)
      default: break
      }
      return .forward
    }
    let store = try await open(
      disk, .transport(transport), sync: .automatic(pullEverySeconds: 600))
    for await sales in store.collection(Sale.self).observe() where !sales.isEmpty {
      #expect(sales.map(\.id) == ["theirs"])
      break
    }
    #expect(requests.count >= 4)
    try await store.close()
    try await office.close()
    try await server.server.stop()
  }

  // MARK: - Suspension

  // S67
  @Test func `a suspended store reads, holds no lock, and goes on when resumed`() async throws {
    let server = try await TestServer()
    let disk = SimulatedDisk(seed: 1)
    let store = try await open(disk, .http(try unwrapped(server.address)))
    try await insert(store, "1")
    try await store.suspend()
    try await store.suspend()
    #expect(!disk.isLocked(Self.place.path + "/LOCK"))
    let ran = Counter()
    await #expect(throws: DaybookError.self) { try await store.write { _ in ran.add() } }
    #expect(ran.count == 0)
    #expect(await refusal(store, "no") == .suspended)
    let changes = disk.changeCount
    let status = await store.sync()
    #expect(status.storage == .suspended)
    #expect(status.unsettledCount == 1)
    #expect(store.collection(Sale.self).query().map(\.id) == ["1"])
    #expect(disk.changeCount == changes)
    try await store.resume()
    try await store.resume()
    #expect(await store.status.storage == nil)
    try await insert(store, "2")
    #expect(await store.sync().unsettledCount == 0)
    // A suspended store can be closed.
    try await store.suspend()
    try await store.close()
    await #expect(throws: DaybookError.self) { try await store.resume() }
    let again = try await open(disk)
    #expect(again.collection(Sale.self).query().map(\.id) == ["1", "2"])
    #expect(await again.status.damage == nil)
    try await again.close()
    try await server.server.stop()
  }

  @Test func `a push under way is given up by a suspension and takes effect once`() async throws {
    let server = try await TestServer()
    let disk = SimulatedDisk(seed: 1)
    let transport = try server.hooked()
    let (reached, gaveUp) = (Gate(), Gate())
    let pushes = Counter()
    transport.setHook { request in
      guard request.method == "POST", pushes.add() == 1 else { return .forward }
      reached.open()
      await withTaskCancellationHandler {
        await gaveUp.wait()
      } onCancel: {
        gaveUp.open()
      }
      return .loseAnswer
    }
    let store = try await open(
      disk, .transport(transport), sync: .automatic(pullEverySeconds: 600))
    let receipt = try await store.write { tx in
      try tx.insert(Sale(id: "1", shop: "1", quantity: 1))
    }
    await reached.wait()
    try await store.suspend()
    #expect(!disk.isLocked(Self.place.path + "/LOCK"))
    let seen = transport.seen.count
    for _ in 0..<1_000 { await Task.yield() }
    #expect(transport.seen.count == seen)
    try await store.resume()
    guard case .accepted = await receipt.settlement else {
      Issue.record("not accepted")
      return
    }
    #expect(pushes.count == 2)
    try await store.close()
    let office = try await server.device("office")
    _ = await office.sync()
    #expect(office.collection(Sale.self).query().map(\.id) == ["1"])
    try await office.close()
    try await server.server.stop()
  }

  @Test func `a store can't be resumed once another one has written`() async throws {
    let disk = SimulatedDisk(seed: 1)
    let store = try await open(disk)
    try await insert(store, "1")
    try await store.suspend()
    let other = try await open(disk)
    #expect(await code { try await store.resume() } == .locked)
    #expect(await store.status.storage == .suspended)
    try await insert(other, "2")
    try await other.close()
    #expect(await code { try await store.resume() } == .writtenByOther)
    #expect(await refusal(store, "3") == .suspended)
    #expect(store.collection(Sale.self).query().map(\.id) == ["1"])
    try await store.close()
    let again = try await open(disk)
    #expect(again.collection(Sale.self).query().map(\.id) == ["1", "2"])
    try await again.close()
  }

  private func code(_ body: () async throws -> Void) async -> DaybookError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? DaybookError)?.code
    }
  }

  @Test func `suspensions and resumptions take effect in the order of the calls`() async throws {
    let disk = SimulatedDisk(seed: 1)
    let store = try await open(disk)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<20 {
        group.addTask {
          try? await index % 2 == 0 ? store.suspend() : store.resume()
        }
        group.addTask { _ = await refusal(store, "\(index)") }
      }
    }
    try await store.resume()
    try await insert(store, "last")
    let shown = store.collection(Sale.self).query().map(\.id)
    try await store.close()
    let again = try await open(disk)
    #expect(again.collection(Sale.self).query().map(\.id) == shown)
    try await again.close()
  }
}
