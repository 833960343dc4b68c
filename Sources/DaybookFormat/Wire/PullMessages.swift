/// What a device asks for with `GET /v1/changes`.
package struct ChangesRequest: Sendable, Hashable {
  /// Changes in one page unless asked otherwise.
  package static let defaultLimit = 500
  /// The most changes in one page.
  package static let limitRange = 1...5_000

  /// Who asks.
  package var account: String
  /// The asking device.
  package var device: String
  /// The life of its log.
  package var incarnation: Identifier
  /// The server that the log belongs to; `nil` before the first contact.
  package var serverID: Identifier?
  /// Where each scope has been pulled to; `nil` for none.
  package var after: Cursor?
  /// The most changes to answer with.
  package var limit: Int

  /// Asks for what follows `after`.
  package init(
    account: String, device: String, incarnation: Identifier, serverID: Identifier?,
    after: Cursor?, limit: Int = ChangesRequest.defaultLimit
  ) {
    self.account = account
    self.device = device
    self.incarnation = incarnation
    self.serverID = serverID
    self.after = after
    self.limit = limit
  }
}

/// A page of the change feed, and the cursor that goes with it.
package struct ChangesPage: Sendable, Hashable {
  /// Who answers.
  package var history: HistoryIdentity
  /// The server's clock.
  package var serverTime: Timestamp
  /// All scopes that the account pulls, in byte order; one not in the cursor wants a bootstrap.
  package var scopes: [String]
  /// The changes, each scope's in sequence order.
  package var changes: [Change]
  /// Where the page ends.
  package var cursor: Cursor
  /// Whether there is more now.
  package var hasMore: Bool

  /// A page of `changes` that ends at `cursor`.
  package init(
    history: HistoryIdentity, serverTime: Timestamp, scopes: [String], changes: [Change],
    cursor: Cursor, hasMore: Bool
  ) {
    self.history = history
    self.serverTime = serverTime
    self.scopes = scopes
    self.changes = changes
    self.cursor = cursor
    self.hasMore = hasMore
  }

  /// CBOR map: "server", "epoch", "time", "scopes", "changes" (their bytes), "cursor", "more".
  package var value: Value {
    .map([
      "server": .bytes(history.serverID.bytes), "epoch": .bytes(history.epoch.bytes),
      "time": .int(serverTime.milliseconds), "scopes": .array(scopes.map(Value.text)),
      "changes": .array(changes.map { .bytes($0.bytes) }), "cursor": cursor.value,
      "more": .bool(hasMore),
    ])
  }

  /// The page that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init), case .bool(let more) = map.value["more"] else {
      throw .member(name: "more")
    }
    self.init(
      history: try HistoryIdentity(map), serverTime: try map.timestamp("time"),
      scopes: try map.array("scopes").compactMap(\.text), changes: try map.changes("changes"),
      cursor: try Cursor(value: map.value["cursor"]), hasMore: more)
  }
}

/// What a device asks for with `GET /v1/bootstrap`: rows of one scope in key order.
package struct BootstrapRequest: Sendable, Hashable {
  /// Rows in one page unless asked otherwise.
  package static let defaultLimit = 1_000

  /// Who asks, as in a request for changes.
  package var account: String
  /// The asking device.
  package var device: String
  /// The life of its log.
  package var incarnation: Identifier
  /// The server that the log belongs to.
  package var serverID: Identifier?
  /// The scope.
  package var scope: String
  /// The last record of the page before; `nil` for the first page.
  package var after: RecordKey?
  /// The most rows to answer with.
  package var limit: Int

  /// Asks for the rows of `scope` behind `after`.
  package init(
    account: String, device: String, incarnation: Identifier, serverID: Identifier?,
    scope: String, after: RecordKey?, limit: Int = BootstrapRequest.defaultLimit
  ) {
    self.account = account
    self.device = device
    self.incarnation = incarnation
    self.serverID = serverID
    self.scope = scope
    self.after = after
    self.limit = limit
  }
}

/// A page of a scope's live rows.
package struct BootstrapPage: Sendable, Hashable {
  /// Who answers.
  package var history: HistoryIdentity
  /// The scope's head when this page was read; only the first page's counts.
  package var position: ScopePosition
  /// The rows as whole changes, in key order.
  package var rows: [Change]
  /// Whether there are rows behind the last one.
  package var hasMore: Bool

  /// A page of `rows`.
  package init(
    history: HistoryIdentity, position: ScopePosition, rows: [Change], hasMore: Bool
  ) {
    self.history = history
    self.position = position
    self.rows = rows
    self.hasMore = hasMore
  }

  /// CBOR map: "server", "epoch", "sequence", "mark", "rows" (bytes of changes), "more".
  package var value: Value {
    .map([
      "server": .bytes(history.serverID.bytes), "epoch": .bytes(history.epoch.bytes),
      "sequence": .unsigned(position.sequence), "mark": .unsigned(position.mark),
      "rows": .array(rows.map { .bytes($0.bytes) }), "more": .bool(hasMore),
    ])
  }

  /// The page that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init), case .bool(let more) = map.value["more"] else {
      throw .member(name: "more")
    }
    let sequence = try map.unsigned("sequence")
    self.init(
      history: try HistoryIdentity(map),
      position: ScopePosition(sequence: sequence, mark: try map.unsigned("mark")),
      rows: try map.changes("rows"), hasMore: more)
  }
}

extension EntryMap {
  func changes(_ name: String) throws(EntryError) -> [Change] {
    var changes: [Change] = []
    for element in try array(name) {
      guard let bytes = element.bytes else { throw .member(name: name) }
      changes.append(try Change(bytes: bytes[...]))
    }
    return changes
  }
}
