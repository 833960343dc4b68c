public import DaybookFormat
import DaybookSync

/// What became of a write, once the server has said so.
public enum Outcome: Sendable, Hashable {
  /// It took effect; where each operation stands in the server's history.
  case accepted([Settlement.Acceptance])
  /// A rule forbids it; its operations are kept as a draft.
  case refused(Draft)
  /// The server no longer knows whether it was applied; its operations are kept as a draft.
  case tooOld(Draft)
  /// Two versions stand against each other.
  case conflict(Draft)
  /// The server gave no verdict; its operations are kept as a dead letter.
  case failed(DeadLetter)
  /// It was given up before it took effect.
  case withdrawn
}

/// A refused edit, kept for the user: look at it, change it, send it again, or discard it.
public struct Draft: Sendable, Hashable, Identifiable {
  /// The operation that was refused, which the draft is named after.
  public let id: Identifier
  /// The verdict on it; `nil` if it took effect after all, and what waited with it is left.
  public let settlement: Settlement?
  /// All operations that wait with it, in the order they were made.
  public let operations: [Operation]

  /// Why it was refused.
  public var refusal: Settlement.Refusal? { settlement?.refusal }

  init?(_ group: SetAside) {
    guard case .verdict = group.departure.reason else { return nil }
    id = group.root
    settlement = group.operations.first { $0.operation.id == group.root }?.settlement
    operations = group.operations.map(\.operation)
  }
}

/// Operations that the server answered without a verdict until they were set aside.
public struct DeadLetter: Sendable, Hashable, Identifiable {
  /// The operation that failed.
  public let id: Identifier
  /// The status that the server answered with last; `nil` if it never answered.
  public let status: UInt16?
  /// The server's reason.
  public let message: String
  /// All operations that wait with it, in the order they were made.
  public let operations: [Operation]

  init?(_ group: SetAside) {
    id = group.root
    operations = group.operations.map(\.operation)
    switch group.departure.reason {
    case .deadLetter(let status, let message):
      self.status = status
      self.message = message
    case .failed(let message):
      status = nil
      self.message = message
    case .verdict, .withdrawn: return nil
    }
  }
}
