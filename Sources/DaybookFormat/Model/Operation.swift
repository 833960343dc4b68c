/// One immutable intent of one device.
///
/// Its ``bytes`` are made once, before the first send, and are what is stored and sent every time.
/// Source: `Docs/Format.md`, section "Operation".
public struct Operation: Sendable, Hashable {
  /// The operation's place in a local transaction: all of its members take effect, or none.
  public struct Membership: Sendable, Hashable {
    /// The transaction's identifier.
    public let id: Identifier
    /// This operation's place, from 0.
    public let index: UInt16
    /// The number of operations in the transaction, 2 to 256.
    public let count: UInt16

    /// Place `index` of `count` in the transaction `id`.
    public init(id: Identifier, index: UInt16, count: UInt16) {
      self.id = id
      self.index = index
      self.count = count
    }
  }

  /// The idempotency key: a UUID of version 7, made once.
  public let id: Identifier
  /// The life of the log that the operation was made in.
  public let incarnation: Identifier
  /// Counts the operations of the incarnation, from 1, without a gap.
  public let number: UInt64
  /// The device's clock when the operation was made.
  public let clock: HybridTime
  /// The scope's sequence number that the user had seen.
  public let seen: UInt64
  /// The schema's version on the device.
  public let schemaVersion: UInt32
  /// Who made it.
  public let account: String
  /// The device it was made on.
  public let device: String
  /// The record it is about.
  public let record: RecordKey
  /// The scope that the record belongs to, for ever.
  public let scope: String
  /// When it is shown and sent.
  public let strategy: Strategy
  /// What it does.
  public let action: Action
  /// What its author had before them.
  package let base: Base
  /// The transaction it belongs to, if any.
  public let transaction: Membership?
  /// The operation it replaces, if any.
  public let supersedes: Identifier?
  /// The fields it sets, by name.
  public let fields: ValueMap
  /// The names of the fields it unsets.
  public let unset: [String]
  /// The canonical bytes: equal for equal operations.
  package let bytes: [UInt8]

  /// Decodes the operation whose canonical bytes are `bytes`.
  package init(bytes: [UInt8]) throws(EntryError) {
    self = try OperationCoder.decode(bytes)
  }

  /// Makes an operation of its parts and encodes it.
  package init(
    id: Identifier, incarnation: Identifier, number: UInt64, clock: HybridTime, seen: UInt64 = 0,
    schemaVersion: UInt32 = 1, account: String, device: String, record: RecordKey, scope: String,
    strategy: Strategy = .lazy, action: Action, base: Base = .none,
    transaction: Membership? = nil, supersedes: Identifier? = nil, fields: ValueMap = [:],
    unset: [String] = []
  ) {
    self.init(
      id: id, incarnation: incarnation, number: number, clock: clock, seen: seen,
      schemaVersion: schemaVersion, account: account, device: device, record: record, scope: scope,
      strategy: strategy, action: action, base: base, transaction: transaction,
      supersedes: supersedes, fields: fields, unset: unset.sorted(by: ByteOrder.precedes),
      decodedFrom: nil)
  }

  init(
    id: Identifier, incarnation: Identifier, number: UInt64, clock: HybridTime, seen: UInt64,
    schemaVersion: UInt32, account: String, device: String, record: RecordKey, scope: String,
    strategy: Strategy, action: Action, base: Base, transaction: Membership?,
    supersedes: Identifier?, fields: ValueMap, unset: [String], decodedFrom bytes: [UInt8]?
  ) {
    self.id = id
    self.incarnation = incarnation
    self.number = number
    self.clock = clock
    self.seen = seen
    self.schemaVersion = schemaVersion
    self.account = account
    self.device = device
    self.record = record
    self.scope = scope
    self.strategy = strategy
    self.action = action
    self.base = base
    self.transaction = transaction
    self.supersedes = supersedes
    self.fields = fields
    self.unset = unset
    self.bytes =
      bytes
      ?? OperationCoder.encode(
        OperationHeader(
          id: id, incarnation: incarnation, number: number, clock: clock, seen: seen,
          schemaVersion: schemaVersion, strategy: strategy, action: action, base: base,
          transaction: transaction, supersedes: supersedes),
        names: [account, device, record.collection, record.id, scope],
        fields: fields, unset: unset)
  }

  /// The digest that tells whether two operations of one id are the same: SHA-256 of ``bytes``.
  package var digest: [UInt8] { SHA256Digest.hash(bytes) }

  /// Two operations are the same if their bytes are.
  public static func == (left: Operation, right: Operation) -> Bool { left.bytes == right.bytes }

  /// Hashes the id alone.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
