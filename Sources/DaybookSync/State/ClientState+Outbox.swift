package import DaybookFormat

extension ClientState {
  /// Folds one entry of either stream; `position` is its number in its stream.
  ///
  /// Entries of the server's stream have no meaning here and change nothing.
  @discardableResult
  package mutating func apply(_ entry: Entry, position: UInt64) -> StateEffects {
    var effects = StateEffects()
    prepare(for: entry, position: position, &effects)
    switch entry {
    case .operation(let operation): append(operation, position: position, &effects)
    case .settlement(let settlement): settle(settlement, isRecorded: true, &effects)
    case .attempt(let attempt):
      for id in attempt.operationIDs { operations[id]?.isAttempted = true }
    case .departure(let departure): depart(departure, &effects)
    case .decision(let decision): decide(decision, &effects)
    case .gap(let gap): bridge(gap, position: position, &effects)
    case .binding(let binding):
      self.binding = binding
      registered.insert(binding.incarnation)
    case .restored(let restoration): restore(restoration, &effects)
    case .change(let change): fold(change, &effects)
    case .cursor(let cursor): move(to: cursor, &effects)
    case .bootstrap(let step): bootstrap(step, &effects)
    case .heldRow(let row): load(row)
    case .scopeBase(let base): load(base)
    case .feedSettlement(let told): load(told)
    case .verdict, .incarnation, .history: break
    }
    return effects
  }

  private mutating func append(
    _ operation: Operation, position: UInt64, _ effects: inout StateEffects
  ) {
    guard operations[operation.id] == nil else { return }
    let kept = OutboxOperation(operation: operation, position: position)
    operations[operation.id] = kept
    order.append(operation.id)
    recordOperations[operation.record, default: []].append(operation.id)
    if operation.incarnation == incarnation { nextNumber = max(nextNumber, operation.number + 1) }
    clock = max(clock, operation.clock)
    if case .operation(let base) = operation.base { dependents[base, default: 0] += 1 }
    if let old = operation.supersedes.flatMap({ operations[$0] }), old.isWithdrawn,
      old.operation.incarnation == incarnation
    {
      supersededNumbers[operation.id] = old.operation.number
    }
    if kept.isLaidOver {
      layOver(operation)
      refresh(operation.record, &effects)
    }
    effects.operations.insert(operation.id)
  }

  /// Records a verdict. The feed's word, that the operation took effect, overrules a refusal.
  mutating func settle(
    _ settlement: Settlement, isRecorded: Bool, _ effects: inout StateEffects
  ) {
    let id = settlement.operationID
    guard var kept = operations[id] else { return }
    if kept.settlement?.acceptance != nil {
      // The feed and the server tell of one effect; what is recorded stays as it is.
      if settlement.acceptance == nil || !kept.isSettlementUnrecorded { return }
    }
    kept.settlement = settlement
    kept.isSettlementUnrecorded = !isRecorded
    if settlement.acceptance != nil { kept.departure = nil }
    operations[id] = kept
    if let acceptance = settlement.acceptance { learn(acceptance) }
    updateOverlay(of: kept)
    effects.operations.insert(id)
    refresh(kept.operation.record, &effects)
    confirm(id, &effects)
    dropIfOver(id)
  }

  mutating func depart(_ departure: Departure, _ effects: inout StateEffects) {
    for id in departure.members {
      guard var kept = operations[id], kept.settlement?.acceptance == nil else { continue }
      kept.departure = departure
      operations[id] = kept
      updateOverlay(of: kept)
      effects.operations.insert(id)
      refresh(kept.operation.record, &effects)
    }
  }

  mutating func decide(_ decision: Decision, _ effects: inout StateEffects) {
    switch decision.kind {
    case .released: return release(&effects)
    case .dropped: return dropHeld(&effects)
    case .discarded, .retried, .resent: break
    }
    // The root may have taken effect after all, so the group is known by its members alone.
    let members = order.filter { operations[$0]?.departure?.root == decision.root }
    for id in members {
      guard var kept = operations[id] else { continue }
      switch decision.kind {
      case .resent:
        guard kept.hasFailed else { continue }
        kept.departure = nil
      case .discarded, .retried: kept.isDecided = true
      case .released, .dropped: continue
      }
      operations[id] = kept
      updateOverlay(of: kept)
      effects.operations.insert(id)
      refresh(kept.operation.record, &effects)
      dropIfOver(id)
    }
  }

  /// The highest place of the scope that a settlement tells of.
  private mutating func learn(_ acceptance: Settlement.Acceptance) {
    let place = ScopePosition(sequence: acceptance.sequence, mark: acceptance.version.mark)
    scopes[acceptance.scope, default: ScopeState()].learn(place)
  }

  /// Confirms the operation if its scope's base shows its effect, and forgets it once its
  /// settlement is in the outbox.
  mutating func confirm(_ id: Identifier, _ effects: inout StateEffects) {
    guard replayed == nil, isShown(id), let kept = operations[id] else { return }
    operations[id]?.isConfirmed = true
    if kept.isSettlementUnrecorded {
      removeOverlay(of: kept.operation)
    } else {
      drop(id)
    }
    effects.operations.insert(id)
    refresh(kept.operation.record, &effects)
  }

  /// Whether the base has reached the place at which the operation took effect.
  func isShown(_ id: Identifier) -> Bool {
    guard let acceptance = operations[id]?.settlement?.acceptance,
      let position = scopes[acceptance.scope]?.position
    else { return false }
    return position.sequence >= acceptance.sequence
  }

  /// Forgets an operation that was decided about and of which nothing can come back.
  mutating func dropIfOver(_ id: Identifier) {
    guard let kept = operations[id], kept.isDecided else { return }
    if !kept.isWithdrawn, !kept.isSettlementUnrecorded { drop(id) }
  }

  private mutating func drop(_ id: Identifier) {
    guard let kept = operations[id] else { return }
    order.remove(at: place(of: kept.position))
    forget(id)
  }

  /// Forgets an operation in everything but ``order``.
  mutating func forget(_ id: Identifier) {
    guard let kept = operations[id] else { return }
    operations[id] = nil
    supersededNumbers[id] = nil
    let record = kept.operation.record
    recordOperations[record]?.removeAll { $0 == id }
    if recordOperations[record]?.isEmpty == true { recordOperations[record] = nil }
    removeOverlay(of: kept.operation)
    if dependents[id] != nil, let version = kept.settlement?.acceptance?.version {
      givenVersions[id] = version
    }
    guard case .operation(let base) = kept.operation.base, let count = dependents[base] else {
      return
    }
    if count > 1 {
      dependents[base] = count - 1
    } else {
      dependents[base] = nil
      givenVersions[base] = nil
    }
  }

  /// The place in ``order`` of the operation at `position` of the outbox: found by halving.
  private func place(of position: UInt64) -> Int {
    var low = 0
    var high = order.count
    while low < high {
      let middle = (low + high) / 2
      if (operations[order[middle]]?.position ?? 0) < position {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  mutating func updateOverlay(of kept: OutboxOperation) {
    if kept.isLaidOver { layOver(kept.operation) } else { removeOverlay(of: kept.operation) }
  }

  /// Lays the operation over its record, at its place in outbox order.
  mutating func layOver(_ operation: Operation) {
    guard replayed == nil else { return }
    let key = operation.record
    var overlay = collection(key.collection).overlays[key.id] ?? []
    guard !overlay.contains(operation.id) else { return }
    let position = operations[operation.id]?.position ?? 0
    let place = overlay.firstIndex { (operations[$0]?.position ?? 0) > position }
    overlay.insert(operation.id, at: place ?? overlay.endIndex)
    collections[key.collection]?.overlays[key.id] = overlay
  }

  private mutating func removeOverlay(of operation: Operation) {
    let key = operation.record
    guard var overlay = collections[key.collection]?.overlays[key.id] else { return }
    overlay.removeAll { $0 == operation.id }
    collections[key.collection]?.overlays[key.id] = overlay.isEmpty ? nil : overlay
  }

  /// The collection `name`, made if the log has it and the schema lacks it.
  @discardableResult
  mutating func collection(_ name: String) -> CollectionState {
    if let collection = collections[name] { return collection }
    let collection = CollectionState(schema: nil)
    collections[name] = collection
    return collection
  }

  /// Tells observers and indexes that the record may be shown otherwise now.
  mutating func refresh(_ key: RecordKey, _ effects: inout StateEffects) {
    guard replayed == nil else { return }
    effects.records.insert(key)
    guard collections[key.collection]?.schema?.indexes.isEmpty == false else { return }
    let row = shown(key)?.row
    collections[key.collection]?.index(id: key.id, row: row)
  }
}
