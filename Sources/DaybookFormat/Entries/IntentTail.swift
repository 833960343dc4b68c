/// What operations and changes end with: the bytes of six texts (2 each), the texts, then canonical
/// CBOR: [fields as a map with text keys, array of names unset].
///
/// The sixth text is the name of a named action, empty for any other.
/// Source: `Docs/Format.md`, section "Operation".
enum IntentTail {
  static func append(
    names: [String], action: Action, fields: ValueMap, unset: [String], to writer: inout ByteWriter
  ) {
    var actionName = ""
    if case .named(let name) = action { actionName = name }
    let texts = (names + [actionName]).map { Array($0.utf8) }
    for text in texts { writer.append(UInt16(clamping: text.count)) }
    for text in texts { writer.append(contentsOf: text.prefix(Int(UInt16.max))) }
    let payload = Value.array([.map(fields), .array(unset.map(Value.text))])
    writer.append(contentsOf: CBOREncoder.encode(payload))
  }

  /// Reads all that is left; `actionOffset` is where the code of the action stands.
  static func read(
    _ reader: inout ByteReader, actionCode: UInt8, at actionOffset: Int
  ) throws(EntryError) -> (names: [String], action: Action, fields: ValueMap, unset: [String]) {
    var counts: [Int] = []
    for _ in 0..<6 { counts.append(Int(try reader.read(UInt16.self))) }
    var texts: [String] = []
    for count in counts { texts.append(try reader.readText(count: count)) }
    guard let action = Action(code: actionCode, name: texts[5]) else {
      throw .invalid(field: .action, offset: actionOffset)
    }
    let (fields, unset) = try payload(reader.rest, at: reader.offset)
    return (Array(texts.dropLast()), action, fields, unset)
  }

  private static func payload(
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
