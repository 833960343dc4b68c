package import DaybookFormat
package import DaybookServerCore
package import DaybookSync

/// A server of the real rules whose data is in memory.
package struct SimulatedServer: Sendable {
  /// The server's clock.
  package let clock: SimulatedClock
  /// The rules, as every server runs them.
  package let engine: ServerEngine<MemoryStore>

  /// An empty server of `schema`; `seed` decides who it is.
  package init(schema: Schema, clock: SimulatedClock = SimulatedClock(), seed: UInt64 = 1) {
    var random = SplitMix64(seed: seed)
    let history = HistoryIdentity(
      serverID: Identifier(high: random.next(), low: random.next()),
      epoch: Identifier(high: random.next(), low: random.next()))
    self.clock = clock
    engine = ServerEngine(store: MemoryStore(history: history), schema: schema) { clock.now }
  }

  /// The record as the server holds it; `nil` if it has never been there.
  package func record(_ key: RecordKey) async throws(ServerProblem) -> CurrentRecord? {
    try await engine.store.read { (reader: any ServerReader) throws(ServerProblem) in
      reader.record(key)
    }
  }

  /// The live rows of `scope`, by record.
  package func rows(of scope: String) async throws(ServerProblem) -> [RecordKey: ValueMap] {
    try await engine.store.read { (reader: any ServerReader) throws(ServerProblem) in
      let changes = reader.rows(of: scope, after: nil, limit: .max)
      return Dictionary(changes.map { ($0.record, $0.fields) }, uniquingKeysWith: { $1 })
    }
  }

  /// Every change of `scope`, in order.
  package func changes(of scope: String) async throws(ServerProblem) -> [Change] {
    try await engine.store.read { (reader: any ServerReader) throws(ServerProblem) in
      Array(reader.changes(of: scope, after: 0, limit: .max))
    }
  }

  /// The verdict that the server keeps for an op id, if any.
  package func verdict(of operationID: Identifier) async throws(ServerProblem) -> VerdictRow? {
    try await engine.store.read { (reader: any ServerReader) throws(ServerProblem) in
      reader.verdict(of: operationID)
    }
  }
}
