import DaybookFormat

extension ClientState {
  /// Folds one change into the base, or into the base that a bootstrap of its scope builds.
  ///
  /// A whole row counts if it is newer than what is held, a delta if it follows it; what is not
  /// newer is ignored; a hole that stays asks for the scope anew. A row that was deleted while a
  /// bootstrap read pages leaves one until its removal is pulled.
  mutating func fold(_ change: Change, _ effects: inout StateEffects) {
    let key = change.record
    collection(key.collection)
    if scopes[change.scope]?.bootstrap != nil {
      scopes[change.scope]?.bootstrap?.rows[key] = HeldRecord(
        rowBytes: change.extent == .removal ? nil : RowBytes.encode(change.fields),
        version: change.version, scope: change.scope)
      return
    }
    let held = collections[key.collection]?.base[key.id]
    if let next = next(change, held: held) {
      collections[key.collection]?.base[key.id] = next
      refresh(key, &effects)
    }
    settleOwn(change, &effects)
  }

  private mutating func next(_ change: Change, held: HeldRecord?) -> HeldRecord? {
    if let held, held.scope == change.scope, held.version.number >= change.version.number {
      return nil
    }
    let rowBytes: [UInt8]?
    switch change.extent {
    case .row: rowBytes = RowBytes.encode(change.fields)
    case .removal: rowBytes = nil
    case .delta:
      guard let held, held.version.number + 1 == change.version.number else {
        scopes[change.scope, default: ScopeState()].holes.insert(change.record)
        return nil
      }
      rowBytes = held.row.map {
        RowBytes.encode($0.applying(set: change.fields, unset: change.unset))
      }
    }
    scopes[change.scope]?.holes.remove(change.record)
    return HeldRecord(rowBytes: rowBytes, version: change.version, scope: change.scope)
  }

  /// A change with the id of an own operation is its accepted settlement, unless somebody else used
  /// the id.
  private mutating func settleOwn(_ change: Change, _ effects: inout StateEffects) {
    guard let kept = operations[change.operationID], kept.settlement?.acceptance == nil,
      kept.operation.record == change.record, kept.operation.account == change.account,
      kept.operation.device == change.device
    else { return }
    let acceptance = Settlement.Acceptance(
      scope: change.scope, sequence: change.sequence, version: change.version)
    settle(
      Settlement(
        operationID: change.operationID, serverTime: change.serverTime,
        verdict: .accepted(acceptance)), isRecorded: false, &effects)
  }

  mutating func move(to cursor: Cursor, _ effects: inout StateEffects) {
    epoch = cursor.epoch
    for (name, position) in cursor.positions {
      var scope = scopes[name] ?? ScopeState()
      guard position.sequence > scope.position?.sequence ?? 0 || scope.position == nil else {
        continue
      }
      scope.position = position
      scopes[name] = scope
      effects.scopes.insert(name)
      confirmAll(in: name, &effects)
    }
  }

  mutating func bootstrap(_ step: BootstrapStep, _ effects: inout StateEffects) {
    let name = step.scope
    var scope = scopes[name] ?? ScopeState()
    effects.scopes.insert(name)
    switch step {
    case .begin(_, let epoch, let position):
      scope.bootstrap = ScopeState.Bootstrap(epoch: epoch, position: position)
      scopes[name] = scope
    case .page(_, let after):
      scope.bootstrap?.after = after
      scopes[name] = scope
    case .end:
      guard let built = scope.bootstrap else { return }
      scope.bootstrap = nil
      scope.holes = []
      scope.position = built.position
      scopes[name] = scope
      epoch = built.epoch
      replaceBase(of: name, with: built.rows, &effects)
      confirmAll(in: name, &effects)
    }
  }

  private mutating func replaceBase(
    of scope: String, with rows: [RecordKey: HeldRecord], _ effects: inout StateEffects
  ) {
    for (name, collection) in collections {
      for (id, held) in collection.base where held.scope == scope {
        let key = RecordKey(name, id)
        guard rows[key] == nil else { continue }
        collections[name]?.base[id] = nil
        refresh(key, &effects)
      }
    }
    for (key, held) in rows where self.held(key) != held {
      collections[key.collection]?.base[key.id] = held
      refresh(key, &effects)
    }
  }

  private mutating func confirmAll(in scope: String, _ effects: inout StateEffects) {
    let candidates = order.filter { operations[$0]?.settlement?.acceptance?.scope == scope }
    for id in candidates { confirm(id, &effects) }
  }
}
