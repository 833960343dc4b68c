extension Change {
  /// The change's canonical bytes.
  ///
  ///     offset  size  field
  ///     0       16    op id
  ///     16      8     sequence number
  ///     24      8     version: number
  ///     32      8     version: mark
  ///     40      8     sequence number the author had seen
  ///     48      8     device clock (hybrid)
  ///     56      8     server time, milliseconds since 1970
  ///     64      1     action, as in an operation
  ///     65      1     extent: 0 delta, 1 row, 2 removal
  ///     66      1     flags: bit 0, without effect by the policy's rule; bit 1, the scope's next
  ///                   change belongs to the same transaction
  ///     67      1     zero
  ///     68      12    bytes of scope, collection, record id, account, device, action name (2 each)
  ///     80      ...   those six texts, then CBOR: [fields as a map, array of names unset]
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 192)
    writer.append(operationID)
    writer.append(sequence)
    writer.append(version.number)
    writer.append(version.mark)
    writer.append(seen)
    writer.append(deviceClock.rawValue)
    writer.append(serverTime.milliseconds)
    writer.append(action.code)
    writer.append(extent.rawValue)
    writer.append(UInt8(isSuperfluous ? 1 : 0) | UInt8(isContinued ? 2 : 0))
    writer.append(UInt8(0))
    IntentTail.append(
      names: [scope, record.collection, record.id, account, device], action: action,
      fields: fields, unset: unset, to: &writer)
    return writer.bytes
  }

  /// Decodes the change whose canonical bytes are `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    var reader = ByteReader(bytes)
    let operationID = try reader.readIdentifier()
    let sequence: UInt64 = try reader.read()
    let number: UInt64 = try reader.read()
    let mark: UInt64 = try reader.read()
    let seen: UInt64 = try reader.read()
    let clock: UInt64 = try reader.read()
    let time: Int64 = try reader.read()
    let actionCode: UInt8 = try reader.read()
    guard let extent = Extent(rawValue: try reader.read()) else {
      throw .invalid(field: .kind, offset: 65)
    }
    let flags: UInt8 = try reader.read()
    guard flags <= 3 else { throw .invalid(field: .flags, offset: 66) }
    try reader.readZeros(1)
    let tail = try IntentTail.read(&reader, actionCode: actionCode, at: 64)
    self.init(
      operationID: operationID, sequence: sequence, version: Version(number: number, mark: mark),
      seen: seen, deviceClock: HybridTime(rawValue: clock),
      serverTime: Timestamp(milliseconds: time), action: tail.action, extent: extent,
      isSuperfluous: flags & 1 != 0, isContinued: flags & 2 != 0, scope: tail.names[0],
      record: RecordKey(tail.names[1], tail.names[2]),
      account: tail.names[3], device: tail.names[4], fields: tail.fields, unset: tail.unset)
  }

  /// The scope's running hash after this change: SHA-256 of the hash before it (32 bytes) and the
  /// change's bytes with a mark of zero.
  package func runningHash(after previous: [UInt8]) -> [UInt8] {
    SHA256Digest.hash(previous + marked(0).bytes)
  }

  /// The running hash of an empty scope `name` in the history `epoch`.
  package static func initialHash(epoch: Identifier, scope name: String) -> [UInt8] {
    SHA256Digest.hash(epoch.bytes + Array(name.utf8))
  }

  /// The mark of a running hash: its first 8 bytes, the first one the most significant.
  package static func mark(of hash: [UInt8]) -> UInt64 {
    hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
