import Synchronization

/// The requests whose handlers run or whose answers are being sent; a stopping server waits for
/// them.
final class RequestRegistry: Sendable {
  private struct Waiter {
    var id: Int
    var wantsAllSent: Bool
    var continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var contexts: [ObjectIdentifier: RequestContext] = [:]
    var handlerCount = 0
    var isStopping = false
    var waiters: [Waiter] = []
    var nextID = 0

    func isMet(wantsAllSent: Bool) -> Bool {
      wantsAllSent ? contexts.isEmpty : handlerCount == 0
    }
  }

  private let state = Mutex(State())

  var isStopping: Bool { state.withLock { $0.isStopping } }

  func stopAccepting() {
    state.withLock { $0.isStopping = true }
  }

  /// A handler is about to run for `context`.
  func begin(_ context: RequestContext) {
    state.withLock { state in
      state.contexts[ObjectIdentifier(context)] = context
      state.handlerCount += 1
    }
  }

  /// A handler has answered, and its connection was resumed.
  func endHandler() {
    change { $0.handlerCount -= 1 }
  }

  /// The answer was sent, or its client is gone.
  func end(_ context: RequestContext) {
    change { $0.contexts[ObjectIdentifier(context)] = nil }
  }

  func cancelHandlers() {
    let contexts = state.withLock { Array($0.contexts.values) }
    for context in contexts { context.cancel() }
  }

  /// Returns when every answer was sent, at the latest after `grace`.
  func waitUntilSent(grace: Duration) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let deadline = Task {
      guard (try? await Task.sleep(for: grace)) != nil else { return }
      giveUp(id)
    }
    await wait(id: id, wantsAllSent: true)
    deadline.cancel()
  }

  /// Returns when no handler runs.
  func waitUntilHandlersEnd() async {
    await wait(id: 0, wantsAllSent: false)
  }

  private func wait(id: Int, wantsAllSent: Bool) async {
    _ = await withCheckedContinuation { continuation in
      let isMet = state.withLock { state in
        if state.isMet(wantsAllSent: wantsAllSent) { return true }
        state.waiters.append(
          Waiter(id: id, wantsAllSent: wantsAllSent, continuation: continuation))
        return false
      }
      if isMet { continuation.resume(returning: true) }
    }
  }

  private func giveUp(_ id: Int) {
    let given = state.withLock { state in
      let given = state.waiters.filter { $0.id == id }
      state.waiters.removeAll { $0.id == id }
      return given
    }
    for waiter in given { waiter.continuation.resume(returning: false) }
  }

  private func change(_ body: (inout State) -> Void) {
    let met = state.withLock { state in
      body(&state)
      let waiters = state.waiters
      state.waiters = waiters.filter { !state.isMet(wantsAllSent: $0.wantsAllSent) }
      return waiters.filter { state.isMet(wantsAllSent: $0.wantsAllSent) }
    }
    for waiter in met { waiter.continuation.resume(returning: true) }
  }
}
