package import DaybookFormat
import DaybookSync

/// The server's side of sync: takes operations once each, and serves rows and changes.
///
/// Every answer is durable before it is returned. Source: `Docs/Sync.md`.
package struct ServerEngine<Store: ServerStore>: Sendable {
  /// Where everything is kept.
  package let store: Store
  /// The schema that decides.
  package let schema: Schema
  let now: @Sendable () -> Timestamp

  /// The server's clock, now.
  package var time: Timestamp { now() }

  /// How often a device's last contact is written down, in milliseconds: once a day is enough for a
  /// memory of 400 days.
  static var contactInterval: Int64 { 86_400_000 }
  /// The most bytes of rows or changes in one page, so that a slow line gets it within a timeout.
  static var pageByteLimit: Int { 4 << 20 }
  /// The most operations of one transaction, as clients check it in `write`.
  static var transactionLimit: Int { 256 }

  /// A server of `schema` on `store`, whose clock is `now`.
  package init(store: Store, schema: Schema, now: @escaping @Sendable () -> Timestamp) {
    self.store = store
    self.schema = schema
    self.now = now
  }

  /// Takes a batch: one database transaction, with a savepoint for each client transaction.
  package func push(_ request: PushRequest) async throws(ServerProblem) -> PushReply {
    let time = now()
    let rules = Rules(schema: schema)
    let history = store.history
    let results = try await store.write {
      (transaction: inout any ServerTransaction) throws(ServerProblem) -> [PushResult] in
      var run = PushRun(request: request, rules: rules, time: time)
      try run.admit(&transaction, history: history)
      return try run.run(&transaction)
    }
    return PushReply(history: history, serverTime: time, results: results)
  }

  /// Serves the changes behind a cursor, and registers the device's incarnation.
  package func changes(_ request: ChangesRequest) async throws(ServerProblem) -> ChangesPage {
    try await register(request)
    let time = now()
    let history = store.history
    let schema = schema
    let limit = ChangesRequest.limitRange.clamp(request.limit)
    return try await store.read { (reader: any ServerReader) throws(ServerProblem) in
      let scopes = try pulledScopes(of: request.account, schema: schema, reader: reader)
      let after = request.after ?? Cursor(epoch: history.epoch)
      var page = ChangesPage(
        history: history, serverTime: time, scopes: scopes, changes: [],
        cursor: Cursor(epoch: history.epoch), hasMore: false)
      var byteCount = 0
      for scope in scopes {
        guard let position = after.positions[scope] else { continue }
        try check(position, of: scope, epoch: after.epoch, history: history, reader: reader)
        var reached = position
        let room = limit - page.changes.count
        // The rest of a transaction comes along however full the page is.
        let reach = max(0, room) + ServerEngine.transactionLimit
        var isInTransaction = false
        for change in reader.changes(of: scope, after: position.sequence, limit: reach) {
          let isFull = page.changes.count >= limit || byteCount >= ServerEngine.pageByteLimit
          if isFull, !isInTransaction { break }
          byteCount += change.bytes.count
          page.changes.append(change)
          reached = ScopePosition(sequence: change.sequence, mark: change.version.mark)
          isInTransaction = change.isContinued
        }
        page.cursor.positions[scope] = reached
        if reached.sequence < reader.head(of: scope).sequence { page.hasMore = true }
      }
      return page
    }
  }

  /// Serves a page of a scope's live rows.
  package func bootstrap(_ request: BootstrapRequest) async throws(ServerProblem) -> BootstrapPage {
    let history = store.history
    let schema = schema
    if let serverID = request.serverID, serverID != history.serverID {
      throw notOurServer
    }
    guard schema.isPulled(scope: request.scope, by: request.account) else {
      throw ServerProblem(.unknownScope, "This account does not pull that scope.")
    }
    let limit = ChangesRequest.limitRange.clamp(request.limit)
    return try await store.read { (reader: any ServerReader) throws(ServerProblem) in
      let head = reader.head(of: request.scope).position
      var rows: [Change] = []
      var byteCount = 0
      let found = reader.rows(of: request.scope, after: request.after, limit: limit + 1)
      for row in found.prefix(limit) {
        guard byteCount < ServerEngine.pageByteLimit else { break }
        byteCount += row.bytes.count
        rows.append(row)
      }
      return BootstrapPage(
        history: history, position: head, rows: rows, hasMore: rows.count < found.count)
    }
  }

  private func register(_ request: ChangesRequest) async throws(ServerProblem) {
    let history = store.history
    if let serverID = request.serverID, serverID != history.serverID { throw notOurServer }
    let time = now()
    let known = try await store.read { (reader: any ServerReader) throws(ServerProblem) in
      reader.incarnation(request.incarnation)
    }
    if let known {
      guard known.account == request.account else { throw wrongAccount }
      let age = time.milliseconds - known.lastContact.milliseconds
      if age < ServerEngine.contactInterval { return }
    }
    try await store.write { (transaction: inout any ServerTransaction) throws(ServerProblem) in
      var row =
        transaction.incarnation(request.incarnation)
        ?? IncarnationRow(
          incarnation: request.incarnation, account: request.account, device: request.device,
          watermark: 1, lastContact: time)
      row.lastContact = time
      transaction.put(row)
    }
  }
}

extension ClosedRange<Int> {
  /// The number of the range that is nearest to `number`.
  fileprivate func clamp(_ number: Int) -> Int {
    Swift.min(Swift.max(number, lowerBound), upperBound)
  }
}

let notOurServer = ServerProblem(
  .notOurServer, "This log belongs to another server. Check the address; nothing was changed.")
let wrongAccount = ServerProblem(
  .wrongAccount, "The log was made under another account. Sign in as that one to send it.")

/// The scopes that `account` pulls: the constant ones, its own, and for an overseer all there are.
private func pulledScopes(
  of account: String, schema: Schema, reader: any ServerReader
) throws(ServerProblem) -> [String] {
  var names = Set(schema.constantScopes)
  if schema.overseers.contains(account) { names.formUnion(reader.scopes) }
  for collection in schema.collections.values {
    switch collection.scope {
    case .constant: continue
    case .account: names.insert(account)
    case .field(let field): names.insert("\(field)/\(account)")
    }
  }
  guard names.count <= Cursor.scopeLimit else {
    throw ServerProblem(
      .tooLarge,
      "This account would pull \(names.count) scopes; a cursor names at most \(Cursor.scopeLimit). "
        + "Divide what it oversees among several accounts.")
  }
  return names.sorted(by: ByteOrder.precedes)
}

/// Refuses a place that is not in this history.
func check(
  _ position: ScopePosition, of scope: String, epoch: Identifier, history: HistoryIdentity,
  reader: any ServerReader, watermark: UInt64? = nil
) throws(ServerProblem) {
  guard epoch == history.epoch, let isContained = reader.contains(position, of: scope) else {
    throw ServerProblem(
      epoch == history.epoch ? .cursorExpired : .historyChanged,
      "The device's copy of \(scope) has to be fetched anew; what it wrote stays.",
      watermark: watermark)
  }
  guard isContained else {
    throw ServerProblem(
      .historyChanged, "The server's history of \(scope) is not the one that the device knows.",
      watermark: watermark)
  }
}
