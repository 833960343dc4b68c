import DaybookFormat
import DaybookLog
import DaybookSync
import Foundation
import Synchronization

/// The one thread that writes: it runs the bodies of writes one at a time, appends what they made,
/// and changes the shared state once that is durable. Whoever waits is told in order.
///
/// All outbox work that is waiting becomes one group: one `fdatasync` for all of it.
final class Journal: Sendable {
  /// What a body may look at and add to while a group is being made.
  typealias Body = @Sendable (inout StagedWrites, ClientState) throws -> [Entry]
  /// Told once, on the journal's thread, when the work is done or has failed.
  typealias Done = @Sendable (Result<Void, any Error>) -> Void

  /// One piece of work for the thread.
  enum Work: Sendable {
    /// Entries of the outbox, made by a body that runs on the thread.
    case outbox(Body, done: Done)
    /// Entries of the feed, as one append that is synced before it shows.
    case feed([Entry], done: Done)
    /// Closes the log's files and lets go of its lock; bodies are not run until `resume`.
    case suspend(done: Done)
    /// Takes the lock again and goes on.
    case resume(done: Done)
    /// Ends the thread once everything before it is done.
    case close(done: Done)
  }

  /// Told after each durable batch, on the journal's thread: what changed, and the entries.
  typealias Listener = @Sendable (StateEffects, [Entry]) -> Void

  /// The most bodies of one group: what waits longer goes into the next, so that the first of
  /// many is not kept waiting for the last, and a group's memory is bounded.
  static let groupBodyLimit = 1_024
  /// The bytes of operations beyond which a group takes no further body: 4 MiB, as the log's own.
  static let groupByteLimit = 4 << 20

  let state: SharedState
  private let log: ClientLog
  private let queue = Mutex(Queue())
  private let signal = DispatchSemaphore(value: 0)
  private let listeners = Mutex<[Int: Listener]>([:])
  private let storage = Mutex<Storage>(Storage())

  private struct Queue {
    var work: [Work] = []
    var isClosed = false
    var nextListener = 0
  }

  private struct Storage {
    var problem: StorageProblem?
    var isSuspended = false
  }

  /// Starts the thread on a log that has been replayed into `state`.
  init(log: ClientLog, state: SharedState) {
    self.log = log
    self.state = state
    storage.withLock { $0.problem = log.refusal.flatMap { StorageProblem($0) } }
    let thread = Thread { [self] in run() }
    thread.name = "daybook journal"
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Where the log's history stands, as far as it is durable; `nil` if there is none.
  var anchor: Anchor? { log.anchor }

  /// Hands `work` to the thread; after `close` it fails with `closed`.
  func enqueue(_ work: Work) {
    let isClosed = queue.withLock { queue in
      if !queue.isClosed { queue.work.append(work) }
      defer { if case .close = work { queue.isClosed = true } }
      return queue.isClosed
    }
    if isClosed {
      let error = DaybookError(.closed, "The store has been closed. Open it again to go on.")
      work.finish(.failure(error))
    } else {
      signal.signal()
    }
  }

  /// Runs `body` on the thread and returns when what it made is durable and visible.
  func write(_ body: @escaping Body) async throws {
    try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
      enqueue(.outbox(body, done: { waiting.resume(with: $0) }))
    }
  }

  /// Appends `entries` to the outbox and returns when they are durable and visible.
  func record(_ entries: [Entry]) async throws { try await write { _, _ in entries } }

  /// Appends `entries` to the feed and returns when they are durable and visible.
  func store(_ entries: [Entry]) async throws {
    try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
      enqueue(.feed(entries, done: { waiting.resume(with: $0) }))
    }
  }

  /// Why the last append failed, or why none is tried; `nil` once one has worked.
  var storageProblem: StorageProblem? {
    storage.withLock { $0.isSuspended ? .suspended : $0.problem }
  }

  /// Finishes all that waits and lets go of the log's lock. It is let go also if this throws.
  func suspend() async throws {
    try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
      enqueue(.suspend(done: { waiting.resume(with: $0) }))
    }
  }

  /// Takes the log's lock again; stays suspended if this throws.
  func resume() async throws {
    try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
      enqueue(.resume(done: { waiting.resume(with: $0) }))
    }
  }

  /// Finishes all that waits and closes the log.
  func close() async throws {
    try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
      enqueue(.close(done: { waiting.resume(with: $0) }))
    }
  }

  /// Tells `listener` of every durable batch from now on; the number ends it with `removeListener`.
  func addListener(_ listener: @escaping Listener) -> Int {
    let number = queue.withLock { queue in
      queue.nextListener += 1
      return queue.nextListener
    }
    listeners.withLock { $0[number] = listener }
    return number
  }

  /// Ends a listener.
  func removeListener(_ number: Int) { listeners.withLock { _ = $0.removeValue(forKey: number) } }

  // MARK: - On the thread

  private func run() {
    while true {
      signal.wait()
      let work = queue.withLock { queue in
        defer { queue.work = [] }
        return queue.work
      }
      var group: [(Body, Done)] = []
      for item in work {
        if case .outbox(let body, let done) = item {
          group.append((body, done))
          continue
        }
        writeOutbox(group)
        group = []
        switch item {
        case .feed(let entries, let done): done(Result { try writeFeed(entries) })
        case .suspend(let done):
          let result = Result { try log.suspend() }
          storage.withLock { $0.isSuspended = true }
          done(result)
        case .resume(let done):
          let result = Result { try log.resume() }
          storage.withLock { storage in
            switch result {
            case .success: storage.isSuspended = false
            case .failure(let error): storage.problem = StorageProblem(error)
            }
          }
          done(result)
        case .close(let done):
          let result = Result { try log.close() }
          // Listeners may hold what holds the journal.
          listeners.withLock { $0 = [:] }
          done(result)
          return
        case .outbox: break
        }
      }
      writeOutbox(group)
    }
  }

  /// A body that has run.
  private struct Ran {
    let entries: [Entry]
    /// What it threw. Told only once what it may have seen is durable.
    var failure: (any Error)?
    let done: Done

    var operationIDs: [Identifier] {
      entries.compactMap { entry in
        if case .operation(let operation) = entry { operation.id } else { nil }
      }
    }
  }

  private func writeOutbox(_ waiting: [(Body, Done)]) {
    if storage.withLock({ $0.isSuspended }) {
      for (_, done) in waiting { done(.failure(DaybookError(LogError.suspended))) }
      return
    }
    var rest = waiting[...]
    while !rest.isEmpty {
      var staged = StagedWrites()
      var group: [Ran] = []
      while let (body, done) = rest.first, group.count < Journal.groupBodyLimit,
        staged.byteCount < Journal.groupByteLimit
      {
        rest.removeFirst()
        group.append(run(body, done, &staged))
      }
      finish(group)
    }
  }

  private func run(_ body: Body, _ done: @escaping Done, _ staged: inout StagedWrites) -> Ran {
    let mark = staged.mark
    do {
      return Ran(entries: try state.read { try body(&staged, $0) }, done: done)
    } catch {
      staged.rollBack(to: mark)
      return Ran(entries: [], failure: error, done: done)
    }
  }

  private func finish(_ group: [Ran]) {
    let written = group.map(\.entries).filter { !$0.isEmpty }
    do throws(DaybookError) {
      if !written.isEmpty {
        let first = try stored { () throws(DaybookError) in try log.appendOutbox(written) }
        apply(written.flatMap { $0 }, from: first)
      }
      for ran in group { ran.done(ran.failure.map { .failure($0) } ?? .success(())) }
    } catch {
      for ran in group {
        var failure = error
        failure.operationIDs = ran.operationIDs
        ran.done(.failure(ran.failure ?? failure))
      }
    }
  }

  private func writeFeed(_ entries: [Entry]) throws {
    let first = try stored { () throws(DaybookError) in try log.appendFeed(entries) }
    apply(entries, from: first)
  }

  /// Appends, and keeps in mind how the disk stands.
  private func stored(
    _ append: () throws(DaybookError) -> UInt64
  ) throws(DaybookError) -> UInt64 {
    do throws(DaybookError) {
      let first = try append()
      storage.withLock { $0.problem = nil }
      return first
    } catch {
      if let problem = StorageProblem(error) { storage.withLock { $0.problem = problem } }
      throw error
    }
  }

  private func apply(_ entries: [Entry], from first: UInt64) {
    let effects = state.change { state in
      var effects = StateEffects()
      for (offset, entry) in entries.enumerated() {
        effects.formUnion(state.apply(entry, position: first + UInt64(offset)))
      }
      return effects
    }
    let listeners = listeners.withLock { Array($0.values) }
    for listener in listeners { listener(effects, entries) }
  }
}

extension Journal.Work {
  fileprivate func finish(_ result: Result<Void, any Error>) {
    switch self {
    case .outbox(_, let done), .feed(_, let done), .suspend(let done), .resume(let done),
      .close(let done):
      done(result)
    }
  }
}
