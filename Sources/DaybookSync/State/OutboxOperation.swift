package import DaybookFormat

/// An operation of this device and what has become of it.
package struct OutboxOperation: Sendable, Hashable {
  /// The operation.
  package let operation: Operation
  /// The number of its entry in the outbox stream.
  package let position: UInt64
  /// It may have been sent.
  package var isAttempted = false
  /// The server's verdict, once recorded or told by the feed.
  package var settlement: Settlement?
  /// The verdict came from the feed and is not in the outbox yet.
  package var isSettlementUnrecorded = false
  /// The group it left its lane with, by the operation that the group is named after.
  package var departure: Departure?
  /// The group was discarded or retried: nothing of it is shown or listed.
  package var isDecided = false

  /// The operation at `position`, just appended.
  package init(operation: Operation, position: UInt64) {
    self.operation = operation
    self.position = position
  }

  /// No settlement yet, and still in its lane: it is sent.
  package var isUnsettled: Bool { settlement == nil && departure == nil }

  /// Whether it is laid over the base, as long as it is not confirmed.
  package var isLaidOver: Bool {
    guard operation.strategy == .lazy, !isDecided else { return false }
    if let settlement { return settlement.acceptance != nil }
    guard let departure else { return true }
    if case .failed = departure.reason { return true }
    return false
  }

  /// Attempted, given up and not settled: the next push withdraws it.
  package var isWithdrawn: Bool { isAttempted && settlement == nil && departure != nil }
}

/// Operations that did not take effect, kept for the user: a draft, or a dead letter.
package struct SetAside: Sendable, Hashable {
  /// Why they left their lane.
  package let departure: Departure
  /// The operations that are still without effect, in outbox order.
  package let operations: [OutboxOperation]

  /// The operation that it is named after, or the first one left if that took effect after all.
  package var root: Identifier { departure.root }

  /// The verdict on the root, if there is one.
  package var refusal: Settlement.Refusal? {
    operations.first { $0.operation.id == root }?.settlement?.refusal
  }
}
