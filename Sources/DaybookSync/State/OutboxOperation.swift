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
  /// It came with a restored copy and waits for a decision: it is not sent, and holds its lane.
  package var isHeld = false
  /// The base shows its effect: it is laid over no more, and forgotten once its settlement is in
  /// the outbox.
  package var isConfirmed = false

  /// The operation at `position`, just appended.
  package init(operation: Operation, position: UInt64) {
    self.operation = operation
    self.position = position
  }

  /// No settlement yet, and still in its lane: it is sent.
  package var isUnsettled: Bool { settlement == nil && departure == nil }

  /// Whether it is laid over the base, as long as it is not confirmed.
  package var isLaidOver: Bool {
    guard operation.strategy == .lazy, !isDecided, !isConfirmed else { return false }
    if let settlement { return settlement.acceptance != nil }
    return departure == nil || hasFailed
  }

  /// Its attempts are used up: it stays shown, and the same bytes may go out again.
  package var hasFailed: Bool {
    guard settlement == nil, !isDecided, case .failed = departure?.reason else { return false }
    return true
  }

  /// Attempted, given up and not settled: the next push withdraws it.
  ///
  /// Not after a collision: there the server would answer with the verdict on another operation.
  package var isWithdrawn: Bool {
    guard isAttempted, settlement == nil, let departure, !hasFailed else { return false }
    return departure.reason.status != Departure.collisionStatus || departure.root != operation.id
  }

  /// Its verdict may still have to be asked for, so the server has to keep it.
  package var holdsWatermark: Bool {
    isUnsettled || isWithdrawn || isSettlementUnrecorded || hasFailed
  }
}

/// Operations that did not take effect, kept for the user: a draft, or a dead letter.
package struct SetAside: Sendable, Hashable {
  /// Why they left their lane.
  package let departure: Departure
  /// The operations that are still without effect, in outbox order.
  package let operations: [OutboxOperation]

  /// The operation that it is named after, even if that took effect after all.
  package var root: Identifier { departure.root }

  /// The verdict on the root, if there is one.
  package var refusal: Settlement.Refusal? {
    operations.first { $0.operation.id == root }?.settlement?.refusal
  }
}

extension Departure {
  /// The status that stands for another operation by the same id at the server.
  static var collisionStatus: UInt16 { 409 }
}

extension Departure.Reason {
  /// The status that made a dead letter, if it is one.
  var status: UInt16? {
    if case .deadLetter(let status, _) = self { return status }
    return nil
  }
}
