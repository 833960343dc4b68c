import DaybookFormat

/// What becomes of an outbox that was restored from a copy. The original may have gone on and sent
/// any of it; op ids tell the server what it took.
///
///     restored (hold) ──▶ held ──released──▶ sent
///                          └────dropped──▶ given up: withdrawn where it may have been sent
extension ClientState {
  /// The operations that a restored copy held and that wait for a decision, in outbox order.
  package var heldOperations: [OutboxOperation] {
    restoration == nil ? [] : keptOperations.filter { $0.isHeld && $0.isUnsettled }
  }

  mutating func restore(_ restoration: Restoration, _ effects: inout StateEffects) {
    self.restoration = restoration
    for id in order where operations[id]?.settlement == nil { operations[id]?.isHeld = true }
    switch restoration.outbox {
    case .hold: effects.operations.formUnion(order)
    case .send: release(&effects)
    case .drop: dropHeld(&effects)
    }
  }

  /// What is held goes its usual way.
  mutating func release(_ effects: inout StateEffects) {
    for id in order where operations[id]?.isHeld == true {
      operations[id]?.isHeld = false
      effects.operations.insert(id)
    }
  }

  /// What is held and in its lane is given up as if discarded; drafts and dead letters stay.
  mutating func dropHeld(_ effects: inout StateEffects) {
    let dropped = heldOperations.map(\.operation.id)
    release(&effects)
    for id in dropped {
      guard var kept = operations[id] else { continue }
      kept.departure = Departure(root: id, members: [id], reason: .withdrawn)
      kept.isDecided = true
      operations[id] = kept
      updateOverlay(of: kept)
      refresh(kept.operation.record, &effects)
      dropIfOver(id)
    }
  }
}
