/// A record of the base as of a snapshot. Only snapshots hold it.
package struct HeldRow: Sendable, Hashable {
  /// The record.
  package let record: RecordKey
  /// The scope it belongs to.
  package let scope: String
  /// Its version.
  package let version: Version
  /// The row's canonical CBOR; `nil` is a tombstone.
  package let rowBytes: [UInt8]?
  /// It belongs to the base that a bootstrap of its scope builds, not to the one shown.
  package let isBeingBuilt: Bool

  /// The record with these bytes.
  package init(
    record: RecordKey, scope: String, version: Version, rowBytes: [UInt8]?,
    isBeingBuilt: Bool = false
  ) {
    self.record = record
    self.scope = scope
    self.version = version
    self.rowBytes = rowBytes
    self.isBeingBuilt = isBeingBuilt
  }

  /// The entry's canonical bytes.
  ///
  ///     offset  size  field
  ///     0       8     version: number
  ///     8       8     version: mark
  ///     16      1     flags: bit 0, a tombstone; bit 1, of the base that a bootstrap builds
  ///     17      1     zero
  ///     18      6     bytes of scope, collection, record id (2 each)
  ///     24      ...   those three texts, then the row as a CBOR map; nothing for a tombstone
  package var bytes: [UInt8] {
    let texts = [scope, record.collection, record.id]
    var writer = ByteWriter(capacity: 64 + (rowBytes?.count ?? 0))
    writer.append(version.number)
    writer.append(version.mark)
    writer.append(UInt8(rowBytes == nil ? 1 : 0) | UInt8(isBeingBuilt ? 2 : 0))
    writer.append(UInt8(0))
    for text in texts { writer.append(UInt16(clamping: text.utf8.count)) }
    for text in texts { writer.append(contentsOf: text.utf8) }
    if let rowBytes { writer.append(contentsOf: rowBytes) }
    return writer.bytes
  }

  /// Decodes `bytes`; the row is checked, so that it can be taken apart later without errors.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    var reader = ByteReader(bytes)
    let number: UInt64 = try reader.read()
    let mark: UInt64 = try reader.read()
    let flags: UInt8 = try reader.read()
    guard flags <= 3 else { throw .invalid(field: .flags, offset: 16) }
    try reader.readZeros(1)
    var counts: [Int] = []
    for _ in 0..<3 { counts.append(Int(try reader.read(UInt16.self))) }
    let scope = try reader.readText(count: counts[0])
    let collection = try reader.readText(count: counts[1])
    let id = try reader.readText(count: counts[2])
    if flags & 1 == 0 {
      _ = try EntryMap(reader.rest)
    } else if !reader.rest.isEmpty {
      throw .invalid(field: .bytes, offset: reader.offset)
    }
    self.init(
      record: RecordKey(collection, id), scope: scope,
      version: Version(number: number, mark: mark),
      rowBytes: flags & 1 == 0 ? Array(reader.rest) : nil, isBeingBuilt: flags & 2 != 0)
  }
}

/// How far one scope had been pulled as of a snapshot. Only snapshots hold it.
package struct ScopeBase: Sendable, Hashable {
  /// A base that is built beside the one shown.
  package struct Bootstrap: Sendable, Hashable {
    /// The history it comes from.
    package let epoch: Identifier
    /// Where pulling goes on once it is complete.
    package let position: ScopePosition
    /// The last record that is in; `nil` before the first page.
    package let after: RecordKey?

    /// A bootstrap at this place.
    package init(epoch: Identifier, position: ScopePosition, after: RecordKey?) {
      self.epoch = epoch
      self.position = position
      self.after = after
    }
  }

  /// The scope; `nil` in the entry of a base that has none, which holds the epoch alone.
  package let scope: String?
  /// The identity of the server's history, the same in all entries of a snapshot.
  package let epoch: Identifier?
  /// The place that the base shows; `nil` before the first bootstrap is complete.
  package let position: ScopePosition?
  /// The records of which a change did not follow the row held.
  package let holes: Set<RecordKey>
  /// The bootstrap under way, if any.
  package let bootstrap: Bootstrap?

  /// The scope at this place.
  package init(
    scope: String?, epoch: Identifier?, position: ScopePosition? = nil,
    holes: Set<RecordKey> = [], bootstrap: Bootstrap? = nil
  ) {
    self.scope = scope
    self.epoch = epoch
    self.position = position
    self.holes = holes
    self.bootstrap = bootstrap
  }

  /// CBOR map: "scope", "epoch", "position" [sequence, mark], "holes" [[collection, id], ...] in
  /// byte order, "bootstrap": map of "epoch", "position" and "after" [collection, id]. What is not
  /// known is absent.
  package var bytes: [UInt8] {
    var map: ValueMap = [:]
    map["scope"] = scope.map(Value.text)
    map["epoch"] = epoch.map { .bytes($0.bytes) }
    map["position"] = position?.value
    if !holes.isEmpty { map["holes"] = .array(holes.sorted().map(\.value)) }
    if let bootstrap {
      var built: ValueMap = [
        "epoch": .bytes(bootstrap.epoch.bytes), "position": bootstrap.position.value,
      ]
      built["after"] = bootstrap.after?.value
      map["bootstrap"] = .map(built)
    }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    var holes: Set<RecordKey> = []
    for hole in try map.array("holes") { holes.insert(try RecordKey(value: hole, "holes")) }
    var bootstrap: Bootstrap?
    if let built = map.value["bootstrap"]?.map.map(EntryMap.init) {
      bootstrap = Bootstrap(
        epoch: try built.identifier("epoch"),
        position: try ScopePosition(value: built.value["position"]),
        after: try built.value["after"].map { value throws(EntryError) in
          try RecordKey(value: value, "after")
        })
    } else if map.value["bootstrap"] != nil {
      throw .member(name: "bootstrap")
    }
    self.init(
      scope: map.value["scope"] == nil ? nil : try map.text("scope"),
      epoch: map.value["epoch"] == nil ? nil : try map.identifier("epoch"),
      position: map.value["position"] == nil
        ? nil : try ScopePosition(value: map.value["position"]),
      holes: holes, bootstrap: bootstrap)
  }
}

/// A verdict that the feed told before the outbox recorded it, as of a snapshot. Only snapshots
/// hold it.
package struct FeedSettlement: Sendable, Hashable {
  /// The verdict.
  package let settlement: Settlement
  /// The number of the last outbox entry before the feed told it: replay takes it right behind.
  package let after: UInt64

  /// The verdict told behind the outbox entry `after`.
  package init(_ settlement: Settlement, after: UInt64) {
    self.settlement = settlement
    self.after = after
  }

  /// The number (8 bytes), then the settlement's bytes.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 136)
    writer.append(after)
    writer.append(contentsOf: settlement.bytes)
    return writer.bytes
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    var reader = ByteReader(bytes)
    let after: UInt64 = try reader.read()
    self.init(try Settlement(bytes: reader.rest), after: after)
  }
}

extension ScopePosition {
  /// The array [sequence, mark].
  fileprivate var value: Value { .array([.unsigned(sequence), .unsigned(mark)]) }

  fileprivate init(value: Value?) throws(EntryError) {
    guard let parts = value?.array, parts.count == 2, case .unsigned(let sequence) = parts[0],
      case .unsigned(let mark) = parts[1]
    else { throw .member(name: "position") }
    self.init(sequence: sequence, mark: mark)
  }
}

extension RecordKey {
  /// The array [collection, id].
  fileprivate var value: Value { .array([.text(collection), .text(id)]) }

  fileprivate init(value: Value, _ member: String) throws(EntryError) {
    guard let parts = value.array, parts.count == 2, let collection = parts[0].text,
      let id = parts[1].text
    else { throw .member(name: member) }
    self.init(collection, id)
  }
}
