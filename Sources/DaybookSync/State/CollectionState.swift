package import DaybookFormat

/// One collection in memory: the base, what is laid over it, and the declared indexes of what is
/// shown.
package struct CollectionState: Sendable, Hashable {
  /// The collection's schema; `nil` for one that the log has and the schema lacks.
  package let schema: CollectionSchema?
  /// What the feed says, by record id.
  package var base: [String: HeldRecord] = [:]
  /// The own operations on each record that are laid over, in outbox order.
  package var overlays: [String: [Identifier]] = [:]
  private var indexes: [String: [Value: Set<String>]] = [:]
  private var indexed: [String: [Value?]] = [:]

  /// An empty collection.
  package init(schema: CollectionSchema?) { self.schema = schema }

  /// The ids of the shown records whose `field` holds `value`; `nil` if the field has no index.
  package func ids(where field: String, equals value: Value) -> Set<String>? {
    guard schema?.indexes.contains(field) == true else { return nil }
    return indexes[field]?[value] ?? []
  }

  /// The ids of all records shown, in no order.
  package var shownIDs: [String] {
    if overlays.isEmpty { return base.compactMap { $0.value.rowBytes == nil ? nil : $0.key } }
    return Set(base.keys).union(overlays.keys).sorted(by: ByteOrder.precedes)
  }

  /// The ids by index and value, for ``ClientState/canonicalBytes``.
  var indexValue: ValueMap {
    var map: ValueMap = [:]
    for (field, values) in indexes {
      var held: ValueMap = [:]
      for (value, ids) in values {
        let key = Hexadecimal.text(of: CBOREncoder.encode(value))
        held[key] = .array(ids.sorted(by: ByteOrder.precedes).map(Value.text))
      }
      if !held.isEmpty { map[field] = .map(held) }
    }
    return map
  }

  /// Brings the indexes up to date with `row`, which is now shown as `id`.
  mutating func index(id: String, row: ValueMap?) {
    guard let fields = schema?.indexes, !fields.isEmpty else { return }
    let values = fields.map { row?[$0] }
    let before = indexed[id]
    guard values != before ?? fields.map({ _ in nil }) else { return }
    for (place, field) in fields.enumerated() {
      if let old = before?[place] {
        indexes[field]?[old]?.remove(id)
        if indexes[field]?[old]?.isEmpty == true { indexes[field]?[old] = nil }
        // States that show the same are the same.
        if indexes[field]?.isEmpty == true { indexes[field] = nil }
      }
      if let value = values[place] { indexes[field, default: [:]][value, default: []].insert(id) }
    }
    indexed[id] = values.allSatisfy { $0 == nil } ? nil : values
  }
}

/// How far one scope has been pulled.
package struct ScopeState: Sendable, Hashable {
  /// A new base that is built beside the one shown.
  package struct Bootstrap: Sendable, Hashable {
    /// The history it comes from.
    package let epoch: Identifier
    /// Where pulling goes on once it is complete.
    package let position: ScopePosition
    /// The last record that is in; `nil` before the first page.
    package var after: RecordKey?
    /// The rows so far.
    package var rows: [RecordKey: HeldRecord] = [:]
  }

  /// The place that the base shows; `nil` before the first bootstrap is complete.
  package var position: ScopePosition? {
    didSet {
      if let settled, settled.sequence <= position?.sequence ?? 0 { self.settled = nil }
    }
  }
  /// The bootstrap under way, if any.
  package var bootstrap: Bootstrap?
  /// The records of which a change did not follow the row held; a whole row or a removal mends
  /// one.
  package var holes: Set<RecordKey> = []
  /// The highest place known from settlements, if it is above the base's: what a compaction drops
  /// makes no other state.
  package private(set) var settled: ScopePosition?

  /// A scope of which nothing is known.
  package init() {}

  /// A settlement tells of `place`.
  package mutating func learn(_ place: ScopePosition) {
    if place.sequence > known?.sequence ?? 0 { settled = place }
  }

  /// The highest place known, from the base or from settlements.
  package var known: ScopePosition? {
    guard let settled, settled.sequence > position?.sequence ?? 0 else { return position }
    return settled
  }
}
