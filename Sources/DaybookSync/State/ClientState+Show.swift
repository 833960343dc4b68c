package import DaybookFormat

extension ClientState {
  /// The record as it is shown: the base with the own operations laid over it.
  package func shown(_ key: RecordKey) -> ShownRecord? {
    guard let collection = collections[key.collection] else { return nil }
    let held = collection.base[key.id]
    let overlay = collection.overlays[key.id] ?? []
    var row = held?.row
    for id in overlay {
      if let kept = operations[id] { row = Overlay.apply(kept.operation, to: row) }
    }
    guard let row else { return nil }
    return ShownRecord(key: key, row: row, version: held?.version, isPending: !overlay.isEmpty)
  }

  /// The record of the base, without anything laid over; a tombstone too.
  package func held(_ key: RecordKey) -> HeldRecord? {
    collections[key.collection]?.base[key.id]
  }

  /// What the author of an operation on `key` has before them: the own earlier operation that is
  /// not confirmed, whatever its strategy, else the version of the base.
  package func base(for key: RecordKey) -> Base {
    let earlier = recordOperations[key]?.last { id in
      guard let kept = operations[id] else { return false }
      return kept.isUnsettled || (kept.settlement?.acceptance != nil && !kept.isConfirmed)
    }
    if let earlier { return .operation(earlier) }
    guard let held = held(key), held.rowBytes != nil else { return .none }
    return .version(held.version)
  }

  /// The scope's sequence number that the user sees in `scope`.
  package func seen(in scope: String) -> UInt64 { scopes[scope]?.position?.sequence ?? 0 }

  /// The version that the base of `operation` has become, to be sent beside its bytes; `nil` if the
  /// operation names a version itself or its base is not settled.
  package func settledBase(of operation: Operation) -> Version? {
    guard case .operation(let id) = operation.base else { return nil }
    return operations[id]?.settlement?.acceptance?.version ?? givenVersions[id]
  }
}

/// How one operation is laid over a row.
package enum Overlay {
  /// The row after `operation` on `row`: what the server's rules would make of it if they accept
  /// it. A patch of a record that is not there shows nothing until the record arrives.
  package static func apply(_ operation: Operation, to row: ValueMap?) -> ValueMap? {
    self.row(operation.action, fields: operation.fields, unset: operation.unset, on: row)
  }

  /// The row after an action with these fields on `row`.
  package static func row(
    _ action: Action, fields: ValueMap, unset: [String], on row: ValueMap?
  ) -> ValueMap? {
    switch action {
    case .create: return fields
    case .replace: return row == nil ? nil : fields
    case .delete: return nil
    case .patch, .named: return row?.applying(set: fields, unset: unset)
    }
  }
}

extension ClientState {
  /// The scope that the record belongs to, from the base or from the own operations on it.
  package func scope(of key: RecordKey) -> String? {
    if let held = held(key) { return held.scope }
    return recordOperations[key]?.first.flatMap { operations[$0]?.operation.scope }
  }
}

extension ClientState {
  /// Whether every scope that holds records of the collection, as far as known, has a complete
  /// base.
  package func isComplete(_ collection: String) -> Bool {
    switch schema[collection]?.scope {
    case .constant(let name): return scopes[name]?.position != nil
    case .account, .field, nil:
      return !scopes.isEmpty && scopes.values.allSatisfy { $0.position != nil }
    }
  }
}
