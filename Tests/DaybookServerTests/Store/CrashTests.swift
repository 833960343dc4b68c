import DaybookFormat
import DaybookLog
import DaybookServerCore
import DaybookTestKit
import Testing

/// A server on a disk that fails at one call and then loses its power, at every call there is.
@Suite struct CrashTests {
  /// What becomes of the call, and of all after it.
  enum Trouble: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case stop, diskFull, shortWrite, failedSync

    var testDescription: String { rawValue }

    /// What the power cut may leave; all of it where nothing else went wrong before.
    var crashes: [SimulatedDisk.Crash] {
      self == .stop ? SimulatedDisk.Crash.allCases : [.killed, .dropped, .tornSectors]
    }

    func fault(at call: Int) -> SimulatedDisk.Fault {
      switch self {
      case .stop: .stop(at: call)
      case .diskFull: .fail(at: call, .diskFull)
      case .shortWrite: .shortWrite(at: call)
      case .failedSync: .failedSync(at: call)
      }
    }
  }

  private static let path = SimulatedDisk.root + "/server"
  private static let batchCount = 3

  /// Batches of two orders in one transaction and one alone; the same each time. Their photos make
  /// a batch more than the log puts into one frame if it may choose, and compress to less than a
  /// sector, so that a tear between two frames is likely.
  private static func batches() -> (device: Device, batches: [[DaybookFormat.Operation]]) {
    var device = Device()
    let photo = Value.bytes([UInt8](repeating: 7, count: 24_000))
    let batches = (0..<batchCount).map { place in
      let members = (0..<2).map { index in
        device.operation(
          .create, "\(place)-\(index)",
          [
            "rep": .text("rep-7"), "status": .text("open"), "quantity": .int(1), "photo": photo,
          ],
          transaction: Operation.Membership(
            id: Identifier(high: 9, low: UInt64(place) + 1), index: UInt16(index), count: 2))
      }
      let alone = device.operation(
        .create, "\(place)-alone",
        ["rep": .text("rep-7"), "status": .text("open"), "quantity": .int(1), "photo": photo])
      return members + [alone]
    }
    return (device, batches)
  }

  private static func options(_ disk: SimulatedDisk) -> EmbeddedStore.Options {
    var options = EmbeddedStore.Options.test(fileSystem: disk)
    // The marks would come by the clock, and calls with them.
    options.idleMarkDelay = nil
    return options
  }

  /// Pushes batch after batch until the disk fails; the answers that arrived.
  private static func work(on disk: SimulatedDisk) async throws -> [[PushResult]] {
    guard let store = try? await EmbeddedStore.open(path, options(disk)) else { return [] }
    let engine = ServerEngine(store: store, schema: Sample.schema) { Sample.time }
    let (device, batches) = batches()
    var answered: [[PushResult]] = []
    if (try? await engine.changes(device.pull())) != nil {
      for batch in batches {
        guard let reply = try? await engine.push(device.push(batch, to: store.history)) else {
          break
        }
        answered.append(reply.results)
      }
    }
    try? await store.close()
    return answered
  }

  /// What was answered is there, what was not is there whole or not at all, and pushing everything
  /// again brings each order once.
  private static func check(
    _ disk: SimulatedDisk, answered: [[PushResult]], _ place: Comment
  ) async throws {
    let (device, batches) = batches()
    let store = try await EmbeddedStore.open(path, options(disk))
    for (index, batch) in batches.enumerated() {
      let kept = try await store.read { (reader) throws(ServerProblem) in
        batch.compactMap { operation in
          reader.verdict(of: operation.id).map {
            PushResult(operationID: operation.id, outcome: .settled($0.settlement))
          }
        }
      }
      if index < answered.count {
        #expect(kept == answered[index], place)
      } else {
        #expect(kept.isEmpty || kept.count == batch.count, place)
      }
    }
    let engine = ServerEngine(store: store, schema: Sample.schema) { Sample.time }
    _ = try await engine.changes(device.pull())
    for batch in batches {
      let reply = try await engine.push(device.push(batch, to: store.history))
      #expect(reply.results.map(\.status) == [200, 200, 200], place)
    }
    let before = try await AnyStore(store: store) {}.snapshot()
    #expect(before.scopes["rep/rep-7"]?.rows.count == 3 * batchCount, place)
    #expect(before.scopes["rep/rep-7"]?.head.sequence == UInt64(3 * batchCount), place)
    try await store.close()
    let again = try await EmbeddedStore.open(path, options(disk))
    #expect(try await AnyStore(store: again) {}.snapshot() == before, place)
    try await again.close()
  }

  @Test(arguments: Trouble.allCases)
  func `after any call that fails and any power cut all answers hold`(
    trouble: Trouble
  ) async throws {
    let whole = SimulatedDisk()
    #expect(try await Self.work(on: whole).count == Self.batchCount)
    let callCount = whole.callCount
    #expect(callCount > 30)
    for call in 1...callCount {
      let disk = SimulatedDisk(seed: UInt64(call), fault: trouble.fault(at: call))
      let answered = try await Self.work(on: disk)
      for mode in trouble.crashes {
        let crashed = disk.crashed(mode, seed: UInt64(call))
        try await Self.check(crashed, answered: answered, "\(trouble) at call \(call), \(mode)")
      }
    }
  }
}
