/// The fixed-size part of an operation's bytes.
struct OperationHeader {
  let id: Identifier
  let incarnation: Identifier
  let number: UInt64
  let clock: HybridTime
  let seen: UInt64
  let schemaVersion: UInt32
  let strategy: Strategy
  let action: Action
  let base: Base
  let transaction: Operation.Membership?
  let supersedes: Identifier?
}

/// Turns an operation into its canonical bytes and back.
///
///     offset  size  field
///     0       16    op id
///     16      16    incarnation
///     32      8     number
///     40      8     device clock (hybrid)
///     48      8     sequence number seen
///     56      4     schema version
///     60      1     strategy: 1 lazy, 2 queued, 3 online
///     61      1     action: 1 create, 2 patch, 3 replace, 4 delete, 5 named
///     62      1     base kind: 0 none, 1 version, 2 operation
///     63      1     zero
///     64      16    base: number and mark of a version, or an op id, or zero
///     80      16    transaction, or zero
///     96      2     place in the transaction
///     98      2     operations in the transaction, 0 without one
///     100     16    superseded op id, or zero
///     116     12    bytes of account, device, collection, record id, scope, action name (2 each)
///     128     ...   those six texts, then CBOR: [fields set as a map, array of names unset]
///
/// Source: `Docs/Format.md`, section "Operation".
enum OperationCoder {
  static let headerByteCount = 128

  static func encode(
    _ header: OperationHeader, names: [String], fields: ValueMap, unset: [String]
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.append(header.id)
    writer.append(header.incarnation)
    writer.append(header.number)
    writer.append(header.clock.rawValue)
    writer.append(header.seen)
    writer.append(header.schemaVersion)
    writer.append(header.strategy.rawValue)
    writer.append(header.action.code)
    switch header.base {
    case .none:
      writer.appendZeros(18)
    case .version(let version):
      writer.append(UInt8(1))
      writer.append(UInt8(0))
      writer.append(version.number)
      writer.append(version.mark)
    case .operation(let id):
      writer.append(UInt8(2))
      writer.append(UInt8(0))
      writer.append(id)
    }
    writer.append(header.transaction?.id ?? .zero)
    writer.append(header.transaction?.index ?? 0)
    writer.append(header.transaction?.count ?? 0)
    writer.append(header.supersedes ?? .zero)
    IntentTail.append(
      names: names, action: header.action, fields: fields, unset: unset, to: &writer)
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) throws(EntryError) -> Operation {
    var reader = ByteReader(bytes[...])
    let id = try reader.readIdentifier()
    let incarnation = try reader.readIdentifier()
    let number: UInt64 = try reader.read()
    let clock = HybridTime(rawValue: try reader.read())
    let seen: UInt64 = try reader.read()
    let schemaVersion: UInt32 = try reader.read()
    guard let strategy = Strategy(rawValue: try reader.read()) else {
      throw .invalid(field: .strategy, offset: 60)
    }
    let actionCode: UInt8 = try reader.read()
    let base = try readBase(&reader)
    let transaction = try readMembership(&reader)
    let superseded = try reader.readIdentifier()
    let tail = try IntentTail.read(&reader, actionCode: actionCode, at: 61)
    return Operation(
      id: id, incarnation: incarnation, number: number, clock: clock, seen: seen,
      schemaVersion: schemaVersion, account: tail.names[0], device: tail.names[1],
      record: RecordKey(tail.names[2], tail.names[3]), scope: tail.names[4], strategy: strategy,
      action: tail.action,
      base: base, transaction: transaction, supersedes: superseded == .zero ? nil : superseded,
      fields: tail.fields, unset: tail.unset, decodedFrom: bytes)
  }

  private static func readBase(_ reader: inout ByteReader) throws(EntryError) -> Base {
    let kind: UInt8 = try reader.read()
    try reader.readZeros(1)
    switch kind {
    case 0:
      try reader.readZeros(16)
      return .none
    case 1:
      let number: UInt64 = try reader.read()
      return .version(Version(number: number, mark: try reader.read()))
    case 2: return .operation(try reader.readIdentifier())
    default: throw .invalid(field: .base, offset: 62)
    }
  }

  private static func readMembership(
    _ reader: inout ByteReader
  ) throws(EntryError) -> Operation.Membership? {
    let id = try reader.readIdentifier()
    let index: UInt16 = try reader.read()
    let count: UInt16 = try reader.read()
    if id == .zero, index == 0, count == 0 { return nil }
    guard id != .zero, count > 1, index < count else { throw .invalid(field: .count, offset: 96) }
    return Operation.Membership(id: id, index: index, count: count)
  }
}
