import DaybookFormat
import DaybookSync

/// Values computed from the store: the current one first, then a new one after each durable batch
/// that touched them. Whoever is slow skips to the newest.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
  private let store: Daybook
  private let collection: String
  private let compute: @Sendable () -> Element

  init(store: Daybook, collection: String, compute: @escaping @Sendable () -> Element) {
    self.store = store
    self.collection = collection
    self.compute = compute
  }

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let (signals, sender) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let collection = collection
    let number = store.journal.addListener { effects, _ in
      if effects.records.contains(where: { $0.collection == collection }) { sender.yield() }
    }
    sender.onTermination = { [weak store] _ in store?.removeObserver(number) }
    sender.yield()
    store.addObserver(number) { sender.finish() }
    return Iterator(signals: signals.makeAsyncIterator(), compute: compute)
  }

  /// Waits for the next value; ends when the store is closed or the task is cancelled.
  public struct Iterator: AsyncIteratorProtocol {
    var signals: AsyncStream<Void>.Iterator
    let compute: @Sendable () -> Element

    /// The newest value, once there is one that has not been given out. It is computed away from
    /// the caller's actor: a long query does not hold up a screen.
    public mutating func next() async -> Element? {
      guard await signals.next(isolation: #isolation) != nil else { return nil }
      return await Iterator.run(compute)
    }

    @concurrent private static func run(_ compute: @Sendable () -> Element) async -> Element {
      compute()
    }
  }
}
