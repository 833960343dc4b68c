import DaybookLog
import DaybookServerCore
import Synchronization

/// A log without a disk: what is appended is durable at once, or when a test says so.
final class HeldLog: EntryLog {
  private struct State {
    var isHolding = false
    var frames: [[NewEntry]] = []
    var waiting: [@Sendable (StoreError?) -> Void] = []
    var failure: StoreError?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Every frame that was appended, durable or not.
  var frames: [[NewEntry]] { state.withLock { $0.frames } }
  var waitingCount: Int { state.withLock { $0.waiting.count } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func append(_ entries: [NewEntry], completion: @escaping @Sendable (StoreError?) -> Void) {
    let answer = state.withLock { state -> StoreError?? in
      state.frames.append(entries)
      guard state.isHolding else { return .some(state.failure) }
      state.waiting.append(completion)
      return nil
    }
    if let answer { completion(answer) }
  }

  func close() throws(StoreError) {
    release()
    state.withLock { $0.isClosed = true }
  }

  /// From now on nothing that is appended becomes durable.
  func hold() { state.withLock { $0.isHolding = true } }

  /// All that waits becomes durable, or fails, and so does all that comes.
  func release(failure: StoreError? = nil) {
    let waiting = state.withLock { state in
      state.isHolding = false
      state.failure = failure
      defer { state.waiting = [] }
      return state.waiting
    }
    for completion in waiting { completion(failure) }
  }
}
