package import DaybookFormat

/// A base that came from a snapshot, while the outbox before it is replayed.
struct ReplayedBase: Sendable, Hashable {
  /// What the feed had told before the outbox recorded it, by the place at which it did.
  var told: ArraySlice<FeedSettlement> = []
}

/// The base as entries, and a base made of them.
///
/// A snapshot holds the base alone; the outbox is replayed whole over it. Replay puts the base
/// there first, so an operation could be confirmed, and forgotten, before those that build on it
/// are there. While a base waits for its outbox, nothing is confirmed, laid over or indexed; all of
/// that is done at once with the first entry of the feed behind the snapshot, or by `endReplay`.
/// Then the state is that of a full replay. Source: `Docs/Format.md`, section "Snapshots".
extension ClientState {
  /// Gives the entries of the base to `body` in canonical order: scopes by name, records by
  /// collection and id, then the records of bases that bootstraps build, by scope.
  package func exportBase<Failure: Error>(
    _ body: (Entry) throws(Failure) -> Void
  ) throws(Failure) {
    let names = scopes.filter { !$0.value.isEmptyBase }.keys.sorted(by: ByteOrder.precedes)
    for name in names {
      guard let scope = scopes[name] else { continue }
      try body(.scopeBase(ScopeBase(name, scope, epoch: epoch)))
    }
    if names.isEmpty, let epoch { try body(.scopeBase(ScopeBase(scope: nil, epoch: epoch))) }
    for name in collections.keys.sorted(by: ByteOrder.precedes) {
      guard let base = collections[name]?.base else { continue }
      for id in base.keys.sorted(by: ByteOrder.precedes) {
        guard let held = base[id] else { continue }
        try body(.heldRow(HeldRow(RecordKey(name, id), held, isBeingBuilt: false)))
      }
    }
    for name in names {
      guard let rows = scopes[name]?.bootstrap?.rows else { continue }
      for key in rows.keys.sorted() {
        guard let held = rows[key] else { continue }
        try body(.heldRow(HeldRow(key, held, isBeingBuilt: true)))
      }
    }
  }

  /// Ends a replay: confirms, lays over and indexes what has waited for it. To be called once all
  /// entries of a log are applied; without a snapshot it does nothing.
  package mutating func endReplay() {
    var effects = StateEffects()
    endReplay(&effects)
  }

  private mutating func endReplay(_ effects: inout StateEffects) {
    guard replayed != nil else { return }
    takeTold(before: .max, &effects)
    replayed = nil
    for id in order where isShown(id) {
      operations[id]?.isConfirmed = true
      if operations[id]?.isSettlementUnrecorded == false { forget(id) }
    }
    // All at once: taken out one by one, the rest would be moved each time.
    order.removeAll { operations[$0] == nil }
    for kept in keptOperations where kept.isLaidOver { layOver(kept.operation) }
    for (name, collection) in collections where collection.schema?.indexes.isEmpty == false {
      for id in Set(collection.base.keys).union(collection.overlays.keys) {
        refresh(RecordKey(name, id), &effects)
      }
    }
  }

  /// Does what `entry` must find done, if a base waits for its outbox.
  mutating func prepare(for entry: Entry, position: UInt64, _ effects: inout StateEffects) {
    guard replayed != nil else { return }
    switch entry {
    case .change, .cursor, .bootstrap: endReplay(&effects)
    case .heldRow, .scopeBase, .feedSettlement, .verdict, .incarnation, .history: break
    default: takeTold(before: position, &effects)
    }
  }

  /// Takes what the feed told before the outbox entry `position`, at the place where it did.
  private mutating func takeTold(before position: UInt64, _ effects: inout StateEffects) {
    while let next = replayed?.told.first, next.after < position {
      replayed?.told.removeFirst()
      settle(next.settlement, isRecorded: false, &effects)
    }
  }

  mutating func load(_ row: HeldRow) {
    if replayed == nil { replayed = ReplayedBase() }
    let held = HeldRecord(rowBytes: row.rowBytes, version: row.version, scope: row.scope)
    // Also for a row that is not shown yet: what ends its bootstrap counts on it.
    collection(row.record.collection)
    if row.isBeingBuilt {
      scopes[row.scope]?.bootstrap?.rows[row.record] = held
    } else {
      collections[row.record.collection]?.base[row.record.id] = held
    }
  }

  mutating func load(_ base: ScopeBase) {
    if replayed == nil { replayed = ReplayedBase() }
    epoch = base.epoch
    guard let name = base.scope else { return }
    var scope = ScopeState()
    scope.position = base.position
    scope.holes = base.holes
    scope.bootstrap = base.bootstrap.map {
      ScopeState.Bootstrap(epoch: $0.epoch, position: $0.position, after: $0.after)
    }
    scopes[name] = scope
  }

  mutating func load(_ told: FeedSettlement) {
    if replayed == nil { replayed = ReplayedBase() }
    replayed?.told.append(told)
  }
}

extension ScopeState {
  /// The feed has told nothing of it: what is known comes from settlements.
  fileprivate var isEmptyBase: Bool { position == nil && bootstrap == nil && holes.isEmpty }
}

extension ScopeBase {
  fileprivate init(_ name: String, _ scope: ScopeState, epoch: Identifier?) {
    self.init(
      scope: name, epoch: epoch, position: scope.position, holes: scope.holes,
      bootstrap: scope.bootstrap.map {
        Bootstrap(epoch: $0.epoch, position: $0.position, after: $0.after)
      })
  }
}

extension HeldRow {
  fileprivate init(_ key: RecordKey, _ held: HeldRecord, isBeingBuilt: Bool) {
    self.init(
      record: key, scope: held.scope, version: held.version, rowBytes: held.rowBytes,
      isBeingBuilt: isBeingBuilt)
  }
}
