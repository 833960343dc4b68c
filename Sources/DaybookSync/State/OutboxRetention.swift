package import DaybookFormat

/// Which entries of the outbox a compaction must keep: what only this device has.
///
/// An operation may be dropped only when the base shows its effect, and did before the oldest copy
/// that the server would be restored from was made; or when it was discarded or retried and nothing
/// of it can come back, and whatever took its place may be dropped too. Time is the server's, as
/// the log has seen it, never the device's. Source: `Docs/Format.md`, section "Compaction".
package struct OutboxRetention: Sendable {
  private struct Fact {
    let number: UInt64
    let incarnation: Identifier
    let clock: HybridTime
    let base: Identifier?
    let supersedes: Identifier?
    var acceptedAt: Timestamp?
  }

  private var facts: [Identifier: Fact] = [:]
  /// The members of each group that left its lane, by the operation that it is named after.
  private var groups: [Identifier: Set<Identifier>] = [:]
  /// The number of the last binding of each life of the log.
  private var bindings: [Identifier: UInt64] = [:]
  /// The latest time of a verdict.
  private var latest: Timestamp?

  /// Nothing is known yet.
  package init() {}

  /// Takes the next entry of the outbox, from the first one to the last; others change nothing.
  package mutating func add(_ entry: Entry, number: UInt64) {
    switch entry {
    case .operation(let operation):
      guard facts[operation.id] == nil else { return }
      var base: Identifier?
      if case .operation(let id) = operation.base { base = id }
      facts[operation.id] = Fact(
        number: operation.number, incarnation: operation.incarnation, clock: operation.clock,
        base: base, supersedes: operation.supersedes)
    case .settlement(let settlement):
      latest = latest.map { max($0, settlement.serverTime) } ?? settlement.serverTime
      guard settlement.acceptance != nil else { return }
      facts[settlement.operationID]?.acceptedAt = settlement.serverTime
    case .departure(let departure):
      groups[departure.root, default: []].formUnion(departure.members)
    case .binding(let binding): bindings[binding.incarnation] = number
    default: return
    }
  }

  /// What is to be kept, given the state that the same files make.
  ///
  /// An operation that the state still has is kept. One that took effect is kept for `horizon`
  /// milliseconds behind the latest server time, the log's or `serverTime`.
  package func keep(
    in state: ClientState, horizonMilliseconds horizon: Int64, serverTime: Timestamp? = nil
  ) -> OutboxKeep {
    let now = [latest, serverTime].compactMap { $0 }.max()
    let oldest = now.map { $0.milliseconds.subtractingReportingOverflow(max(0, horizon)) }
    func mayGo(_ id: Identifier, _ fact: Fact) -> Bool {
      if state.operation(id) != nil { return false }
      guard let accepted = fact.acceptedAt else { return true }
      guard let oldest, !oldest.overflow else { return false }
      return accepted.milliseconds <= oldest.partialValue
    }
    var kept: Set<Identifier> = []
    var open = facts.filter { !mayGo($0.key, $0.value) }.map(\.key)
    // What tells the next number and the clock stays, with what became of it.
    open += lastOperations
    while let id = open.popLast() {
      guard kept.insert(id).inserted else { continue }
      if let old = facts[id]?.supersedes, facts[old] != nil { open.append(old) }
    }
    // Only the direct base: it says which version is meant. Its own base was sent with it.
    for id in kept {
      if let base = facts[id]?.base, facts[base] != nil { kept.insert(base) }
    }
    var roots: Set<Identifier> = []
    for (root, members) in groups where !members.isDisjoint(with: kept) { roots.insert(root) }
    return OutboxKeep(
      operations: kept, roots: roots, bindings: Set(bindings.values), groups: groups)
  }

  private var lastOperations: [Identifier] {
    var last: [Identifier: (id: Identifier, number: UInt64)] = [:]
    var latest: (id: Identifier, clock: HybridTime)?
    for (id, fact) in facts {
      if fact.number >= last[fact.incarnation]?.number ?? 0 {
        last[fact.incarnation] = (id, fact.number)
      }
      if latest == nil || fact.clock > latest?.clock ?? fact.clock { latest = (id, fact.clock) }
    }
    return last.values.map(\.id) + (latest.map { [$0.id] } ?? [])
  }
}

/// The entries of the outbox that a compaction keeps.
package struct OutboxKeep: Sendable {
  /// The operations kept.
  package let operations: Set<Identifier>
  private let roots: Set<Identifier>
  private let bindings: Set<UInt64>
  private let groups: [Identifier: Set<Identifier>]

  fileprivate init(
    operations: Set<Identifier>, roots: Set<Identifier>, bindings: Set<UInt64>,
    groups: [Identifier: Set<Identifier>]
  ) {
    self.groups = groups
    self.operations = operations
    self.roots = roots
    self.bindings = bindings
  }

  /// The operations that an entry says something of. As long as any file still holds one of them,
  /// what was said of it has to stay too: without its verdict it would be sent again.
  package func subjects(of entry: Entry) -> Set<Identifier> {
    switch entry {
    case .settlement(let settlement): return [settlement.operationID]
    case .attempt(let attempt): return Set(attempt.operationIDs)
    case .departure(let departure): return Set(departure.members).union([departure.root])
    case .decision(let decision): return (groups[decision.root] ?? []).union([decision.root])
    default: return []
    }
  }

  /// Whether the entry `number` is kept. What this version does not know is.
  package func contains(_ entry: Entry?, number: UInt64) -> Bool {
    switch entry {
    case .operation(let operation): return operations.contains(operation.id)
    case .settlement(let settlement): return operations.contains(settlement.operationID)
    case .attempt(let attempt): return attempt.operationIDs.contains(where: operations.contains)
    case .departure(let departure):
      return operations.contains(departure.root)
        || departure.members.contains(where: operations.contains)
    case .decision(let decision):
      switch decision.kind {
      case .discarded, .retried, .resent:
        return operations.contains(decision.root) || roots.contains(decision.root)
      default: return true
      }
    case .binding: return bindings.contains(number)
    default: return true
    }
  }
}

/// Which entries of the feed a compaction keeps below the older snapshot: what the schema asks for.
package struct FeedRetention: Sendable {
  private static let millisecondsInDay: Int64 = 86_400_000
  private let schema: Schema
  private let latest: Timestamp?

  /// What `schema` asks for, with days counted back from `latest`, the latest server time seen.
  package init(schema: Schema, latest: Timestamp?) {
    self.schema = schema
    self.latest = latest
  }

  /// Whether the entry is kept. The base needs none of them; gaps stay, and what this version does
  /// not know.
  package func contains(_ entry: Entry?) -> Bool {
    switch entry {
    case .change(let change):
      // What the schema lacks may be a newer app's, which asks for it.
      switch schema[change.record.collection]?.history ?? .keep {
      case .latest: return false
      case .keep: return true
      case .days(let days):
        guard let latest else { return true }
        let (oldest, overflow) = latest.milliseconds.subtractingReportingOverflow(
          Int64(days) * FeedRetention.millisecondsInDay)
        return overflow || change.serverTime.milliseconds > oldest
      }
    case .cursor, .bootstrap: return false
    default: return true
    }
  }
}
