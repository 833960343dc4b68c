package import DaybookFormat
package import DaybookSync

/// A transaction on a ``ServerState`` that writes nothing to it: what it would write is collected,
/// for its owner to make durable and then apply.
package struct StagedTransaction: ServerTransaction {
  private let state: ServerState
  /// What has been written, in order.
  package private(set) var entries: [Entry] = []
  private var records: [RecordKey: CurrentRecord] = [:]
  private var heads: [String: ScopeHead] = [:]
  private var verdicts: [Identifier: VerdictRow] = [:]
  private var numbers: [Identifier: [UInt64: Identifier]] = [:]
  private var incarnations: [Identifier: IncarnationRow] = [:]

  /// A transaction that has written nothing yet.
  package init(on state: ServerState) { self.state = state }

  /// The record as this transaction sees it.
  package func record(_ key: RecordKey) -> CurrentRecord? { records[key] ?? state.record(key) }

  /// The head of `scope` as this transaction sees it.
  package func head(of scope: String) -> ScopeHead { heads[scope] ?? state.head(of: scope) }

  /// The row of an op id as this transaction sees it.
  package func verdict(of operationID: Identifier) -> VerdictRow? {
    if let staged = verdicts[operationID] { return staged }
    guard let kept = state.verdict(of: operationID) else { return nil }
    // A watermark that this transaction raised has pruned it.
    if let row = incarnations[kept.incarnation], kept.number < row.watermark { return nil }
    return kept
  }

  /// The op id that a number of an incarnation was used for.
  package func operationID(incarnation: Identifier, number: UInt64) -> Identifier? {
    numbers[incarnation]?[number] ?? state.operationID(incarnation: incarnation, number: number)
  }

  /// What is known of an incarnation.
  package func incarnation(_ id: Identifier) -> IncarnationRow? {
    incarnations[id] ?? state.incarnation(id)
  }

  /// Whether `position` lies in the history before this transaction.
  package func contains(_ position: ScopePosition, of scope: String) -> Bool? {
    state.contains(position, of: scope)
  }

  /// The scopes before this transaction.
  package var scopes: [String] { state.scopes }

  /// The changes before this transaction.
  package func changes(
    of scope: String, after sequence: UInt64, limit: Int
  ) -> ArraySlice<Change> {
    state.changes(of: scope, after: sequence, limit: limit)
  }

  /// The rows before this transaction.
  package func rows(of scope: String, after key: RecordKey?, limit: Int) -> [Change] {
    state.rows(of: scope, after: key, limit: limit)
  }

  /// Appends a change with the record as it is afterwards.
  package mutating func append(_ change: Change, record: CurrentRecord, hash: [UInt8]) {
    entries.append(.change(change))
    records[change.record] = record
    heads[change.scope] = ScopeHead(sequence: change.sequence, hash: hash)
  }

  /// Keeps a verdict.
  package mutating func put(_ verdict: VerdictRow) {
    entries.append(.verdict(verdict))
    verdicts[verdict.settlement.operationID] = verdict
    if !verdict.digest.isEmpty {
      numbers[verdict.incarnation, default: [:]][verdict.number] = verdict.settlement.operationID
    }
  }

  /// Keeps what is known of an incarnation.
  package mutating func put(_ incarnation: IncarnationRow) {
    entries.append(.incarnation(incarnation))
    incarnations[incarnation.incarnation] = incarnation
  }

  /// Runs `body`; if it returns `false`, what it wrote is undone.
  package mutating func savepoint(
    _ body: (inout any ServerTransaction) throws(ServerProblem) -> Bool
  ) throws(ServerProblem) {
    var inner: any ServerTransaction = self
    guard try body(&inner), let kept = inner as? StagedTransaction else { return }
    self = kept
  }
}
