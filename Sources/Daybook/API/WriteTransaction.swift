public import DaybookFormat
import DaybookSync

/// What a write does: collected while its body runs, durable together or not at all.
///
/// Reads see what earlier calls of the same body did. All records must be of one scope.
public struct WriteTransaction: ~Copyable {
  /// The most operations in one write: a group that a server takes in one savepoint.
  public static let operationLimit = 256
  /// The most bytes of operations in one write: 1 MiB.
  public static let byteLimit = 1 << 20

  /// One operation to be, before it has an id.
  struct Intent {
    let record: RecordKey
    let scope: String
    let action: Action
    let fields: ValueMap
    let unset: [String]
    let supersedes: Identifier?
    /// The intent of this body on the same record before this one.
    let earlier: Int?
  }

  let account: String
  let state: ClientState
  let staged: StagedWrites
  private(set) var intents: [Intent] = []
  private var rows: [RecordKey: ValueMap?] = [:]
  private var latest: [RecordKey: Int] = [:]

  init(account: String, state: ClientState, staged: StagedWrites) {
    self.account = account
    self.state = state
    self.staged = staged
  }

  /// The record `id`, with what this body has done to it.
  public func get<R: Record>(_ type: R.Type, _ id: R.ID) throws(DaybookError) -> R? {
    let key = RecordKey(R.collection, id.recordID)
    guard let row = row(of: key) else { return nil }
    return try RecordCoding.record(type, id: key.id, row: row)
  }

  /// Makes a new record.
  ///
  /// - Throws: `recordExists` if one of this id is shown, `schema` if a field does not fit.
  public mutating func insert(_ record: some Record) throws(DaybookError) {
    let key = RecordKey(type(of: record).collection, record.id.recordID)
    try checkID(key)
    guard row(of: key) == nil else {
      throw DaybookError(.recordExists, "There is a record \(key) already. Update it instead.")
    }
    try add(.create, key, fields: RecordCoding.row(of: record), unset: [])
  }

  /// Changes a record: sends the top-level fields that differ afterwards; `nil` means unset.
  ///
  /// Does nothing if `change` leaves the record as it is.
  public mutating func update<R: Record>(
    _ type: R.Type, _ id: R.ID, _ change: (inout R) throws -> Void
  ) throws {
    let key = RecordKey(R.collection, id.recordID)
    guard let row = row(of: key) else { throw WriteTransaction.missing(key) }
    let before = try RecordCoding.record(type, id: key.id, row: row)
    var after = before
    try change(&after)
    let old = try RecordCoding.row(of: before)
    let new = try RecordCoding.row(of: after)
    var fields: ValueMap = [:]
    for entry in new.entries where old[key: entry.key] != entry.value {
      fields[key: entry.key] = entry.value
    }
    let unset = old.names.filter { new[$0] == nil }
    if fields.isEmpty, unset.isEmpty { return }
    try add(.patch, key, fields: fields, unset: unset)
  }

  /// Sets the whole row of a record: fields that the type does not know are unset.
  public mutating func replace(_ record: some Record) throws(DaybookError) {
    let key = RecordKey(type(of: record).collection, record.id.recordID)
    guard row(of: key) != nil else { throw WriteTransaction.missing(key) }
    try add(.replace, key, fields: RecordCoding.row(of: record), unset: [])
  }

  /// Removes a record.
  public mutating func delete<R: Record>(_ type: R.Type, _ id: R.ID) throws(DaybookError) {
    let key = RecordKey(R.collection, id.recordID)
    guard row(of: key) != nil else { throw WriteTransaction.missing(key) }
    try add(.delete, key, fields: [:], unset: [])
  }

  /// Performs an action of the schema, with further fields if it takes any.
  public mutating func perform(
    _ action: String, on key: RecordKey, fields: ValueMap = [:]
  ) throws(DaybookError) {
    guard row(of: key) != nil else { throw WriteTransaction.missing(key) }
    let set = state.schema[key.collection]?.actions[action]?.set ?? [:]
    try add(.named(action), key, fields: fields.applying(set: set, unset: []), unset: [])
  }

  // MARK: - Inside

  /// The row as this body sees it.
  func row(of key: RecordKey) -> ValueMap? { rows[key] ?? staged.row(of: key, in: state) }

  /// Does once more what `old` did, with these fields, in its place.
  mutating func `repeat`(_ old: Operation, fields: ValueMap) throws(DaybookError) {
    guard old.action == .create || row(of: old.record) != nil else {
      throw WriteTransaction.missing(old.record)
    }
    try add(old.action, old.record, fields: fields, unset: old.unset, supersedes: old.id)
  }

  private mutating func add(
    _ action: Action, _ key: RecordKey, fields: ValueMap, unset: [String],
    supersedes: Identifier? = nil
  ) throws(DaybookError) {
    let scope: String
    do throws(SchemaError) {
      try state.schema.check(action, collection: key.collection, fields: fields, unset: unset)
      if let earlier = latest[key] {
        scope = intents[earlier].scope
      } else if action != .create, let known = staged.scope(of: key, in: state) {
        scope = known
      } else {
        scope = try state.schema.scope(of: key.collection, row: fields, account: account)
      }
      if action == .replace || action == .create,
        case .field(let field) = state.schema[key.collection]?.scope,
        try state.schema.scope(of: key.collection, row: fields, account: account) != scope
      {
        throw .scope(collection: key.collection, field: field)
      }
    } catch {
      throw DaybookError(.schema, error.description, cause: error)
    }
    if let first = intents.first, first.scope != scope {
      throw DaybookError(
        .severalScopes,
        "One write can't change records of two scopes (\(first.scope), \(scope)): use two writes.")
    }
    guard intents.count < WriteTransaction.operationLimit else {
      throw DaybookError(
        .tooLarge, "One write takes at most \(WriteTransaction.operationLimit) operations.")
    }
    intents.append(
      Intent(
        record: key, scope: scope, action: action, fields: fields, unset: unset,
        supersedes: supersedes, earlier: latest[key]))
    latest[key] = intents.count - 1
    rows[key] = Overlay.row(action, fields: fields, unset: unset, on: row(of: key))
  }

  private func checkID(_ key: RecordKey) throws(DaybookError) {
    guard (1...512).contains(key.id.utf8.count) else {
      throw DaybookError(.schema, "A record's id must be 1 to 512 bytes long.")
    }
  }

  static func missing(_ key: RecordKey) -> DaybookError {
    DaybookError(.noSuchRecord, "There is no record \(key) to change.")
  }
}
