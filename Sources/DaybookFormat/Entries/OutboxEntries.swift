/// Operations that are about to be sent for the first time; durable before the send.
package struct Attempt: Sendable, Hashable {
  /// The operations, in the order of the batch.
  package let operationIDs: [Identifier]

  /// The mark for `operationIDs`.
  package init(operationIDs: [Identifier]) { self.operationIDs = operationIDs }
}

/// What the user or the app decided about operations that did not take effect.
package struct Decision: Sendable, Hashable {
  /// What was decided.
  package enum Kind: UInt8, Sendable {
    /// The draft or dead letter is given up for good.
    case discarded = 1
    /// New operations that name it took its place.
    case retried = 2
    /// A failed operation is sent again as it is.
    case resent = 3
    /// What a restored outbox held is sent.
    case released = 4
    /// What a restored outbox held is given up.
    case dropped = 5
  }

  /// What was decided.
  package let kind: Kind
  /// The operation that the draft or dead letter is named after; of a restored outbox, the life of
  /// the log that it came from.
  package let root: Identifier
  /// When, by the device's clock.
  package let time: Timestamp

  /// The decision `kind` about `root`.
  package init(kind: Kind, root: Identifier, time: Timestamp) {
    self.kind = kind
    self.root = root
    self.time = time
  }
}

/// Operations that left their lane together, as one draft or dead letter.
package struct Departure: Sendable, Hashable {
  /// Why they left.
  package enum Reason: Sendable, Hashable {
    /// The first one was refused, in conflict or too old.
    case verdict
    /// The server answered this many times with this status and no verdict.
    case deadLetter(status: UInt16, message: String)
    /// The caller stopped waiting, or the user gave it up.
    case withdrawn
    /// The schedule's attempts are used up; it stays shown.
    case failed(message: String)
  }

  /// The operation that the group is named after; one of ``members``.
  package let root: Identifier
  /// All that left, in outbox order.
  package let members: [Identifier]
  /// Why.
  package let reason: Reason

  /// The group of `members` that left because of `root`.
  package init(root: Identifier, members: [Identifier], reason: Reason) {
    self.root = root
    self.members = members
    self.reason = reason
  }
}

/// The server that the log belongs to, and that it knows this incarnation.
package struct Binding: Sendable, Hashable {
  /// The server's identity, which every restore of it keeps.
  package let serverID: Identifier
  /// The incarnation that the server has registered.
  package let incarnation: Identifier

  /// The server `serverID` knows `incarnation`.
  package init(serverID: Identifier, incarnation: Identifier) {
    self.serverID = serverID
    self.incarnation = incarnation
  }
}
