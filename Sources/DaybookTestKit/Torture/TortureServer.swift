import DaybookFormat

/// The server of a torture run: one scope of small rows, judged by rules of a few lines.
struct TortureServer {
  /// One change of its history.
  struct Fact {
    let operationID: Identifier
    let sequence: UInt64
    let version: UInt64
    let operation: TortureOperation
    /// The row afterwards; `nil` if it was removed.
    let row: [String: Int64]?
  }

  /// What it decided about an operation.
  enum Verdict {
    case accepted(Fact)
    case refused
  }

  static let scope = "shop"
  static let collection = "items"
  static let epoch = Identifier(high: 7, low: 7)

  private(set) var history: [Fact] = []
  private(set) var verdicts: [Identifier: Verdict] = [:]
  private var live: [String: [String: Int64]] = [:]
  private var versions: [String: UInt64] = [:]
  private var recordCount = 0

  /// The sequence number of its newest change.
  var head: UInt64 { UInt64(history.count) }

  /// The records that are there, in a fixed order.
  var records: [String] { live.keys.sorted() }

  /// The id of a record that has never been there.
  mutating func newRecord() -> String {
    recordCount += 1
    return "r\(recordCount)"
  }

  /// Judges an operation, once; a repetition gets the same answer.
  mutating func judge(_ operation: TortureOperation, refuses: Bool = false) -> Verdict {
    if let known = verdicts[operation.id] { return known }
    let verdict = decide(operation, refuses: refuses)
    verdicts[operation.id] = verdict
    return verdict
  }

  private mutating func decide(_ operation: TortureOperation, refuses: Bool) -> Verdict {
    let row = live[operation.record]
    if refuses || (row != nil) == (operation.action == .create) { return .refused }
    if operation.action == .create, versions[operation.record] != nil { return .refused }
    let after = TortureServer.row(after: operation, on: row)
    let sequence = head + 1
    let version = versions[operation.record].map { $0 + 1 } ?? sequence
    live[operation.record] = after
    versions[operation.record] = version
    let fact = Fact(
      operationID: operation.id, sequence: sequence, version: version, operation: operation,
      row: after)
    history.append(fact)
    return .accepted(fact)
  }

  /// The row after `operation` on `row`, in the model's own words.
  static func row(
    after operation: TortureOperation, on row: [String: Int64]?
  ) -> [String: Int64]? {
    switch operation.action {
    case .create: return operation.fields
    case .delete: return nil
    default:
      guard var row else { return nil }
      for name in operation.unset { row[name] = nil }
      for (name, value) in operation.fields { row[name] = value }
      return row
    }
  }

  /// All rows as of `sequence`.
  func rows(at sequence: UInt64) -> [String: [String: Int64]] {
    if sequence >= head { return live }
    var rows: [String: [String: Int64]] = [:]
    for fact in history.prefix(Int(sequence)) { rows[fact.operation.record] = fact.row }
    return rows
  }

  /// The scope's mark at a sequence number.
  static func mark(_ sequence: UInt64) -> UInt64 {
    var random = SplitMix64(seed: sequence)
    return random.next()
  }

  // MARK: - Entries

  /// The change that tells of `fact`.
  func change(_ fact: Fact) -> TortureEntry {
    let extent: Change.Extent =
      switch fact.operation.action {
      case .create: .row
      case .delete: .removal
      default: .delta
      }
    return TortureEntry(
      .change(
        Change(
          operationID: fact.operationID, sequence: fact.sequence,
          version: Version(number: fact.version, mark: TortureServer.mark(fact.sequence)),
          seen: 0, deviceClock: HybridTime(rawValue: fact.sequence << 16),
          serverTime: Timestamp(milliseconds: Int64(fact.sequence)),
          action: fact.operation.action, extent: extent, scope: TortureServer.scope,
          record: RecordKey(TortureServer.collection, fact.operation.record),
          account: TortureWorld.account, device: TortureWorld.device,
          fields: TortureServer.values(fact.operation.fields), unset: fact.operation.unset)),
      .change(sequence: fact.sequence))
  }

  /// The row of `record` as of now, for a bootstrap.
  func rowChange(_ record: String) -> TortureEntry? {
    guard let fact = history.last(where: { $0.operation.record == record }), let row = fact.row
    else { return nil }
    return TortureEntry(
      .change(
        Change(
          operationID: fact.operationID, sequence: fact.sequence,
          version: Version(number: fact.version, mark: TortureServer.mark(fact.sequence)),
          seen: 0, deviceClock: HybridTime(rawValue: fact.sequence << 16),
          serverTime: Timestamp(milliseconds: Int64(fact.sequence)), action: .create,
          extent: .row, scope: TortureServer.scope,
          record: RecordKey(TortureServer.collection, record), account: TortureWorld.account,
          device: TortureWorld.device, fields: TortureServer.values(row))))
  }

  /// The cursor at `sequence`.
  static func cursor(_ sequence: UInt64) -> TortureEntry {
    TortureEntry(
      .cursor(
        Cursor(
          epoch: epoch,
          positions: [scope: ScopePosition(sequence: sequence, mark: mark(sequence))])),
      .cursor(sequence: sequence))
  }

  static func values(_ fields: [String: Int64]) -> ValueMap {
    ValueMap(fields.mapValues { Value.int($0) })
  }
}
