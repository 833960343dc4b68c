import Foundation
import Synchronization

/// Work that waits for other threads or processes, on a thread of its own.
enum BlockingWork {
  private final class Flag: Sendable {
    let isSet = Mutex(false)
  }

  /// Runs `body`, which is to end soon once `goesOn` says `false`: then the program is interrupted.
  static func run<Answer: Sendable>(
    _ body: @escaping @Sendable (_ goesOn: @escaping @Sendable () -> Bool) throws -> Answer
  ) async throws -> Answer {
    let isCancelled = Flag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (waiting: CheckedContinuation<Answer, any Error>) in
        Thread.detachNewThread {
          waiting.resume(
            with: Result { try body { !isCancelled.isSet.withLock { $0 } } })
        }
      }
    } onCancel: {
      isCancelled.isSet.withLock { $0 = true }
    }
  }
}
