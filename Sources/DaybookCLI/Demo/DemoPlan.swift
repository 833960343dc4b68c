import DaybookTestKit

/// What happens to which order, drawn from the seed before anything runs.
struct DemoPlan: Sendable {
  /// What the office and the rep do to an order after it has been taken.
  enum Fate: Sendable, Hashable {
    /// Nothing.
    case kept
    /// The office cancels it.
    case cancelled
    /// The rep edits it and that is taken; then the office, which has not seen the edit, cancels.
    case cancelledAfterEdit
    /// The office cancels it; then the rep, who has not seen that, edits once or twice.
    case cancelledBeforeEdit(edits: Int)
    /// The office reprices it.
    case repriced
    /// The office reprices it; then the rep, who has not seen that, edits.
    case repricedBeforeEdit
  }

  let repCount: Int
  /// The fate of each order, by index.
  let fates: [Fate]

  /// A plan for `orderCount` orders of `repCount` reps. About a fifth is cancelled; of those more
  /// than a third meets a stale edit, and a quarter an earlier one. The first order always meets
  /// one.
  init(orderCount: Int, repCount: Int, seed: UInt64) {
    self.repCount = repCount
    var generator = SplitMix64(seed: seed)
    fates = (0..<orderCount).map { index in
      if index == 0 { return .cancelledBeforeEdit(edits: 1) }
      if index == 1 { return .cancelledAfterEdit }
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<8: return .cancelled
      case 8..<13: return .cancelledAfterEdit
      case 13..<18: return .cancelledBeforeEdit(edits: 1)
      case 18..<21: return .cancelledBeforeEdit(edits: 2)
      case 21..<28: return .repriced
      case 28..<31: return .repricedBeforeEdit
      default: return .kept
      }
    }
  }

  /// The rep who takes order `index`, from 0.
  func rep(of index: Int) -> Int { index % repCount }

  /// The account of a rep, from 0: `rep-01`.
  static func account(_ rep: Int) -> String {
    let number = String(rep + 1)
    return "rep-" + (number.count < 2 ? "0" : "") + number
  }

  /// The orders whose fate `admits` holds for.
  func orders(where admits: (Fate) -> Bool) -> [Int] {
    fates.indices.filter { admits(fates[$0]) }
  }

  /// The number of orders that the office cancels.
  var cancelCount: Int {
    fates.count {
      switch $0 {
      case .cancelled, .cancelledAfterEdit, .cancelledBeforeEdit: true
      case .kept, .repriced, .repricedBeforeEdit: false
      }
    }
  }

  /// The number of cancelled orders that meet a stale edit.
  var staleCancelCount: Int {
    fates.count { if case .cancelledBeforeEdit = $0 { true } else { false } }
  }

  /// The number of edits that the server must refuse.
  var refusalCount: Int { staleCancelCount + fates.count { $0 == .repricedBeforeEdit } }
}
