package import DaybookFormat

/// Everything a device knows, folded from its log: the base, the operations laid over it, and what
/// became of them. The same entries give an equal state, on every machine and day.
///
/// State = fold(feed), with the outbox's operations laid over. An operation is *unsettled* until it
/// has a settlement or has left its lane; it is *laid over* while it is lazy and neither confirmed
/// nor without effect; it is *confirmed* when its scope's position has reached its settlement's.
/// Source: `Docs/Sync.md`, section "State".
package struct ClientState: Sendable, Hashable {
  /// The schema; used for lanes, indexes and references, never for the fold.
  package let schema: Schema
  /// The life of the log whose operations are counted.
  package let incarnation: Identifier
  /// The collections by name, those that the schema lacks included.
  package internal(set) var collections: [String: CollectionState]
  /// The scopes by name.
  package internal(set) var scopes: [String: ScopeState] = [:]
  /// The identity of the server's history, once pulled.
  package internal(set) var epoch: Identifier?
  /// The server that the log belongs to, once known.
  package internal(set) var binding: Binding?
  /// The number of the next operation.
  package internal(set) var nextNumber: UInt64 = 1
  /// Entries of the outbox are lost, and verdicts may have been among them.
  package internal(set) var hasLostOutboxEntries = false
  /// The highest clock reading in the log.
  package internal(set) var clock = HybridTime(rawValue: 0)
  /// The last restore from a copy, if there was one.
  package internal(set) var restoration: Restoration?
  /// The lives of the log that a server has registered, as far as the log tells.
  package internal(set) var registered: Set<Identifier> = []
  var operations: [Identifier: OutboxOperation] = [:]
  /// The ids of ``operations`` in outbox order.
  var order: [Identifier] = []
  /// The ids of ``operations`` by record, each in outbox order.
  var recordOperations: [RecordKey: [Identifier]] = [:]
  /// How many kept operations are based on each operation.
  var dependents: [Identifier: Int] = [:]
  /// The numbers of attempted operations without a verdict, by the operation that supersedes each.
  var supersededNumbers: [Identifier: UInt64] = [:]
  /// The versions that confirmed operations were given, while a kept one is based on them.
  var givenVersions: [Identifier: Version] = [:]
  /// Set while a base from a snapshot waits for the outbox before it.
  var replayed: ReplayedBase?

  /// The state of an empty log.
  package init(schema: Schema, incarnation: Identifier) {
    self.schema = schema
    self.incarnation = incarnation
    collections = schema.collections.mapValues { CollectionState(schema: $0) }
  }

  /// The operation `id` while it is kept.
  package func operation(_ id: Identifier) -> OutboxOperation? { operations[id] }

  /// All operations kept, in outbox order.
  package var keptOperations: [OutboxOperation] { order.compactMap { operations[$0] } }

  /// The operations that have no settlement and are in their lane, in outbox order.
  package var unsettled: [OutboxOperation] { keptOperations.filter(\.isUnsettled) }

  /// The settlements that the feed told and that are not in the outbox yet, in outbox order.
  package var unrecordedSettlements: [Settlement] {
    keptOperations.compactMap { $0.isSettlementUnrecorded ? $0.settlement : nil }
  }

  /// The operations to withdraw with the next push.
  package var withdrawals: [PushRequest.Withdrawal] {
    keptOperations.filter { $0.isWithdrawn && !$0.isHeld }.map {
      PushRequest.Withdrawal(
        operationID: $0.operation.id, number: $0.operation.number,
        incarnation: $0.operation.incarnation == incarnation ? nil : $0.operation.incarnation)
    }
  }

  /// The number below which every operation has its settlement durably recorded, or was given up
  /// before it was ever sent.
  package var watermark: UInt64 {
    // Numbers grow in outbox order.
    let lowest = order.first { id in
      guard let kept = operations[id], kept.operation.incarnation == incarnation else {
        return false
      }
      return kept.holdsWatermark
    }
    let number = lowest.flatMap { operations[$0]?.operation.number } ?? nextNumber
    // The server must still know what became of an operation when its successor arrives.
    let superseded = supersededNumbers.filter { operations[$0.key]?.holdsWatermark == true }
    return min(number, superseded.values.min() ?? number)
  }

  /// What was set aside and is not decided, in outbox order: drafts, dead letters, failed ones.
  package var setAside: [SetAside] {
    var groups: [SetAside] = []
    var seen: Set<Identifier> = []
    for kept in keptOperations {
      guard let departure = kept.departure, !kept.isDecided, seen.insert(departure.root).inserted
      else { continue }
      if let group = setAside(departure) { groups.append(group) }
    }
    return groups
  }

  /// The group that `departure` made, without the members that took effect after all or that left
  /// with another group.
  package func setAside(_ departure: Departure) -> SetAside? {
    let members = departure.members.compactMap { operations[$0] }.filter {
      $0.departure?.root == departure.root && $0.settlement?.acceptance == nil && !$0.isDecided
    }
    return members.isEmpty ? nil : SetAside(departure: departure, operations: members)
  }

  /// The highest place known of each scope, for a push or a pull to name.
  package var known: Cursor? {
    epoch.map { Cursor(epoch: $0, positions: scopes.compactMapValues(\.known)) }
  }

  /// Where pulling goes on: the place that each bootstrapped scope's base shows.
  package var pulled: Cursor? {
    epoch.map { Cursor(epoch: $0, positions: scopes.compactMapValues(\.position)) }
  }

  /// The collections that the log has and the schema lacks, in byte order.
  package var unknownCollections: [String] {
    collections.filter { $0.value.schema == nil && !$0.value.isEmpty }.keys
      .sorted(by: ByteOrder.precedes)
  }
}
