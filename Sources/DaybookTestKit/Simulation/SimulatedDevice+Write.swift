package import DaybookFormat
import DaybookSync

/// One thing that a user does to one record.
package struct SimulatedEdit: Sendable {
  /// The record.
  package var record: RecordKey
  /// What is done.
  package var action: Action
  /// The fields set.
  package var fields: ValueMap
  /// The names of the fields unset.
  package var unset: [String]
  /// When it is shown and sent.
  package var strategy: Strategy
  /// The operation whose place it takes.
  package var supersedes: Identifier?

  /// Does `action` to `record`.
  package init(
    _ action: Action, _ record: RecordKey, _ fields: ValueMap = [:], unset: [String] = [],
    strategy: Strategy = .lazy, supersedes: Identifier? = nil
  ) {
    self.record = record
    self.action = action
    self.fields = fields
    self.unset = unset
    self.strategy = strategy
    self.supersedes = supersedes
  }
}

extension SimulatedDevice {
  /// Writes `edits` in one append, as one transaction if there are several; returns their op ids.
  @discardableResult
  package func write(_ edits: SimulatedEdit...) throws(PowerLost) -> [Identifier] {
    let operations = operations(of: edits)
    try append(operations.map(Entry.operation), to: .outbox)
    return operations.map(\.id)
  }

  /// Gives up the draft or dead letter named after `root`.
  package func discard(_ root: Identifier) throws(PowerLost) {
    try append([.decision(Decision(kind: .discarded, root: root, time: now))], to: .outbox)
  }

  /// Puts `edits` in the place of the draft or dead letter named after `root`, in one append.
  @discardableResult
  package func retry(
    _ root: Identifier, with edits: SimulatedEdit...
  ) throws(PowerLost) -> [Identifier] {
    let operations = operations(of: edits)
    let decision = Entry.decision(Decision(kind: .retried, root: root, time: now))
    try append([decision] + operations.map(Entry.operation), to: .outbox)
    return operations.map(\.id)
  }

  /// Gives up an operation that has no settlement, with what depends on it.
  package func withdraw(_ id: Identifier) throws(PowerLost) {
    try append([.departure(state.departure(of: id, reason: .withdrawn))], to: .outbox)
  }

  /// Sends the failed operations named after `root` again as they are.
  package func resend(_ root: Identifier) throws(PowerLost) {
    try append([.decision(Decision(kind: .resent, root: root, time: now))], to: .outbox)
  }

  /// Says that the operation's attempts are used up: it leaves its lane and stays shown.
  package func fail(_ id: Identifier) throws(PowerLost) {
    let departure = state.departure(of: id, reason: .failed(message: "It was tried too often."))
    try append([.departure(departure)], to: .outbox)
  }

  /// Operations made as a client makes them: based on the own last operation that is not confirmed,
  /// else on the row held; numbered without a gap.
  private func operations(of edits: [SimulatedEdit]) -> [Operation] {
    let transaction = edits.count > 1 ? makeIdentifier() : .zero
    var latest: [RecordKey: Identifier] = [:]
    var clock = state.clock
    var operations: [Operation] = []
    for (index, edit) in edits.enumerated() {
      clock = clock.next(at: now)
      let id = makeIdentifier()
      let base = latest[edit.record].map { Base.operation($0) } ?? state.base(for: edit.record)
      let scope = scope(of: edit)
      var membership: Operation.Membership?
      if edits.count > 1 {
        membership = Operation.Membership(
          id: transaction, index: UInt16(clamping: index), count: UInt16(clamping: edits.count))
      }
      operations.append(
        Operation(
          id: id, incarnation: incarnation, number: state.nextNumber + UInt64(index), clock: clock,
          seen: state.seen(in: scope), schemaVersion: schema.version,
          account: configuration.account, device: configuration.name, record: edit.record,
          scope: scope, strategy: edit.strategy, action: edit.action, base: base,
          transaction: membership, supersedes: edit.supersedes, fields: edit.fields,
          unset: edit.unset))
      latest[edit.record] = id
    }
    return operations
  }

  private func scope(of edit: SimulatedEdit) -> String {
    if let known = state.scope(of: edit.record) { return known }
    let named = try? schema.scope(
      of: edit.record.collection, row: edit.fields, account: configuration.account)
    return named ?? ""
  }

  private func makeIdentifier() -> Identifier {
    Identifier.version7(
      milliseconds: now.milliseconds, random: (random.next(), random.next()))
  }
}
