import DaybookFormat
import DaybookLog
import DaybookServerCore
import DaybookSync
import DaybookTestKit
import Synchronization
import Testing

/// The stores that behave the same.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, embedded

  var testDescription: String { rawValue }
}

/// A store of a kind, and a server on it, which can be stopped and started.
final class StoreHarness {
  let kind: StoreKind
  private let directory: TemporaryDirectory
  private(set) var store: AnyStore
  var time = Sample.time

  init(_ kind: StoreKind) async throws {
    self.kind = kind
    directory = try TemporaryDirectory()
    store = try await Self.open(kind, directory)
  }

  var engine: ServerEngine<AnyStore> {
    let time = time
    return ServerEngine(store: store, schema: Sample.schema) { time }
  }

  var history: HistoryIdentity { store.history }

  /// Stops the store in order, and starts it anew on what is on the disk; memory goes on.
  func restart() async throws {
    if kind == .memory { return }
    try await close()
    store = try await Self.open(kind, directory)
  }

  func close() async throws { try await store.close() }

  /// Registers a device, as its first pull does.
  func register(_ device: Device) async throws { _ = try await engine.changes(device.pull()) }

  @discardableResult
  func push(_ device: Device, _ operations: [Operation]) async throws -> [PushResult] {
    try await engine.push(device.push(operations, to: history)).results
  }

  private static func open(
    _ kind: StoreKind, _ directory: TemporaryDirectory
  ) async throws -> AnyStore {
    switch kind {
    case .memory:
      return AnyStore(store: MemoryStore(history: Sample.history)) {}
    case .embedded:
      let store = try await EmbeddedStore.open(directory.path("data"), .test())
      return AnyStore(store: store) { try await store.close() }
    }
  }
}

extension EmbeddedStore.Options {
  /// A disk, and numbers from `seed` on.
  static func test(
    fileSystem: any FileSystem = SystemFileSystem(), seed: UInt64 = 1
  ) -> Self {
    let numbers = Numbers(seed)
    return Self(fileSystem: fileSystem, random: { numbers.next() }, now: { Sample.time })
  }

  private final class Numbers: Sendable {
    private let state: Mutex<SplitMix64>
    init(_ seed: UInt64) { state = Mutex(SplitMix64(seed: seed)) }
    func next() -> UInt64 { state.withLock { $0.next() } }
  }
}

/// Any store, for an engine that is generic over one.
struct AnyStore: ServerStore {
  let store: any ServerStore
  let close: @Sendable () async throws -> Void

  init(store: any ServerStore, close: @escaping @Sendable () async throws -> Void) {
    self.store = store
    self.close = close
  }

  var history: HistoryIdentity { store.history }

  func write<Result: Sendable>(
    _ body: (inout any ServerTransaction) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try await store.write(body)
  }

  func read<Result: Sendable>(
    _ body: (any ServerReader) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try await store.read(body)
  }

  /// All that a reader can see, for comparison.
  func snapshot() async throws -> Snapshot {
    try await read { (reader: any ServerReader) throws(ServerProblem) in
      var snapshot = Snapshot()
      for scope in reader.scopes {
        let changes = Array(reader.changes(of: scope, after: 0, limit: .max))
        snapshot.scopes[scope] = Snapshot.Scope(
          head: reader.head(of: scope), changes: changes,
          rows: reader.rows(of: scope, after: nil, limit: .max))
        for change in changes {
          snapshot.records[change.record] = reader.record(change.record)?.row
          snapshot.verdicts[change.operationID] = reader.verdict(of: change.operationID)
        }
      }
      return snapshot
    }
  }
}

/// What a store holds.
struct Snapshot: Equatable, Sendable {
  struct Scope: Equatable, Sendable {
    var head: ScopeHead
    var changes: [Change]
    var rows: [Change]
  }

  var scopes: [String: Scope] = [:]
  var records: [RecordKey: ValueMap] = [:]
  var verdicts: [Identifier: VerdictRow] = [:]
}
