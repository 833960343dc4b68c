package import DaybookFormat
import Synchronization

/// The server's data in memory and nowhere else, for tests and simulations: what it calls durable
/// is gone with the process.
///
/// Transactions run one after the other under a lock; each is applied whole or not at all.
package final class MemoryStore: ServerStore {
  /// Who the server is.
  package let history: HistoryIdentity
  private let lock = Mutex(())
  // Guarded by `lock`; a transaction's body works on it and is no part of the lock's region.
  nonisolated(unsafe) private let state: ServerState

  /// An empty store of the history `history`.
  package init(history: HistoryIdentity) {
    self.history = history
    state = ServerState(history: history)
  }

  /// Runs `body` as one transaction; it is applied when `body` has returned.
  package func write<Result: Sendable>(
    _ body: (inout any ServerTransaction) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try locked { () throws(ServerProblem) in
      var transaction: any ServerTransaction = StagedTransaction(on: state)
      let result = try body(&transaction)
      if let staged = transaction as? StagedTransaction {
        for entry in staged.entries { try state.apply(entry) }
      }
      return result
    }
  }

  /// Runs `body` on the state between two transactions.
  package func read<Result: Sendable>(
    _ body: (any ServerReader) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result {
    try locked { () throws(ServerProblem) in try body(state) }
  }

  private func locked<Result: Sendable>(
    _ body: () throws(ServerProblem) -> Result
  ) throws(ServerProblem) -> Result {
    let outcome = lock.withLock { _ -> Swift.Result<Result, ServerProblem> in
      Swift.Result { () throws(ServerProblem) in try body() }
    }
    return try outcome.get()
  }
}
