import DaybookFormat
import Synchronization

/// How far a log is durable, and who waits for it. Frames are numbered from 1 in append order.
final class Durability: Sendable {
  private struct State {
    var durable: UInt64 = 0
    var failure: StoreError?
    var waiters: [(frame: UInt64, continuation: CheckedContinuation<StoreError?, Never>)] = []
  }

  private let state = Mutex(State())
  /// For one consumer: the failure, if there is one.
  let failures: AsyncStream<StoreError>
  private let failureSink: AsyncStream<StoreError>.Continuation

  init() {
    (failures, failureSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// Ends ``failures``.
  func end() { failureSink.finish() }

  /// Why nothing more is made durable, if something failed.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Returns when all frames up to `frame` are durable; throws if they will not be.
  func wait(for frame: UInt64) async throws(StoreError) {
    let failure = await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.durable >= frame || state.failure != nil { return true }
        state.waiters.append((frame, continuation))
        return false
      }
      if isOver { continuation.resume(returning: self.failure) }
    }
    // What failed later is no reason to hide what is durable, but a store that has failed answers
    // nothing any more: its memory may be ahead of its disk.
    if let failure { throw failure }
  }

  /// The frame numbered `frame`, and all before it, are durable, or nothing more will be.
  func complete(_ frame: UInt64, failure: StoreError?) {
    let met = state.withLock { state -> [CheckedContinuation<StoreError?, Never>] in
      if let failure {
        state.failure = state.failure ?? failure
      } else if state.failure == nil {
        state.durable = max(state.durable, frame)
      }
      let isFailed = state.failure != nil
      let durable = state.durable
      let met = state.waiters.filter { isFailed || $0.frame <= durable }
      state.waiters.removeAll { isFailed || $0.frame <= durable }
      return met.map(\.continuation)
    }
    let failure = self.failure
    if let failure {
      failureSink.yield(failure)
      failureSink.finish()
    }
    for continuation in met { continuation.resume(returning: failure) }
  }
}
