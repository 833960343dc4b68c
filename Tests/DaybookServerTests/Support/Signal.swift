import Synchronization

/// Something that happens once and that any number of tasks wait for.
final class Signal: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var hasHappened: Bool { state.withLock { $0.hasHappened } }

  func happen() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let hasHappened = state.withLock { state in
        if !state.hasHappened { state.waiting.append(continuation) }
        return state.hasHappened
      }
      if hasHappened { continuation.resume() }
    }
  }
}

/// Lets every task that can run do so for a while.
func letOthersRun() async {
  for _ in 0..<200 { await Task.yield() }
}
