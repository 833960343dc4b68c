/// The truth about an app's data, for client, server and tools: one JSON file.
///
/// Source: `Docs/Sync.md`, section "Schema".
public struct Schema: Sendable, Hashable {
  /// The app's name for it.
  public let name: String
  /// Grows with each published change; fields are only ever added.
  public let version: UInt32
  /// The collections by name.
  public let collections: [String: CollectionSchema]
  /// The accounts that pull every scope, such as a back office.
  public let overseers: Set<String>

  /// A schema of `collections`.
  public init(
    name: String, version: UInt32 = 1, collections: [CollectionSchema],
    overseers: Set<String> = []
  ) {
    self.name = name
    self.version = version
    self.collections = Dictionary(
      collections.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    self.overseers = overseers
  }

  /// The collection `name`, if the schema has it.
  public subscript(name: String) -> CollectionSchema? { collections[name] }

  /// Whether `account` pulls the scope `scope`.
  ///
  /// Constant scopes are everybody's; a scope by account or field is the account's whose name it
  /// ends in, and an overseer's.
  package func isPulled(scope: String, by account: String) -> Bool {
    if overseers.contains(account) { return true }
    for collection in collections.values {
      switch collection.scope {
      case .constant(let name) where name == scope: return true
      case .account where scope == account: return true
      case .field(let field) where scope == "\(field)/\(account)": return true
      default: continue
      }
    }
    return false
  }

  /// The constant scopes, in byte order.
  package var constantScopes: [String] {
    Set(collections.values.compactMap(\.scope.constantName)).sorted(by: ByteOrder.precedes)
  }
}

/// One collection of a schema.
public struct CollectionSchema: Sendable, Hashable {
  /// The collection's name.
  public let name: String
  /// The fields by name.
  public let fields: [String: FieldSchema]
  /// How edits of the same record are decided.
  public let policy: Policy
  /// The field whose value is the lane; `nil` makes each record its own lane.
  public let lane: String?
  /// Where the scope of a new record comes from.
  public let scope: ScopeRule
  /// The fields that queries find without a scan, in byte order.
  public let indexes: [String]
  /// The states of a record, if it has any.
  public let states: StateRules?
  /// The named actions.
  public let actions: [String: NamedAction]
  /// How long a device keeps what happened to its records, once the state holds the outcome.
  public let history: HistoryRule

  /// A collection of these parts.
  public init(
    name: String, fields: [String: FieldSchema], policy: Policy = .versionCheck,
    lane: String? = nil, scope: ScopeRule, indexes: [String] = [], states: StateRules? = nil,
    actions: [String: NamedAction] = [:], history: HistoryRule = .latest
  ) {
    self.name = name
    self.fields = fields
    self.policy = policy
    self.lane = lane
    self.scope = scope
    self.indexes = indexes.sorted(by: ByteOrder.precedes)
    self.states = states
    self.actions = actions
    self.history = history
  }
}

/// How long a device keeps the changes of a collection beside the records that they led to. It asks
/// for disk space and nothing else: no rule reads it.
public enum HistoryRule: Sendable, Hashable {
  /// The records as they are; the changes go once two snapshots hold what they led to.
  case latest
  /// Every change, for ever.
  case keep
  /// The changes of this many days, by the server's time.
  case days(Int)

  /// The most days that a schema may ask for: a hundred years, so that times stay in range.
  static let dayLimit = 36_525
}

/// How edits of the same record are decided.
public enum Policy: String, Sendable, Hashable, CaseIterable {
  /// The edit that reaches the server last stands.
  case serverOrder = "server-order"
  /// The edit with the later device clock stands, however wrong that clock is. For comparison only.
  case plainTimestamp = "plain-timestamp"
  /// An edit of a row that has changed meanwhile is refused and kept as a draft.
  case versionCheck = "version-check"
}

/// Where the scope of a new record comes from; it never changes afterwards.
public enum ScopeRule: Sendable, Hashable {
  /// One scope for the whole collection, pulled by everybody.
  case constant(String)
  /// The account that makes the record.
  case account
  /// `FIELD/VALUE` of one text field; pulled by the account of that name.
  case field(String)

  var constantName: String? {
    if case .constant(let name) = self { return name }
    return nil
  }
}

/// One field of a collection.
public struct FieldSchema: Sendable, Hashable {
  /// What the field holds.
  public enum Kind: Sendable, Hashable {
    case text, int, double, decimal, bool, bytes, time, list, map
    /// The id of a record of another collection.
    case reference(to: String, onDelete: ReferenceRule)
  }

  /// What happens to a record when the one it refers to is deleted.
  public enum ReferenceRule: String, Sendable, Hashable, CaseIterable {
    /// The delete is refused while the reference stands.
    case refuse
    /// The reference stays and points to nothing.
    case keep
    /// The record is deleted too.
    case cascade
  }

  /// What the field holds.
  public let kind: Kind
  /// Whether a record may lack it or hold null.
  public let isOptional: Bool

  /// A field that holds `kind`.
  public init(_ kind: Kind, isOptional: Bool = false) {
    self.kind = kind
    self.isOptional = isOptional
  }

  /// Whether `value` is of the field's type.
  public func admits(_ value: Value) -> Bool {
    switch (kind, value) {
    case (_, .null): return isOptional
    case (.text, .text), (.reference, .text), (.bool, .bool), (.bytes, .bytes), (.time, .time),
      (.list, .array), (.map, .map), (.decimal, .decimal), (.double, .double):
      return true
    case (.int, _), (.decimal, _), (.double, _): return value.integer != nil
    default: return false
    }
  }
}

/// The states of a collection's records, held by one text field.
public struct StateRules: Sendable, Hashable {
  /// The field that holds the state.
  public let field: String
  /// The states that a new record may have.
  public let initial: Set<String>
  /// The states that each state may change to by an edit; staying is always allowed unless final.
  public let transitions: [String: Set<String>]
  /// The states in which nothing about the record may change any more.
  public let final: Set<String>

  /// Rules about the state in `field`.
  public init(
    field: String, initial: Set<String>, transitions: [String: Set<String>],
    final: Set<String> = []
  ) {
    self.field = field
    self.initial = initial
    self.transitions = transitions
    self.final = final
  }
}

/// An action with a name, as data: where it may start and what it sets.
public struct NamedAction: Sendable, Hashable {
  /// The states it may start from; empty means any that is not final.
  public let from: Set<String>
  /// The fields it sets, beside those given with it.
  public let set: ValueMap

  /// An action that sets `set` on records in a state of `from`.
  public init(from: Set<String> = [], set: ValueMap) {
    self.from = from
    self.set = set
  }
}
