package import DaybookFormat

/// Decides about one operation, given the record as it stands. Reads no clock and keeps nothing.
///
/// Order: schema, scope, existence, states, base, references. A named action is judged by its
/// states alone, so a cancel wins over an earlier edit. A patch never creates. Source:
/// `Docs/Sync.md`, section "Rules".
package struct Rules: Sendable {
  /// The schema that decides.
  package let schema: Schema

  /// Rules of `schema`.
  package init(schema: Schema) { self.schema = schema }

  /// Judges `operation`.
  ///
  /// - Parameters:
  ///   - operation: what is asked for.
  ///   - base: the version that its author had before them, once known; `nil` for none.
  ///   - current: the record as it stands; `nil` if it has never been there.
  ///   - exists: whether a record that a field refers to is there.
  package func judge(
    _ operation: Operation, base: Version?, current: CurrentRecord?,
    exists: (RecordKey) -> Bool
  ) -> Judgement {
    guard let collection = schema[operation.record.collection] else {
      return refuse(.schemaMismatch, "The server's schema has no such collection.", current)
    }
    do throws(SchemaError) {
      try schema.check(
        operation.action, collection: collection.name, fields: operation.fields,
        unset: operation.unset, keepsUnknownFields: true)
    } catch {
      return refuse(.schemaMismatch, error.description, current)
    }
    if let refusal = judgeScope(operation, current) { return .refused(refusal) }
    let fields = combinedFields(of: operation, in: collection)
    if let target = missingReference(in: fields, of: collection, exists: exists) {
      return refuse(.missingReference, "The field \(target) refers to a missing record.", current)
    }
    if operation.action == .create {
      return judgeCreate(operation, collection, current)
    }
    guard let current else {
      return refuse(.unknownRecord, "There is no such record.", nil)
    }
    guard let row = current.row else {
      return refuse(.deletedRecord, "The record has been deleted.", current)
    }
    let effect = effect(of: operation, fields: fields)
    if let refusal = judgeStates(operation, collection, row: row, effect: effect, current) {
      return .refused(refusal)
    }
    if case .named = operation.action { return .effect(effect) }
    return judgePolicy(operation, collection.policy, base: base, effect: effect, current)
  }

  private func judgeCreate(
    _ operation: Operation, _ collection: CollectionSchema, _ current: CurrentRecord?
  ) -> Judgement {
    if let current, current.row != nil {
      return refuse(.recordExists, "There is a record of this id already.", current)
    }
    if let states = collection.states {
      let state = operation.fields[states.field]?.text ?? ""
      guard states.initial.contains(state) else {
        return refuse(.stateRule, "A new record can't begin in this state.", current)
      }
    }
    return .effect(Judgement.Effect(extent: .row, fields: operation.fields))
  }

  private func judgeScope(
    _ operation: Operation, _ current: CurrentRecord?
  ) -> Settlement.Refusal? {
    if let current {
      guard current.scope == operation.scope else {
        return refusal(.wrongScope, "The record belongs to another scope.", nil)
      }
    } else if operation.action == .create {
      let scope = try? schema.scope(
        of: operation.record.collection, row: operation.fields, account: operation.account)
      guard scope == operation.scope else {
        return refusal(.wrongScope, "The record's scope is not the one that its fields name.", nil)
      }
    }
    guard schema.isPulled(scope: operation.scope, by: operation.account) else {
      return refusal(.wrongScope, "This account may not write to the record's scope.", nil)
    }
    return nil
  }

  private func judgeStates(
    _ operation: Operation, _ collection: CollectionSchema, row: ValueMap,
    effect: Judgement.Effect, _ current: CurrentRecord
  ) -> Settlement.Refusal? {
    guard let states = collection.states else { return nil }
    let state = row[states.field]?.text ?? ""
    if case .named(let name) = operation.action, let action = collection.actions[name] {
      guard action.from.isEmpty ? !states.final.contains(state) : action.from.contains(state)
      else { return refusal(.stateRule, "The record's state does not allow this.", current) }
      return nil
    }
    guard !states.final.contains(state) else {
      return refusal(.stateRule, "The record is in a final state.", current)
    }
    guard let next = effect.applied(to: row) else { return nil }
    let nextState = next[states.field]?.text ?? ""
    guard nextState == state || states.transitions[state]?.contains(nextState) == true else {
      return refusal(.stateRule, "The record's state can't change this way.", current)
    }
    return nil
  }

  private func judgePolicy(
    _ operation: Operation, _ policy: Policy, base: Version?, effect: Judgement.Effect,
    _ current: CurrentRecord
  ) -> Judgement {
    switch policy {
    case .serverOrder:
      return .effect(effect)
    case .plainTimestamp:
      guard operation.clock > current.lastWrite else {
        return .effect(Judgement.Effect(extent: .delta, isSuperfluous: true))
      }
      return .effect(effect)
    case .versionCheck:
      guard base == current.version else {
        return refuse(.staleBase, "The record has changed since it was read.", current)
      }
      return .effect(effect)
    }
  }

  private func effect(of operation: Operation, fields: ValueMap) -> Judgement.Effect {
    switch operation.action {
    case .create, .replace: return Judgement.Effect(extent: .row, fields: fields)
    case .patch, .named:
      return Judgement.Effect(extent: .delta, fields: fields, unset: operation.unset)
    case .delete: return Judgement.Effect(extent: .removal)
    }
  }

  /// The fields of the operation, and those that its named action sets by the server's schema.
  private func combinedFields(
    of operation: Operation, in collection: CollectionSchema
  ) -> ValueMap {
    guard case .named(let name) = operation.action, let action = collection.actions[name] else {
      return operation.fields
    }
    return operation.fields.applying(set: action.set, unset: [])
  }

  private func missingReference(
    in fields: ValueMap, of collection: CollectionSchema, exists: (RecordKey) -> Bool
  ) -> String? {
    collection.references(in: fields).first { !exists($0.record) }?.field
  }

  private func refuse(
    _ code: RefusalCode, _ message: String, _ current: CurrentRecord?
  ) -> Judgement {
    .refused(refusal(code, message, current))
  }

  private func refusal(
    _ code: RefusalCode, _ message: String, _ current: CurrentRecord?
  ) -> Settlement.Refusal {
    Settlement.Refusal(
      code: code, message: message, currentVersion: current?.version, currentRow: current?.row)
  }
}
