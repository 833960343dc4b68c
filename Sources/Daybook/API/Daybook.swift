public import DaybookFormat
import DaybookLog
import DaybookNet
import DaybookSync
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A log directory, open: reads, writes, and sync with the server.
///
///     let store = try await Daybook.open(
///       at: url, account: "rep-7", schema: schema, server: .http(base))
///     let orders = store.collection(Order.self)
///     let receipt = try await store.write { tx in try tx.insert(order) }
///
/// What a read, an observer or a receipt has shown survives a power cut. One store at a time has a
/// directory open. Source: `Docs/Sync.md`, section "The client".
public final class Daybook: Sendable {
  /// The account whose operations the log holds.
  public let account: String
  /// The schema that writes are checked against.
  public let schema: Schema
  let journal: Journal
  let receipts: Receipts
  let maker: OperationMaker
  let driver: SyncDriver?
  /// What was damaged when the log was opened, and what was done about it; `nil` if it was whole.
  public let damage: DamageReport?
  let upkeep: UpkeepThread
  private let shared = Mutex(Shared())

  private struct Shared {
    var unreadable: Set<RecordKey> = []
    /// What ends each observer, by the number of its listener.
    var observers: [Int: @Sendable () -> Void] = [:]
    var automatic: Task<Void, Never>?
    var isClosed = false
    var haveObserversEnded = false
    /// The last suspension or resumption, which the next one waits for.
    var transition: Task<Void, any Error>?
  }

  /// Opens the log at `url`, and makes it if there is none. The whole log is replayed into memory.
  ///
  /// With a server the store syncs by itself, unless the options say otherwise. A damaged log opens
  /// and goes on: look at ``damage``, which says whether anything is lost.
  /// - Parameters:
  ///   - url: a directory of its own; it is made, its parent is not.
  ///   - account: whose operations are made here, 1 to 128 bytes. Another account has another log.
  ///   - schema: checked against what is written, never against what is stored.
  ///   - server: where to sync; without one everything waits in the outbox.
  ///   - options: when to sync, how to retry.
  /// - Throws: ``DaybookError``: `locked`, `notALog`, `newerFormat`, `otherAccount`,
  ///   `notPermitted`, `diskFull`, `inputOutput`, `damaged` if strict, `invalidAddress`.
  public static func open(
    at url: URL, account: String, schema: Schema, server: ServerAddress = .none,
    options: DaybookOptions = DaybookOptions()
  ) async throws(DaybookError) -> Daybook {
    guard (1...128).contains(account.utf8.count) else {
      throw DaybookError(.schema, "An account's name must be 1 to 128 bytes long.")
    }
    // Opening blocks, so it has a thread of its own.
    let opened = try await ClientLog.Opened.onThread { () throws(DaybookError) in
      try ClientLog.open(
        directory: url.path, account: account, schema: schema, options: options)
    }
    do throws(DaybookError) {
      return Daybook(
        opened: opened, account: account, transport: try server.makeTransport(),
        credentials: server.credentials, options: options)
    } catch {
      await opened.upkeep.stop()
      try? opened.log.close()
      throw error
    }
  }

  private init(
    opened: ClientLog.Opened, account: String, transport: (any Transport)?,
    credentials: any Credentials, options: DaybookOptions
  ) {
    let incarnation = opened.state.incarnation
    let device = options.device ?? "device-\(incarnation.description.prefix(8))"
    self.account = account
    schema = opened.state.schema
    damage = opened.damage
    upkeep = opened.upkeep
    let state = SharedState(opened.state)
    let receipts = Receipts(state: state)
    let journal = Journal(log: opened.log, state: state)
    _ = journal.addListener { _, entries in receipts.take(entries) }
    self.journal = journal
    self.receipts = receipts
    maker = OperationMaker(
      incarnation: incarnation, account: account, device: device,
      environment: options.environment)
    guard let transport, opened.damage?.isReadOnly != true, opened.log.refusal == nil else {
      driver = nil
      return
    }
    let driver = SyncDriver(
      journal: journal, environment: options.environment,
      connection: ServerConnection(
        transport: transport, credentials: credentials, account: account, device: device,
        incarnation: incarnation), options: options)
    self.driver = driver
    guard case .automatic(let seconds) = options.sync else { return }
    let environment = options.environment
    let task = Task {
      while !Task.isCancelled {
        await driver.wakePull(isUrgent: false)
        await driver.wakePush(isUrgent: false)
        let next = environment.now().milliseconds + Int64(max(1, seconds)) * 1_000
        do { try await environment.sleep(Timestamp(milliseconds: next)) } catch { return }
      }
    }
    _ = journal.addListener { _, entries in
      let isWritten = entries.contains { if case .operation = $0 { true } else { false } }
      if isWritten { Task { await driver.wakePush(isUrgent: false) } }
    }
    shared.withLock { $0.automatic = task }
  }

  deinit {
    // A store that is dropped without `close` lets go of its log all the same.
    shared.withLock { $0.automatic }?.cancel()
    if let driver { Task { await driver.stop() } }
    upkeep.stop { [journal, receipts] in
      journal.enqueue(.close(done: { [receipts] _ in receipts.end() }))
    }
  }

  // MARK: - Reading and writing

  /// The records of one collection.
  public func collection<R: Record>(_ type: R.Type) -> Collection<R> { Collection(store: self) }

  /// Runs `body` and stores what it did: all of it, or nothing if it throws.
  ///
  /// Bodies run one at a time on a thread of the store's own, never twice; each sees what those
  /// before it did. On return the write survives a power cut and is visible to every reader. It is
  /// sent when there is a network.
  /// - Throws: what `body` throws; ``DaybookError``: `notWritten` or `outcomeUnknown` with the ids
  ///   of the operations, `tooLarge`, `diskFull`, `damaged`, `closed`.
  @discardableResult
  public func write(
    strategy: Strategy = .lazy,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) async throws -> Receipt {
    let receipt = try await follow { [account, maker] staged, state in
      var transaction = WriteTransaction(account: account, state: state, staged: staged)
      try body(&transaction)
      let operations = try maker.make(transaction, strategy: strategy, staged: &staged)
      return operations.map(Entry.operation)
    }
    if strategy == .online { await driver?.wakePush(isUrgent: true) }
    return receipt
  }

  /// Writes what `body` makes, and follows its operations from before they are durable.
  func follow(_ body: @escaping Journal.Body) async throws -> Receipt {
    let made = Mutex<[Identifier]>([])
    do {
      try await journal.write { [receipts] staged, state in
        let entries = try body(&staged, state)
        let ids = entries.compactMap { entry in
          if case .operation(let operation) = entry { operation.id } else { nil }
        }
        made.withLock { $0 = ids }
        receipts.follow(ids)
        return entries
      }
    } catch {
      if let first = made.withLock({ $0.first }) { receipts.forget(first) }
      throw error
    }
    return Receipt(operationIDs: made.withLock { $0 }, receipts: receipts)
  }

  /// Performs a named action of the schema on one record.
  @discardableResult
  public func perform<R: Record>(
    _ action: String, on id: R.ID, of type: R.Type, fields: ValueMap = [:],
    strategy: Strategy = .lazy
  ) async throws -> Receipt {
    let key = RecordKey(R.collection, id.recordID)
    return try await write(strategy: strategy) { transaction in
      try transaction.perform(action, on: key, fields: fields)
    }
  }

  /// Runs `body` once all that were handed over before it are done.
  func inTurn(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = shared.withLock { shared in
      let before = shared.transition
      let task = Task {
        _ = await before?.result
        try await body()
      }
      shared.transition = task
      return task
    }
    try await task.value
  }

  // MARK: - Closing

  /// Stops sync, finishes the writes that wait, marks the log as closed and lets go of it.
  ///
  /// Observers get what the last writes did, then end; waits for a verdict end without one.
  /// Closing twice does nothing.
  public func close() async throws {
    let (isFirst, automatic) = shared.withLock { shared in
      defer { shared.isClosed = true }
      return (!shared.isClosed, shared.automatic)
    }
    guard isFirst else { return }
    automatic?.cancel()
    await driver?.stop()
    await upkeep.stop()
    defer {
      receipts.end()
      let observers = shared.withLock { shared in
        defer { shared.observers = [:] }
        shared.haveObserversEnded = true
        return shared.observers.values
      }
      for end in observers { end() }
    }
    try await journal.close()
  }

  /// Runs `end` when the store is closed, or at once if it is.
  func addObserver(_ listener: Int, end: @escaping @Sendable () -> Void) {
    let hasEnded = shared.withLock { shared in
      if !shared.haveObserversEnded { shared.observers[listener] = end }
      return shared.haveObserversEnded
    }
    if hasEnded { end() }
  }

  /// How many observers the store keeps an eye on, for tests.
  package var observerCount: Int { shared.withLock { $0.observers.count } }

  /// Forgets the observer whose listener has this number.
  func removeObserver(_ listener: Int) {
    journal.removeListener(listener)
    shared.withLock { _ = $0.observers.removeValue(forKey: listener) }
  }

  /// Counts rows that the app's types can't read, and forgets those that they can read by now.
  func note(unreadable keys: Set<RecordKey>, readable: () -> [RecordKey]) {
    shared.withLock { shared in
      if !shared.unreadable.isEmpty { shared.unreadable.subtract(readable()) }
      shared.unreadable.formUnion(keys)
    }
  }

  /// How many rows queries have met that the app's types can't read.
  var unreadableCount: Int { shared.withLock { $0.unreadable.count } }
}
