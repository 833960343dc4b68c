import DaybookFormat
import DaybookLog
import DaybookSync

extension TortureWorld {
  /// Appends `group`, each of its transactions atomic, and tells the model what was said of it.
  /// Returns whether it was stored.
  @discardableResult
  func append(
    _ name: TortureStreamName, _ group: [[TortureEntry]], isSynced: Bool = true
  ) -> Bool {
    guard let log else { return false }
    var stream = model(name)
    defer { if name == .outbox { outbox = stream } else { feed = stream } }
    do throws(LogError) {
      let first = try log.appendAndWait(
        name.rawValue, group.map { $0.map(\.new) }, isSynced: isSynced)
      if group.isEmpty {
        if isSynced { stream.acknowledgeAll() }
        return true
      }
      tell("\(name.rawValue):\(first), \(group.count) transactions, synced \(isSynced)")
      let complaint = stream.accept(
        group, first: first, isDurable: isSynced || name == .outbox)
      check(.numbersOnce, complaint == nil, complaint?.detail ?? "")
      follow(group.flatMap { $0 }, from: first)
      return true
    } catch {
      tell("\(name.rawValue): \(error)")
      if case .outcomeUnknown = error {
        stream.noteUnknown(group)
        isStateKnown = false
      }
      return false
    }
  }

  /// Folds what was stored into the live state.
  private func follow(_ entries: [TortureEntry], from first: UInt64) {
    var position = first
    for entry in entries {
      if let decoded = try? Entry(kind: entry.kind, bytes: entry.bytes[...]) {
        state?.apply(decoded, position: position)
      }
      position += 1
    }
  }

  /// Closes the log; what was written is durable if that works.
  func close() {
    guard let log else { return }
    do throws(LogError) {
      try log.close()
      tell("closed")
      outbox.acknowledgeAll()
      feed.acknowledgeAll()
      isClosedWhole = !log.isReadOnly
    } catch {
      tell("not closed: \(error)")
      isClosedWhole = false
      isStateKnown = false
    }
    self.log = nil
  }
}
