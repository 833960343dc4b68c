import Dispatch

/// Runs `body`, which may block, on a thread outside of Swift's cooperative pool. A queue of its
/// own gets a thread at once; the global one adds a blocked thread's stand-in only after a second.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "blocking").async { continuation.resume(returning: body()) }
  }
}
