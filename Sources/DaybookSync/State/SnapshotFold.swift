package import DaybookFormat

/// Folds the entries of a log for the next snapshot, and gives that snapshot's entries.
///
/// It sees what a replay sees, in that order: an older snapshot, then the feed behind it and the
/// whole outbox.
package struct SnapshotFold {
  /// What has been folded.
  package private(set) var state: ClientState
  /// The latest server time in any change or settlement met.
  package private(set) var latestServerTime: Timestamp?
  /// The number of the last outbox entry met.
  package private(set) var outboxNumber: UInt64 = 0
  private var told: [FeedSettlement] = []
  /// The operations that the outbox still holds.
  private var written: Set<Identifier> = []

  /// Nothing folded yet. The schema has no part in what a snapshot holds.
  package init(incarnation: Identifier) {
    state = ClientState(schema: Schema(name: "", collections: []), incarnation: incarnation)
  }

  /// Takes the next entry in replay order; `position` is its number in its stream.
  package mutating func add(_ entry: Entry, position: UInt64) {
    switch entry {
    case .change(let change):
      note(change.serverTime)
      let wasAccepted = state.operation(change.operationID)?.settlement?.acceptance != nil
      state.apply(entry, position: position)
      if !wasAccepted, let kept = state.operation(change.operationID),
        kept.isSettlementUnrecorded, let settlement = kept.settlement
      {
        told.append(FeedSettlement(settlement, after: outboxNumber))
      }
      return
    case .feedSettlement(let settlement): told.append(settlement)
    case .cursor, .bootstrap, .heldRow, .scopeBase: break
    case .gap(let gap) where !gap.isOfOutbox: break
    case .operation(let operation):
      written.insert(operation.id)
      outboxNumber = max(outboxNumber, position)
    case .settlement(let settlement):
      note(settlement.serverTime)
      outboxNumber = max(outboxNumber, position)
    default: outboxNumber = max(outboxNumber, position)
    }
    state.apply(entry, position: position)
  }

  private mutating func note(_ time: Timestamp) {
    latestServerTime = latestServerTime.map { max($0, time) } ?? time
  }

  /// Gives the snapshot's entries to `body` in canonical order.
  ///
  /// Of what the feed told early, all stays that the outbox has an operation for: what the outbox
  /// says of it behind that place has to be judged as it was.
  package func export<Failure: Error>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
    try state.exportBase(body)
    let kept = told.filter { written.contains($0.settlement.operationID) }.sorted {
      ($0.after, $0.settlement.operationID) < ($1.after, $1.settlement.operationID)
    }
    for settlement in kept { try body(.feedSettlement(settlement)) }
  }
}
