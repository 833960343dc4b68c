public import DaybookFormat

/// Proof that a write is durable here, and the way to learn what the server made of it.
///
/// Keep it only as long as the outcome is of interest: what became of a write is in the log either
/// way, as a record that is confirmed, a draft or a dead letter.
public struct Receipt: Sendable {
  /// The operations of the write, in order; empty if the body changed nothing.
  public let operationIDs: [Identifier]
  let follower: Follower

  init(operationIDs: [Identifier], receipts: Receipts) {
    self.operationIDs = operationIDs
    follower = Follower(first: operationIDs.first, receipts: receipts)
  }

  /// What became of the write; waits for the server's verdict as long as it takes.
  ///
  /// A wait that is cancelled, or that the closing of the store ends, returns `nil` and gives
  /// nothing up: the operations are still sent.
  public var settlement: Outcome? {
    get async { await follower.receipts.outcome(of: operationIDs) }
  }
}

/// Ends the following of a write when the last copy of its receipt is gone.
final class Follower: Sendable {
  let receipts: Receipts
  private let first: Identifier?

  init(first: Identifier?, receipts: Receipts) {
    self.first = first
    self.receipts = receipts
  }

  deinit {
    if let first { receipts.forget(first) }
  }
}
