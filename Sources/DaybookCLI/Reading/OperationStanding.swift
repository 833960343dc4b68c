import DaybookFormat
import DaybookSync

/// How an operation stands, in one word.
enum OperationStanding: String, CaseIterable {
  /// No verdict yet: it is sent, or will be.
  case pending
  /// Took effect; in an outbox: the base does not show it yet.
  case accepted
  case refused, conflict, tooOld
  /// Another operation took its place before it arrived.
  case superseded
  /// Given up by its author before it had a verdict.
  case withdrawn
  /// The server gave answers and no verdict, until it was set aside.
  case deadLetter
  /// The schedule's attempts are used up; it stays shown and can be sent again.
  case failed
  /// It left with the operation it builds on and was never judged itself.
  case left

  /// The standing after a verdict.
  init(_ settlement: Settlement) {
    switch settlement.verdict {
    case .accepted: self = .accepted
    case .conflict: self = .conflict
    case .tooOld: self = .tooOld
    case .refused(let refusal):
      switch refusal.code {
      case .superseded: self = .superseded
      case .withdrawn: self = .withdrawn
      default: self = .refused
      }
    }
  }

  /// The standing by what is known; a verdict counts more than a departure.
  init(settlement: Settlement?, departure: Departure?) {
    if let settlement {
      self.init(settlement)
      return
    }
    switch departure?.reason {
    case nil: self = .pending
    case .verdict: self = .left
    case .withdrawn: self = .withdrawn
    case .deadLetter: self = .deadLetter
    case .failed: self = .failed
    }
  }
}
