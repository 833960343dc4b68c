import Daybook
import DaybookFormat
import DaybookLog
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// What is durable is shown, and nothing else.
@Suite(.timeLimit(.minutes(2))) struct DurabilityTests {
  typealias Sale = TestShop.Sale

  func open(_ folder: PassingFolder, _ disk: any FileSystem) async throws -> Daybook {
    var options = DaybookOptions()
    options.fileSystem = disk
    return try await Daybook.open(
      at: folder.place("log"), account: "rep-7", schema: TestShop.schema, options: options)
  }

  @Test func `nothing shows before the disk has it`() async throws {
    let folder = try PassingFolder()
    let disk = HookedDisk()
    let store = try await open(folder, disk)
    let sales = store.collection(Sale.self)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    var updates = sales.observe().makeAsyncIterator()
    #expect(await updates.next()?.count == 1)
    let syncs = Counter()
    let (first, second) = (Gate(), Gate())
    let mayGoOn = DispatchSemaphore(value: 0)
    disk.setHook { path in
      guard path.contains("/outbox/") else { return }
      (syncs.add() == 1 ? first : second).open()
      mayGoOn.wait()
    }
    let held = Task {
      try await store.write { tx in try tx.insert(Sale(id: "2", shop: "1", quantity: 1)) }
    }
    await first.wait()
    #expect(sales.query().map(\.id) == ["1"])
    #expect(try sales.get("2") == nil)
    #expect(await store.status.unsettledCount == 1)
    // Two more in one group: one fails because of the other, and is not told so before the disk
    // has what it saw.
    let (started, ran, told) = (Counter(), Counter(), Counter())
    let rivals = (0..<2).map { quantity in
      Task {
        defer { told.add() }
        started.add()
        try await store.write { tx in
          ran.add()
          try tx.insert(Sale(id: "3", shop: "1", quantity: quantity))
        }
      }
    }
    while started.count < 2 { await Task.yield() }
    for _ in 0..<1_000 { await Task.yield() }
    mayGoOn.signal()
    await second.wait()
    _ = try await held.value
    #expect(sales.query().map(\.id) == ["1", "2"])
    #expect(await updates.next()?.count == 2)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(ran.count == 2 && told.count == 0)
    disk.setHook(nil)
    mayGoOn.signal()
    var failures = 0
    for rival in rivals {
      do { try await rival.value } catch { failures += 1 }
    }
    #expect(failures == 1)
    #expect(await updates.next()?.count == 3)
    try await store.close()
  }

  @Test func `a sync that fails takes its writes with it, and the next write works`()
    async throws
  {
    let folder = try PassingFolder()
    let disk = HookedDisk()
    let store = try await open(folder, disk)
    let sales = store.collection(Sale.self)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    disk.setHook { path throws(FileError) in
      if path.contains("/outbox/00000001") { throw FileError(.other(5), .sync, path) }
    }
    let failure = await #expect(throws: DaybookError.self) {
      try await store.write { tx in
        try tx.insert(Sale(id: "2", shop: "1", quantity: 1))
        try tx.insert(Sale(id: "3", shop: "1", quantity: 1))
      }
    }
    #expect(failure?.code == .notWritten)
    #expect(failure?.operationIDs.count == 2)
    #expect(sales.query().map(\.id) == ["1"])
    disk.setHook(nil)
    try await store.write { tx in try tx.insert(Sale(id: "2", shop: "1", quantity: 7)) }
    #expect(sales.query().map(\.quantity) == [1, 7])
    #expect(store.withState { $0.unsettled.map(\.operation.number) } == [1, 2])
    try await store.close()
    let again = try await open(folder, SystemFileSystem())
    #expect(again.collection(Sale.self).query().map(\.quantity) == [1, 7])
    #expect(again.withState { $0.unsettled.map(\.operation.number) } == [1, 2])
    #expect(await again.status.damage == nil)
    try await again.close()
  }

  @Test func `a disk that fails altogether leaves the outcome open, and the next write works`()
    async throws
  {
    let folder = try PassingFolder()
    let disk = HookedDisk()
    let store = try await open(folder, disk)
    try await store.write { tx in try tx.insert(Sale(id: "1", shop: "1", quantity: 1)) }
    disk.setHook { path throws(FileError) in throw FileError(.other(5), .sync, path) }
    let failure = await #expect(throws: DaybookError.self) {
      try await store.write { tx in try tx.insert(Sale(id: "2", shop: "1", quantity: 1)) }
    }
    #expect(failure?.code == .outcomeUnknown)
    #expect(failure?.operationIDs.count == 1)
    let second = await #expect(throws: DaybookError.self) {
      try await store.write { tx in try tx.insert(Sale(id: "3", shop: "1", quantity: 1)) }
    }
    #expect(second?.code == .notWritten || second?.code == .outcomeUnknown)
    #expect(store.collection(Sale.self).count() == 1)
    disk.setHook(nil)
    try await store.write { tx in try tx.insert(Sale(id: "4", shop: "1", quantity: 1)) }
    #expect(store.collection(Sale.self).query().map(\.id) == ["1", "4"])
    try await store.close()
    let again = try await open(folder, SystemFileSystem())
    #expect(again.collection(Sale.self).query().map(\.id) == ["1", "4"])
    try await again.close()
  }

  @Test func `each writer of a failed group is told its own operations`() async throws {
    let folder = try PassingFolder()
    let disk = HookedDisk()
    let store = try await open(folder, disk)
    try await store.write { tx in try tx.insert(Sale(id: "0", shop: "1", quantity: 1)) }
    let reached = Gate()
    let mayGoOn = DispatchSemaphore(value: 0)
    disk.setHook { path throws(FileError) in
      guard path.contains("/outbox/00000001") else { return }
      reached.open()
      mayGoOn.wait()
      throw FileError(.other(5), .sync, path)
    }
    let names = Collected<Identifier>()
    await withTaskGroup(of: Void.self) { group in
      for index in 1...8 {
        group.addTask {
          do {
            try await store.write { tx in
              for part in 0..<index {
                try tx.insert(Sale(id: "\(index)-\(part)", shop: "1", quantity: 1))
              }
            }
          } catch {
            let failure = error as? DaybookError
            #expect(failure?.code == .notWritten)
            #expect(failure?.operationIDs.count == index)
            names.add(failure?.operationIDs ?? [])
          }
        }
      }
      await reached.wait()
      for _ in 1...8 { mayGoOn.signal() }
    }
    let all = names.all
    #expect(Set(all).count == all.count)
    #expect(store.collection(Sale.self).count() + all.count == 37)
    try await store.close()
  }

  @Test func `writes that wait together share a sync`() async throws {
    let folder = try PassingFolder()
    let disk = HookedDisk()
    let store = try await open(folder, disk)
    try await store.write { tx in try tx.insert(Sale(id: "first", shop: "1", quantity: 1)) }
    let before = disk.syncCount
    let reached = Gate()
    let mayGoOn = DispatchSemaphore(value: 0)
    disk.setHook { path in
      guard path.contains("/outbox/") else { return }
      disk.setHook(nil)
      reached.open()
      mayGoOn.wait()
    }
    let started = Counter()
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await store.write { tx in try tx.insert(Sale(id: "held", shop: "1", quantity: 1)) }
      }
      await reached.wait()
      for index in 0..<63 {
        group.addTask {
          started.add()
          try await store.write { tx in
            try tx.insert(Sale(id: "\(index)", shop: "1", quantity: 1))
          }
        }
      }
      while started.count < 63 { await Task.yield() }
      mayGoOn.signal()
    }
    #expect(store.collection(Sale.self).count() == 65)
    let syncs = disk.syncCount - before
    #expect(syncs < 32, "\(syncs) syncs for 64 writes")
    try await store.close()
  }

  @Test func `readers that never pause do not keep a writer out`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder, SystemFileSystem())
    try await store.write { tx in
      for index in 0..<200 { try tx.insert(Sale(id: "\(index)", shop: "1", quantity: 1)) }
    }
    let over = Counter()
    let sales = store.collection(Sale.self)
    let clock = ContinuousClock()
    // Far more than three writes take, whatever else the machine does.
    let deadline = clock.now + .seconds(60)
    for _ in 0..<3 {
      Thread.detachNewThread {
        while over.count == 0, clock.now < deadline {
          _ = sales.count(where: .equals("note", "x"))
        }
      }
    }
    for index in 0..<3 {
      try await store.write { tx in try tx.update(Sale.self, "\(index)") { $0.quantity = 2 } }
    }
    #expect(clock.now < deadline, "the writer waited until the readers had enough")
    over.add()
    #expect(sales.query(where: .equals("quantity", 2)).count == 3)
    try await store.close()
  }

  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `what was shown before a power cut is there after it`(crash: SimulatedDisk.Crash)
    async throws
  {
    let disk = SimulatedDisk(seed: 5)
    var options = DaybookOptions()
    options.fileSystem = disk
    let place = URL(fileURLWithPath: SimulatedDisk.root + "/log")
    let store = try await Daybook.open(
      at: place, account: "rep-7", schema: TestShop.schema, options: options)
    for index in 0..<5 {
      try await store.write { tx in
        try tx.insert(Sale(id: "\(index)", shop: "1", quantity: index))
        if index > 0 { try tx.update(Sale.self, "\(index - 1)") { $0.note = "old" } }
      }
    }
    let shown = store.collection(Sale.self).query()
    for seed in 0..<8 as Range<UInt64> {
      options.fileSystem = disk.crashed(crash, seed: seed)
      let again = try await Daybook.open(
        at: place, account: "rep-7", schema: TestShop.schema, options: options)
      #expect(again.collection(Sale.self).query() == shown, "seed \(seed)")
      #expect(await again.status.damage == nil, "seed \(seed)")
      try await again.close()
    }
    try await store.close()
  }
}
