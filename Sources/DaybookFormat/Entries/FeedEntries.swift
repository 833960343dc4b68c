/// How far the changes of each scope have been pulled; appended with the page that got there.
package struct Cursor: Sendable, Hashable {
  /// The most scopes that one cursor names.
  package static let scopeLimit = 64
  /// The most bytes of a cursor, as text.
  package static let textByteLimit = 2048 * 4 / 3

  /// The identity of the server's history.
  package var epoch: Identifier
  /// The place reached, by scope.
  package var positions: [String: ScopePosition]

  /// The cursor at `positions` of the history `epoch`.
  package init(epoch: Identifier, positions: [String: ScopePosition] = [:]) {
    self.epoch = epoch
    self.positions = positions
  }

  /// CBOR map: "epoch", and "scopes", a map from the scope's name to [sequence, mark].
  package var value: Value {
    var scopes: ValueMap = [:]
    for (name, position) in positions {
      scopes[name] = .array([.unsigned(position.sequence), .unsigned(position.mark)])
    }
    return .map(["epoch": .bytes(epoch.bytes), "scopes": .map(scopes)])
  }

  /// The cursor that `value` describes.
  package init(value: Value?) throws(EntryError) {
    guard let map = value?.map.map(EntryMap.init), let scopes = map.value["scopes"]?.map else {
      throw .member(name: "scopes")
    }
    guard scopes.count <= Cursor.scopeLimit else { throw .invalid(field: .count, offset: 0) }
    self.init(epoch: try map.identifier("epoch"))
    for entry in scopes.entries {
      guard let name = entry.key.text, let parts = entry.value.array, parts.count == 2,
        case .unsigned(let sequence) = parts[0], case .unsigned(let mark) = parts[1]
      else { throw .member(name: "scopes") }
      positions[name] = ScopePosition(sequence: sequence, mark: mark)
    }
  }

  /// The canonical bytes of ``value``.
  package var bytes: [UInt8] { CBOREncoder.encode(value) }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    try self.init(value: .map(EntryMap(bytes).value))
  }

  /// The cursor as a query parameter: base64url of its bytes.
  package var text: String { Base64URL.text(of: bytes) }

  /// The cursor that a query parameter names.
  package init(text: String) throws(EntryError) {
    guard text.utf8.count <= Cursor.textByteLimit, let bytes = Base64URL.bytes(of: text) else {
      throw .invalid(field: .text, offset: 0)
    }
    try self.init(bytes: bytes[...])
  }
}

/// One step of a scope's bootstrap, which builds a new base beside the one shown.
package enum BootstrapStep: Sendable, Hashable {
  /// It begins at this place of the history `epoch`; rows follow in key order.
  case begin(scope: String, epoch: Identifier, position: ScopePosition)
  /// All rows up to the record `after` are in; the next page goes on behind it.
  case page(scope: String, after: RecordKey)
  /// All rows are in: the new base replaces the one shown.
  case end(scope: String)

  /// The scope that is bootstrapped.
  package var scope: String {
    switch self {
    case .begin(let scope, _, _), .page(let scope, _), .end(let scope): return scope
    }
  }

  /// The kind of the entry that holds this step.
  package var kind: EntryKind {
    switch self {
    case .begin: return .bootstrapBegin
    case .page: return .bootstrapPage
    case .end: return .bootstrapEnd
    }
  }

  /// CBOR map: "scope"; begin adds "epoch", "sequence", "mark"; page adds "collection" and "id".
  package var bytes: [UInt8] {
    var map: ValueMap = ["scope": .text(scope)]
    switch self {
    case .begin(_, let epoch, let position):
      map["epoch"] = .bytes(epoch.bytes)
      map["sequence"] = .unsigned(position.sequence)
      map["mark"] = .unsigned(position.mark)
    case .page(_, let after):
      map["collection"] = .text(after.collection)
      map["id"] = .text(after.id)
    case .end: break
    }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes` of an entry of `kind`.
  package init?(kind: EntryKind, bytes: ArraySlice<UInt8>) throws(EntryError) {
    guard [.bootstrapBegin, .bootstrapPage, .bootstrapEnd].contains(kind) else { return nil }
    let map = try EntryMap(bytes)
    let scope = try map.text("scope")
    switch kind {
    case .bootstrapBegin:
      let sequence = try map.unsigned("sequence")
      self = .begin(
        scope: scope, epoch: try map.identifier("epoch"),
        position: ScopePosition(sequence: sequence, mark: try map.unsigned("mark")))
    case .bootstrapPage:
      let collection = try map.text("collection")
      self = .page(scope: scope, after: RecordKey(collection, try map.text("id")))
    default:
      self = .end(scope: scope)
    }
  }
}
