import DaybookTestKit
import DaybookFormat
import DaybookLog
import DaybookServerCore
import DaybookSync
import Testing

/// What the embedded store waits for, and what it does when its disk fails; the log is held by the
/// test.
@Suite struct EmbeddedStoreTests {
  private func write(_ store: EmbeddedStore, _ device: Device) async throws {
    let row = IncarnationRow(
      incarnation: device.incarnation, account: device.account, device: device.name, watermark: 1,
      lastContact: Sample.time)
    try await store.write { (transaction: inout any ServerTransaction) throws(ServerProblem) in
      transaction.put(row)
    }
  }

  /// Starts `work` and gives its signal back once `hasBegun` has happened.
  private func begin(
    _ hasBegun: Gate, _ work: @escaping @Sendable () async throws -> Void
  ) async -> (task: Task<Void, any Error>, ended: Gate) {
    let ended = Gate()
    let task = Task {
      defer { ended.open() }
      try await work()
    }
    await hasBegun.wait()
    await letOthersRun()
    return (task, ended)
  }

  @Test func `a transaction is one frame and answered when that is durable`() async throws {
    let service = try Service()
    let store = service.engine.store
    service.log.hold()
    let appended = Gate()
    let writer = await begin(appended) {
      try await store.write { (transaction: inout any ServerTransaction) throws(ServerProblem) in
        for seed in 1...3 {
          let device = Device(seed: UInt64(seed))
          transaction.put(
            IncarnationRow(
              incarnation: device.incarnation, account: device.account, device: device.name,
              watermark: 1, lastContact: Sample.time))
        }
        appended.open()
      }
    }
    #expect(!writer.ended.isOpen)
    #expect(service.log.frames.map(\.count) == [3])
    service.log.release()
    try await writer.task.value
  }

  @Test func `a reader waits for what it has seen`() async throws {
    let service = try Service()
    let store = service.engine.store
    let device = Device()
    service.log.hold()
    async let written: Void = write(store, device)
    while service.log.waitingCount == 0 { await Task.yield() }
    let hasRead = Gate()
    let reader = await begin(hasRead) {
      let row = try await store.read { (reader: any ServerReader) throws(ServerProblem) in
        hasRead.open()
        return reader.incarnation(device.incarnation)
      }
      #expect(row != nil)
    }
    #expect(!reader.ended.isOpen)
    service.log.release()
    try await reader.task.value
    try await written
  }

  @Test func `a transaction that writes nothing waits for what it has read`() async throws {
    let service = try Service()
    let store = service.engine.store
    service.log.hold()
    async let written: Void = write(store, Device())
    while service.log.waitingCount == 0 { await Task.yield() }
    let hasRun = Gate()
    let repeated = await begin(hasRun) {
      try await store.write { (_: inout any ServerTransaction) throws(ServerProblem) in
        hasRun.open()
      }
    }
    let hasThrown = Gate()
    let refused = await begin(hasThrown) {
      try await store.write { (_: inout any ServerTransaction) throws(ServerProblem) in
        hasThrown.open()
        throw ServerProblem(.oldCopy, "No.")
      }
    }
    #expect(!repeated.ended.isOpen)
    #expect(!refused.ended.isOpen)
    #expect(service.log.frames.count == 1)
    service.log.release()
    try await repeated.task.value
    await #expect(throws: ServerProblem(.oldCopy, "No.")) { try await refused.task.value }
    try await written
  }

  @Test func `a transaction that throws has written nothing`() async throws {
    let service = try Service()
    let store = service.engine.store
    let device = Device()
    await #expect(throws: ServerProblem.self) {
      try await store.write { (transaction: inout any ServerTransaction) throws(ServerProblem) in
        transaction.put(
          IncarnationRow(
            incarnation: device.incarnation, account: "a", device: "b", watermark: 1,
            lastContact: Sample.time))
        throw ServerProblem(.malformed, "No.")
      }
    }
    #expect(service.log.frames.isEmpty)
    let row = try await store.read { (reader: any ServerReader) throws(ServerProblem) in
      reader.incarnation(device.incarnation)
    }
    #expect(row == nil)
  }

  @Test func `a failed append ends every answer, waiting and later ones`() async throws {
    let service = try Service()
    let store = service.engine.store
    service.log.hold()
    let first = Task { try await write(store, Device(seed: 1)) }
    let second = Task { try await write(store, Device(seed: 2)) }
    while service.log.waitingCount < 2 { await Task.yield() }
    service.log.release(failure: .log(.diskFull(path: "changes")))
    await #expect(throws: ServerProblem.self) { try await first.value }
    await #expect(throws: ServerProblem.self) { try await second.value }
    #expect(store.failure == .log(.diskFull(path: "changes")))

    let frames = service.log.frames.count
    await #expect(throws: ServerProblem.self) { try await write(store, Device(seed: 3)) }
    await #expect(throws: ServerProblem.self) {
      try await store.read { (reader: any ServerReader) throws(ServerProblem) in
        Issue.record("a failed store was read")
      }
    }
    #expect(service.log.frames.count == frames)
  }

  @Test func `a change that does not follow fails the store and never reaches the log`()
    async throws
  {
    let service = try Service()
    let store = service.engine.store
    let change = Change(
      operationID: .zero, sequence: 7, version: Version(number: 1, mark: 0), seen: 0,
      deviceClock: HybridTime(Sample.time), serverTime: Sample.time, action: .delete,
      extent: .removal, scope: "a", record: RecordKey("orders", "a"), account: "a", device: "a")
    await #expect(throws: ServerProblem.self) {
      try await store.write { (transaction: inout any ServerTransaction) throws(ServerProblem) in
        transaction.append(
          change,
          record: CurrentRecord(
            row: nil, version: change.version, scope: "a", lastWrite: change.deviceClock),
          hash: [])
      }
    }
    #expect(store.failure == .discontinuous(scope: "a", sequence: 7))
    #expect(service.log.frames.isEmpty)
  }

  @Test func `closing lets go of the log once and ends every later call`() async throws {
    let service = try Service()
    let store = service.engine.store
    try await write(store, Device())
    try await store.close()
    try await store.close()
    #expect(service.log.isClosed)
    await #expect(throws: ServerProblem.self) { try await write(store, Device()) }
    #expect(service.log.frames.count == 1)
  }
}
