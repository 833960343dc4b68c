extension Settlement {
  /// The settlement's canonical bytes, stored by the server and by the device alike.
  ///
  ///     offset  size  field
  ///     0       16    op id
  ///     16      8     server time, milliseconds since 1970
  ///     24      1     verdict: 1 accepted, 2 conflict, 3 refused, 4 too old
  ///     25      7     zero
  ///     32      ...   CBOR map. accepted: "scope", "sequence", "version", "assigned" (if any);
  ///                   else: "code", "message", "version" and "row" (if there is one)
  ///
  /// A version is the array [number, mark].
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 128)
    writer.append(operationID)
    writer.append(serverTime.milliseconds)
    let code: UInt8
    var map: ValueMap = [:]
    switch verdict {
    case .accepted(let acceptance):
      code = 1
      map["scope"] = .text(acceptance.scope)
      map["sequence"] = .unsigned(acceptance.sequence)
      map["version"] = acceptance.version.value
      if !acceptance.assigned.isEmpty { map["assigned"] = .map(acceptance.assigned) }
    case .conflict(let refusal):
      code = 2
      map = refusal.map
    case .refused(let refusal):
      code = 3
      map = refusal.map
    case .tooOld(let refusal):
      code = 4
      map = refusal.map
    }
    writer.append(code)
    writer.appendZeros(7)
    writer.append(contentsOf: CBOREncoder.encode(.map(map)))
    return writer.bytes
  }

  /// Decodes the settlement whose canonical bytes are `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    var reader = ByteReader(bytes)
    let id = try reader.readIdentifier()
    let time = Timestamp(milliseconds: try reader.read())
    let code: UInt8 = try reader.read()
    try reader.readZeros(7)
    let map = try EntryMap(reader.rest)
    let verdict: Verdict
    switch code {
    case 1:
      verdict = .accepted(
        Acceptance(
          scope: try map.text("scope"), sequence: try map.unsigned("sequence"),
          version: try map.version("version"), assigned: map.value["assigned"]?.map ?? [:]))
    case 2: verdict = .conflict(try Refusal(map))
    case 3: verdict = .refused(try Refusal(map))
    case 4: verdict = .tooOld(try Refusal(map))
    default: throw .invalid(field: .verdict, offset: 24)
    }
    self.init(operationID: id, serverTime: time, verdict: verdict)
  }
}

extension Settlement.Refusal {
  var map: ValueMap {
    var map: ValueMap = ["code": .text(code.rawValue), "message": .text(message)]
    map["version"] = currentVersion?.value
    map["row"] = currentRow.map(Value.map)
    return map
  }

  init(_ map: EntryMap) throws(EntryError) {
    self.init(
      code: RefusalCode(rawValue: try map.text("code")), message: try map.text("message"),
      currentVersion: try map.optionalVersion("version"), currentRow: map.value["row"]?.map)
  }
}
