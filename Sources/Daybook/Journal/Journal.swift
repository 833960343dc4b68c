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

  /// One piece of work for the thread.
  enum Work: Sendable {
    /// Entries of the outbox, made by a body that runs on the thread.
    case outbox(Body, done: @Sendable (Result<Void, any Error>) -> Void)
    /// Entries of the feed, as one append that is synced before it shows.
    case feed([Entry], done: @Sendable (Result<Void, any Error>) -> Void)
    /// Ends the thread once everything before it is done.
    case close(done: @Sendable (Result<Void, any Error>) -> Void)
  }

  /// Told after each durable batch, on the journal's thread: what changed, and the entries.
  typealias Listener = @Sendable (StateEffects, [Entry]) -> Void

  let state: SharedState
  private let log: ClientLog
  private let queue = Mutex(Queue())
  private let signal = DispatchSemaphore(value: 0)
  private let listeners = Mutex<[Int: Listener]>([:])

  private struct Queue {
    var work: [Work] = []
    var isClosed = false
    var nextListener = 0
  }

  /// Starts the thread on a log that has been replayed into `state`.
  init(log: ClientLog, state: SharedState) {
    self.log = log
    self.state = state
    let thread = Thread { [self] in run() }
    thread.name = "daybook journal"
    thread.stackSize = 1 << 20
    thread.start()
  }

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
      var group: [(Body, @Sendable (Result<Void, any Error>) -> Void)] = []
      for item in work {
        if case .outbox(let body, let done) = item {
          group.append((body, done))
          continue
        }
        writeOutbox(group)
        group = []
        switch item {
        case .feed(let entries, let done): done(Result { try writeFeed(entries) })
        case .close(let done):
          done(Result { try log.close() })
          return
        case .outbox: break
        }
      }
      writeOutbox(group)
    }
  }

  /// The most bytes of operations in one group: 4 MiB, so that one sync never keeps everybody
  /// waiting and a segment stays small.
  private static let groupByteLimit = 4 << 20

  private func writeOutbox(_ group: [(Body, @Sendable (Result<Void, any Error>) -> Void)]) {
    var rest = group[...]
    while !rest.isEmpty { writeGroup(&rest) }
  }

  /// Writes the first bodies of `rest` as one group, and takes them off.
  private func writeGroup(
    _ rest: inout ArraySlice<(Body, @Sendable (Result<Void, any Error>) -> Void)>
  ) {
    var byteCount = 0
    var staged = StagedWrites()
    var transactions: [[Entry]] = []
    var waiting: [@Sendable (Result<Void, any Error>) -> Void] = []
    while byteCount < Journal.groupByteLimit, let (body, done) = rest.popFirst() {
      let mark = staged
      do {
        let entries = try state.read { state in try body(&staged, state) }
        transactions.append(entries)
        byteCount += entries.reduce(0) { $0 + $1.bytes.count }
        waiting.append(done)
      } catch {
        staged = mark
        done(.failure(error))
      }
    }
    let result = Result { () throws in
      let written = transactions.filter { !$0.isEmpty }
      if !written.isEmpty { apply(written.flatMap { $0 }, from: try log.appendOutbox(written)) }
    }
    for done in waiting { done(result) }
  }

  private func writeFeed(_ entries: [Entry]) throws {
    apply(entries, from: try log.appendFeed(entries))
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
    case .outbox(_, let done), .feed(_, let done), .close(let done): done(result)
    }
  }
}
