/// One fact from the server: what one operation did to one record.
///
/// Source: `Docs/Format.md`, section "Change".
package struct Change: Sendable, Hashable {
  /// How the fields of a change are to be read.
  package enum Extent: UInt8, Sendable {
    /// Fields set and unset on top of the version before.
    case delta = 0
    /// The whole row: a create, a replace, or a row that is new to the device.
    case row = 1
    /// The record is gone.
    case removal = 2
  }

  /// The operation that this is the effect of.
  package let operationID: Identifier
  /// The scope's sequence number.
  package let sequence: UInt64
  /// The record's version after it; its mark is the scope's at ``sequence``.
  package let version: Version
  /// The sequence number that the author had seen.
  package let seen: UInt64
  /// The author's device clock.
  package let deviceClock: HybridTime
  /// The server's clock when it took the operation.
  package let serverTime: Timestamp
  /// What was asked for.
  package let action: Action
  /// How the fields are to be read.
  package let extent: Extent
  /// The operation's effect lost against a later one by the policy's rule, so nothing changed.
  package let isSuperfluous: Bool
  /// The scope's next change belongs to the same transaction, so no page ends here.
  package let isContinued: Bool
  /// The scope.
  package let scope: String
  /// The record.
  package let record: RecordKey
  /// Who asked.
  package let account: String
  /// On which device.
  package let device: String
  /// The fields set, or the whole row.
  package let fields: ValueMap
  /// The names of the fields unset.
  package let unset: [String]

  /// Makes a change of its parts; `unset` is brought into byte order.
  package init(
    operationID: Identifier, sequence: UInt64, version: Version, seen: UInt64,
    deviceClock: HybridTime, serverTime: Timestamp, action: Action, extent: Extent,
    isSuperfluous: Bool = false, isContinued: Bool = false, scope: String, record: RecordKey,
    account: String, device: String,
    fields: ValueMap = [:], unset: [String] = []
  ) {
    self.operationID = operationID
    self.sequence = sequence
    self.version = version
    self.seen = seen
    self.deviceClock = deviceClock
    self.serverTime = serverTime
    self.action = action
    self.extent = extent
    self.isSuperfluous = isSuperfluous
    self.isContinued = isContinued
    self.scope = scope
    self.record = record
    self.account = account
    self.device = device
    self.fields = fields
    self.unset = unset.sorted(by: ByteOrder.precedes)
  }

  /// This change with its mark replaced by `mark`.
  package func marked(_ mark: UInt64) -> Change {
    Change(
      operationID: operationID, sequence: sequence,
      version: Version(number: version.number, mark: mark), seen: seen, deviceClock: deviceClock,
      serverTime: serverTime, action: action, extent: extent, isSuperfluous: isSuperfluous,
      isContinued: isContinued, scope: scope, record: record, account: account, device: device,
      fields: fields, unset: unset)
  }

  /// This change as the whole row `row`, for a device that does not hold the record.
  package func carrying(row: ValueMap) -> Change {
    Change(
      operationID: operationID, sequence: sequence, version: version, seen: seen,
      deviceClock: deviceClock, serverTime: serverTime, action: action, extent: .row,
      isSuperfluous: isSuperfluous, scope: scope, record: record, account: account, device: device,
      fields: row)
  }
}
