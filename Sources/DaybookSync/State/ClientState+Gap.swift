import DaybookFormat

extension ClientState {
  /// Goes on behind a gap of the outbox, of which anything may have been lost: operations, attempt
  /// marks, verdicts, departures, decisions. What is left must be sent, shown and decided as safely
  /// as if each of them had been there.
  ///
  /// A gap of the feed changes nothing: the cursor is what the entries before it said.
  mutating func bridge(_ gap: Gap, position: UInt64, _ effects: inout StateEffects) {
    guard gap.isOfOutbox else { return }
    // An operation's number is at most that of its entry, so none is given twice.
    nextNumber = max(nextNumber, position)
    guard let lost = gap.lost else { return }
    hasLostOutboxEntries = true
    for id in order where operations[id]?.position ?? 0 < lost.upperBound {
      // Its mark may be lost; one that is given up is then withdrawn, not just forgotten.
      operations[id]?.isAttempted = true
    }
    // A verdict and what left because of it are one append, which may be lost in part.
    for kept in keptOperations
    where kept.settlement?.refusal != nil && operations[kept.operation.id]?.departure == nil {
      depart(departure(of: kept.operation.id, reason: .verdict), &effects)
    }
    // So are a successor and the decision that made it.
    for kept in keptOperations {
      guard let old = kept.operation.supersedes, let root = operations[old]?.departure?.root else {
        continue
      }
      decide(Decision(kind: .retried, root: root, time: gap.time), &effects)
    }
  }
}

extension Gap {
  /// It stands in the outbox; others stand in the feed.
  var isOfOutbox: Bool { file.hasPrefix("outbox/") }
}
