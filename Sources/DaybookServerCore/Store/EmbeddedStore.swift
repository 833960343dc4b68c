package import DaybookFormat
import DaybookLog
import Dispatch
import Synchronization

/// The server's data in memory, with every entry of it in a log on this machine's disk.
///
/// A transaction runs on what is in memory, durable or not, and is appended as one frame; its
/// caller hears of it when that frame is durable. Many writers thus share one wait for the disk,
/// and a transaction that builds on another one is never durable without it. A reader waits for
/// what it has seen in the same way.
///
///     ready ──an append fails──▶ failed: every call throws, until a new store opens the log
///
/// After a failed append memory may be ahead of the disk, so nothing of it is answered any more.
package final class EmbeddedStore: ServerStore {
  /// Who the server is, from the first entry of its log.
  package let history: HistoryIdentity
  /// What was found at opening and healed or not needed, in words for the server's operator.
  package let notes: [String]
  private let log: any EntryLog
  private let durability = Durability()
  private let lock = Mutex(())
  // Guarded by `lock`; a transaction's body works on it and is no part of the lock's region.
  nonisolated(unsafe) private let state: ServerState
  nonisolated(unsafe) private var lastFrame: UInt64 = 0
  nonisolated(unsafe) private var isClosed = false

  /// A store of `state`, which holds what `log` has been replayed to, and goes nowhere else.
  package init(
    history: HistoryIdentity, state: sending ServerState, log: any EntryLog, notes: [String] = []
  ) {
    self.history = history
    self.notes = notes
    self.state = state
    self.log = log
  }

  /// Why nothing more can be written; `nil` while all is well.
  package var failure: StoreError? { durability.failure }

  /// For one consumer: ``failure`` as soon as there is one; ends without it when the store is
  /// closed or the consumer's task is cancelled.
  package var failures: AsyncStream<StoreError> { durability.failures }

  /// The collections of which there are records, deleted ones included. O(records).
  package var collections: Set<String> {
    lock.withLock { _ in Set(state.records.keys.map(\.collection)) }
  }

  /// Runs `body` as one transaction; its entries are one frame of the log.
  ///
  /// On return they and everything that `body` read are durable. If `body` throws, what it read is
  /// durable too, since the problem tells of it.
  package func write<Result: Sendable>(
    _ body: (inout any ServerTransaction) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try await answer { () throws(ServerProblem) in
      var transaction: any ServerTransaction = StagedTransaction(on: state)
      let result = try body(&transaction)
      guard let staged = transaction as? StagedTransaction, !staged.entries.isEmpty else {
        return result
      }
      try append(staged.entries)
      return result
    }
  }

  /// Runs `body` on what is in memory; on return everything that it read is durable.
  package func read<Result: Sendable>(
    _ body: (any ServerReader) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try await answer { () throws(ServerProblem) in try body(state) }
  }

  /// Writes what was taken and lets go of the log's directory. Every later call throws.
  package func close() async throws(StoreError) {
    let wasClosed = lock.withLock { _ in
      defer { isClosed = true }
      return isClosed
    }
    if wasClosed { return }
    durability.end()
    let log = log
    // It waits for the disk, which must not block Swift's cooperative pool.
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Swift.Result<Void, StoreError>, Never>) in
      DispatchQueue.global().async {
        continuation.resume(
          returning: Swift.Result { () throws(StoreError) in try log.close() })
      }
    }
    try result.get()
  }

  /// Folds `entries` and hands them to the log. Under the lock, so that memory and log have one
  /// order.
  private func append(_ entries: [Entry]) throws(ServerProblem) {
    let encoded = entries.map { NewEntry(kind: $0.kind.rawValue, bytes: $0.bytes) }
    let byteCount = encoded.reduce(0) { $0 + LogLayout.entryHeaderByteCount + $1.bytes.count }
    guard byteCount <= LogLayout.frameByteLimit else {
      throw ServerProblem(
        .tooLarge, "What the server would store of this is too large: send less at a time.")
    }
    let frame = lastFrame + 1
    lastFrame = frame
    do throws(StoreError) {
      try state.fold(entries)
    } catch {
      // The rules made a change that does not follow: memory is no longer what the log will say.
      durability.complete(frame, failure: error)
      throw ServerProblem(error)
    }
    log.append(encoded) { [durability] failure in durability.complete(frame, failure: failure) }
  }

  /// Runs `body` under the lock, then waits until all it can have seen is durable.
  private func answer<Result: Sendable>(
    _ body: () throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    let (outcome, frame) = lock.withLock { _ -> (Swift.Result<Result, ServerProblem>, UInt64) in
      if let failure = isClosed ? .closed : durability.failure {
        return (.failure(ServerProblem(failure)), 0)
      }
      return (Swift.Result { () throws(ServerProblem) in try body() }, lastFrame)
    }
    do throws(StoreError) {
      try await durability.wait(for: frame)
    } catch {
      throw ServerProblem(error)
    }
    return try outcome.get()
  }
}

extension ServerState {
  /// Folds entries in order; stops at the first that does not continue what is there.
  func fold(_ entries: [Entry]) throws(StoreError) {
    for entry in entries {
      do throws(ServerProblem) {
        try apply(entry)
      } catch {
        // Only a change can fail to continue.
        guard case .change(let change) = entry else { continue }
        throw .discontinuous(scope: change.scope, sequence: change.sequence)
      }
    }
  }
}

extension ServerProblem {
  /// What a client is told of it: that nothing was done, and who can help. The reason is for the
  /// server's operator.
  init(_ error: StoreError) {
    self.init(
      .storage,
      error == .closed
        ? "The server is stopping: try again later."
        : "The server can't write to its disk, so it answers nothing until its operator has freed "
          + "or repaired the disk and started it again. What was answered before is safe.")
  }
}
