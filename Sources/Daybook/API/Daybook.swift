public import DaybookFormat
import DaybookLog
import DaybookNet
package import DaybookSync
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
  private let maker: OperationMaker
  private let driver: SyncDriver?
  private let damage: DamageSummary?
  private let shared = Mutex(Shared())

  private struct Shared {
    var unreadable: Set<RecordKey> = []
    var closers: [@Sendable () -> Void] = []
    var automatic: Task<Void, Never>?
    var isClosed = false
  }

  /// Opens the log at `url`, and makes it if there is none. The whole log is replayed into memory.
  ///
  /// With a server the store syncs by itself, unless the options say otherwise. A damaged log opens
  /// for reading: see ``Status/damage``.
  /// - Parameters:
  ///   - url: a directory of its own; it is made, its parent is not.
  ///   - account: whose operations are made here, 1 to 128 bytes. Another account has another log.
  ///   - schema: checked against what is written, never against what is stored.
  ///   - server: where to sync; without one everything waits in the outbox.
  ///   - options: when to sync, how to retry.
  /// - Throws: ``DaybookError``: `locked`, `notALog`, `newerFormat`, `otherAccount`,
  ///   `notPermitted`, `diskFull`, `inputOutput`, `damaged` if strict, `invalidAddress`.
  @concurrent
  public static func open(
    at url: URL, account: String, schema: Schema, server: ServerAddress = .none,
    options: DaybookOptions = DaybookOptions()
  ) async throws(DaybookError) -> Daybook {
    guard (1...128).contains(account.utf8.count) else {
      throw DaybookError(.schema, "An account's name must be 1 to 128 bytes long.")
    }
    let opened = try ClientLog.open(
      directory: url.path, account: account, schema: schema, options: options)
    do throws(DaybookError) {
      return Daybook(
        opened: opened, account: account, transport: try server.makeTransport(),
        credentials: server.credentials, options: options)
    } catch {
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
    let state = SharedState(opened.state)
    let receipts = Receipts(state: state)
    let journal = Journal(log: opened.log, state: state)
    _ = journal.addListener { _, entries in receipts.take(entries) }
    self.journal = journal
    self.receipts = receipts
    maker = OperationMaker(
      incarnation: incarnation, account: account, device: device,
      environment: options.environment)
    guard let transport, opened.damage?.isReadOnly != true else {
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
    journal.enqueue(.close(done: { _ in }))
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
    let made = Mutex<[Identifier]>([])
    try await followed(made) { [account, maker, receipts] staged, state in
      var transaction = WriteTransaction(account: account, state: state, staged: staged)
      try body(&transaction)
      let operations = try maker.make(transaction, strategy: strategy, staged: &staged)
      let ids = operations.map(\.id)
      made.withLock { $0 = ids }
      receipts.follow(ids)
      return operations.map(Entry.operation)
    }
    if strategy == .online { await driver?.wakePush(isUrgent: true) }
    return Receipt(operationIDs: made.withLock { $0 }, receipts: receipts)
  }

  /// Runs `body` on the journal; if what it made is not stored, nobody follows it any more.
  private func followed(
    _ made: borrowing Mutex<[Identifier]>, _ body: @escaping Journal.Body
  ) async throws {
    do {
      try await journal.write(body)
    } catch {
      if let first = made.withLock({ $0.first }) { receipts.forget(first) }
      throw error
    }
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

  // MARK: - What was set aside

  /// The refused edits that wait for a decision, in the order they were made.
  public var drafts: [Draft] { journal.state.read { $0.setAside.compactMap(Draft.init) } }

  /// The operations without a verdict that wait for a decision, in the order they were made.
  public var deadLetters: [DeadLetter] {
    journal.state.read { $0.setAside.compactMap(DeadLetter.init) }
  }

  /// Gives up a draft or a dead letter for good. It stays in the history.
  ///
  /// - Throws: `alreadyDecided` if it is no longer there.
  public func discard(_ id: Identifier) async throws {
    let time = maker.environment.now()
    try await journal.write { _, state in
      guard state.operation(id)?.departure != nil else { throw Daybook.decided }
      return [.decision(Decision(kind: .discarded, root: id, time: time))]
    }
  }

  /// Sends the edits of a draft or a dead letter again, as new operations on the records as they
  /// are now; `edit` may change the fields that each sets.
  ///
  /// The decision and the new operations are one append. If the old operation had been accepted
  /// after all, the server says so and the new one is refused.
  /// - Throws: `alreadyDecided` if it is no longer there; `noSuchRecord` if a record is gone.
  @discardableResult
  public func retry(
    _ id: Identifier,
    edit: @escaping @Sendable (Operation, inout ValueMap) -> Void = { _, _ in }
  ) async throws -> Receipt {
    let made = Mutex<[Identifier]>([])
    let time = maker.environment.now()
    try await journal.write { [account, maker, receipts] staged, state in
      guard let departure = state.operation(id)?.departure,
        let group = state.setAside(departure)
      else { throw Daybook.decided }
      var transaction = WriteTransaction(account: account, state: state, staged: staged)
      for kept in group.operations {
        let old = kept.operation
        var fields = old.fields
        edit(old, &fields)
        try transaction.add(
          old.action, old.record, fields: fields, unset: old.unset, supersedes: old.id)
      }
      let operations = try maker.make(
        transaction, strategy: group.operations[0].operation.strategy, staged: &staged)
      let ids = operations.map(\.id)
      made.withLock { $0 = ids }
      receipts.follow(ids)
      let decision = Decision(kind: .retried, root: id, time: time)
      return operations.map(Entry.operation) + [.decision(decision)]
    }
    return Receipt(operationIDs: made.withLock { $0 }, receipts: receipts)
  }

  private static let decided = DaybookError(
    .alreadyDecided, "There is no such draft or dead letter any more: it was decided before.")

  // MARK: - Sync

  /// Sends what waits and pulls what is new, at once, whatever the schedule says; returns when
  /// there is no more to do, or when a problem makes it wait.
  @discardableResult
  public func sync() async -> Status {
    await driver?.round()
    return await status
  }

  /// Goes on after a ``Status/Problem`` that stopped sync, once its cause is gone.
  public func resumeSync() async { await driver?.resume() }

  /// How the store stands.
  public var status: Status {
    get async {
      let lastPull = await driver?.lastPull
      let problem = await driver?.problem
      let unreadableCount = shared.withLock { $0.unreadable.count }
      return journal.state.read { state in
        let kept = state.keptOperations
        let unsettled = kept.filter(\.isUnsettled)
        let groups = state.setAside
        return Status(
          unsettledCount: unsettled.count,
          unconfirmedCount: kept.count { $0.settlement?.acceptance != nil },
          draftCount: groups.count { Draft($0) != nil },
          deadLetterCount: groups.count { DeadLetter($0) != nil },
          oldestUnsettled: unsettled.first?.operation.clock.time, lastPull: lastPull,
          problem: problem,
          isComplete: !state.scopes.isEmpty
            && state.scopes.values.allSatisfy { $0.position != nil },
          unknownCollections: state.unknownCollections,
          unreadableRecordCount: unreadableCount, damage: damage)
      }
    }
  }

  /// What has been sent since the store was opened.
  package var syncCounts: SyncCounts {
    get async { await driver?.counts ?? SyncCounts() }
  }

  /// Runs `body` on the folded state, for tools and tests.
  package func withState<Result>(_ body: (ClientState) -> Result) -> Result {
    journal.state.read(body)
  }

  // MARK: - Closing

  /// Stops sync, finishes the writes that wait, marks the log as closed and lets go of it.
  ///
  /// Closing twice does nothing.
  public func close() async throws {
    let (isFirst, closers, automatic) = shared.withLock { shared in
      defer {
        shared.isClosed = true
        shared.closers = []
      }
      return (!shared.isClosed, shared.closers, shared.automatic)
    }
    guard isFirst else { return }
    automatic?.cancel()
    await driver?.stop()
    for close in closers { close() }
    try await journal.close()
  }

  /// Runs `body` when the store is closed, or at once if it is.
  func onClose(_ body: @escaping @Sendable () -> Void) {
    let isClosed = shared.withLock { shared in
      if !shared.isClosed { shared.closers.append(body) }
      return shared.isClosed
    }
    if isClosed { body() }
  }

  /// Counts rows that the app's types can't read.
  func note(unreadable keys: Set<RecordKey>) {
    shared.withLock { $0.unreadable.formUnion(keys) }
  }
}
