import DaybookFormat
import DaybookSync
import Foundation

/// The folded state of a log, read from any thread under a shared lock and changed by one thread.
///
/// Nothing hands out the state itself: a copy that is kept would make the next change copy it
/// whole.
final class SharedState: @unchecked Sendable {
  // `state` is only touched with `lock` held: shared to read, exclusive to change.
  private var state: ClientState
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>

  init(_ state: consuming ClientState) {
    self.state = state
    lock = .allocate(capacity: 1)
    #if canImport(Glibc)
      // Glibc's default lets readers that come one after the other keep the writer out for ever.
      // No read is begun within another while the writer waits: only its own thread runs bodies.
      var attributes = pthread_rwlockattr_t()
      pthread_rwlockattr_init(&attributes)
      defer { pthread_rwlockattr_destroy(&attributes) }
      pthread_rwlockattr_setkind_np(
        &attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
      let status = pthread_rwlock_init(lock, &attributes)
    #else
      let status = pthread_rwlock_init(lock, nil)
    #endif
    precondition(status == 0, "a lock could not be made: \(status)")
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  /// Runs `body` on the state while others may read it too.
  func read<Result, Failure: Error>(
    _ body: (ClientState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_rwlock_rdlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return try body(state)
  }

  /// Runs `body` on the state while nobody else reads it.
  func change<Result>(_ body: (inout ClientState) -> Result) -> Result {
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return body(&state)
  }
}
