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
    var actionName = ""
    if case .named(let name) = action { actionName = name }
    let names = [scope, record.collection, record.id, account, device, actionName]
    let texts = names.map { Array($0.utf8) }
    for text in texts { writer.append(UInt16(clamping: text.count)) }
    for text in texts { writer.append(contentsOf: text.prefix(Int(UInt16.max))) }
    let payload = Value.array([.map(fields), .array(unset.map(Value.text))])
    writer.append(contentsOf: CBOREncoder.encode(payload))
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
    var counts: [Int] = []
    for _ in 0..<6 { counts.append(Int(try reader.read(UInt16.self))) }
    var texts: [String] = []
    for count in counts { texts.append(try reader.readText(count: count)) }
    guard let action = Action(code: actionCode, name: texts[5]) else {
      throw .invalid(field: .action, offset: 64)
    }
    let (fields, unset) = try FieldsPayload.decode(reader.rest, at: reader.offset)
    self.init(
      operationID: operationID, sequence: sequence, version: Version(number: number, mark: mark),
      seen: seen, deviceClock: HybridTime(rawValue: clock),
      serverTime: Timestamp(milliseconds: time), action: action, extent: extent,
      isSuperfluous: flags & 1 != 0, isContinued: flags & 2 != 0, scope: texts[0],
      record: RecordKey(texts[1], texts[2]),
      account: texts[3], device: texts[4], fields: fields, unset: unset)
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

/// The payload of operations and changes: [fields as a map with text keys, array of names unset].
enum FieldsPayload {
  static func decode(
    _ bytes: ArraySlice<UInt8>, at offset: Int
  ) throws(EntryError) -> (fields: ValueMap, unset: [String]) {
    let payload: Value
    do throws(CBORError) {
      payload = try CBORDecoder.decode(bytes, mode: .canonical)
    } catch {
      throw .payload(error)
    }
    guard let parts = payload.array, parts.count == 2, let fields = parts[0].map,
      let names = parts[1].array, fields.names.count == fields.count
    else { throw .invalid(field: .payload, offset: offset) }
    let unset = names.compactMap(\.text)
    guard unset.count == names.count, ByteOrder.isStrictlyOrdered(unset) else {
      throw .invalid(field: .payload, offset: offset)
    }
    return (fields, unset)
  }
}
