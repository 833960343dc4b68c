package import DaybookFormat
package import DaybookSync

/// Where the server keeps rows, verdicts and the change log. An embedded store and a database
/// behave the same; one test suite says so.
package protocol ServerStore: Sendable {
  /// Who the server is, and which history it keeps.
  var history: HistoryIdentity { get }

  /// Runs `body` as one transaction. Transactions take effect one after the other, in commit order.
  ///
  /// On return everything that `body` wrote is durable, and so is everything that it read. If
  /// `body` throws, nothing was written.
  func write<Result: Sendable>(
    _ body: (inout any ServerTransaction) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result

  /// Runs `body` on a consistent state of which everything is durable on return.
  func read<Result: Sendable>(
    _ body: (any ServerReader) throws(ServerProblem) -> Result
  ) async throws(ServerProblem) -> Result
}

/// What the rules of the server look at.
package protocol ServerReader {
  /// The record, as a row or a tombstone; `nil` if it has never been there.
  func record(_ key: RecordKey) -> CurrentRecord?
  /// The head of `scope`; sequence 0 if nothing has happened in it.
  func head(of scope: String) -> ScopeHead
  /// The row of an op id, while it is kept.
  func verdict(of operationID: Identifier) -> VerdictRow?
  /// The op id that a number of an incarnation was used for, while its row is kept.
  func operationID(incarnation: Identifier, number: UInt64) -> Identifier?
  /// What is known of an incarnation; `nil` if it has not registered.
  func incarnation(_ id: Identifier) -> IncarnationRow?
  /// Whether `position` lies in this history of `scope`; `nil` if it is older than the change log.
  func contains(_ position: ScopePosition, of scope: String) -> Bool?
  /// The names of the scopes in which something has happened, in byte order.
  var scopes: [String] { get }
  /// Up to `limit` changes of `scope` with a sequence number above `sequence`, in order.
  func changes(of scope: String, after sequence: UInt64, limit: Int) -> ArraySlice<Change>
  /// Up to `limit` live rows of `scope` behind `key`, in key order, as whole changes.
  func rows(of scope: String, after key: RecordKey?, limit: Int) -> [Change]
}

/// What the rules of the server write. All of it becomes durable together, or none.
package protocol ServerTransaction: ServerReader {
  /// Appends `change`, which is the next of its scope, with the record as it is afterwards.
  mutating func append(_ change: Change, record: CurrentRecord, hash: [UInt8])
  /// Keeps a verdict.
  mutating func put(_ verdict: VerdictRow)
  /// Keeps what is known of an incarnation, and prunes the verdicts below its watermark.
  mutating func put(_ incarnation: IncarnationRow)
  /// Runs `body`; if it returns `false`, what it wrote is undone.
  mutating func savepoint(_ body: (inout any ServerTransaction) throws(ServerProblem) -> Bool)
    throws(ServerProblem)
}

/// The head of a scope.
package struct ScopeHead: Sendable, Hashable {
  /// The last sequence number; 0 before the first change.
  package let sequence: UInt64
  /// The running hash there, 32 bytes.
  package let hash: [UInt8]

  /// The head at `sequence`.
  package init(sequence: UInt64, hash: [UInt8]) {
    self.sequence = sequence
    self.hash = hash
  }

  /// The head as a position with its mark.
  package var position: ScopePosition {
    ScopePosition(sequence: sequence, mark: Change.mark(of: hash))
  }
}
