import DaybookFormat

/// Picks the entries that are about one record: its operations and changes, and what was said of
/// those operations.
///
/// A server's row of a refused operation does not name the record; it counts if the current version
/// in it is one of the record's, since a version's mark is that of one change alone.
struct RecordEntries {
  let record: RecordKey
  private var operations: Set<Identifier> = []
  private var versions: Set<Version> = []

  init(_ record: RecordKey) { self.record = record }

  /// Whether `entry` is about the record; to be asked about each entry in replay order.
  mutating func contains(_ entry: Entry) -> Bool {
    switch entry {
    case .operation(let operation):
      guard operation.record == record else { return false }
      operations.insert(operation.id)
      return true
    case .change(let change):
      guard change.record == record else { return false }
      operations.insert(change.operationID)
      versions.insert(change.version)
      return true
    case .settlement(let settlement): return operations.contains(settlement.operationID)
    case .verdict(let row):
      if operations.contains(row.settlement.operationID) { return true }
      guard let version = row.settlement.refusal?.currentVersion else { return false }
      return versions.contains(version)
    case .attempt(let attempt): return attempt.operationIDs.contains(where: operations.contains)
    case .departure(let departure): return departure.members.contains(where: operations.contains)
    case .decision(let decision): return operations.contains(decision.root)
    case .heldRow(let row): return row.record == record
    case .feedSettlement(let told): return operations.contains(told.settlement.operationID)
    case .binding, .gap, .restored, .cursor, .bootstrap, .scopeBase, .incarnation, .history:
      return false
    }
  }
}
