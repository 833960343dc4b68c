package import DaybookFormat

extension ClientState {
  /// The groups that leave their lanes because of `settlements` without effect, to be appended with
  /// them. Operations on the server's row go on.
  package func departures(because settlements: [Settlement]) -> [Departure] {
    let refused = settlements.filter { $0.acceptance == nil && operations[$0.operationID] != nil }
    // The member that failed names the group; those refused because of it follow.
    let roots =
      refused.filter { $0.refusal?.code != .transaction }
      + refused.filter { $0.refusal?.code == .transaction }
    var gone: Set<Identifier> = []
    var departures: [Departure] = []
    for settlement in roots where !gone.contains(settlement.operationID) {
      if operations[settlement.operationID]?.departure != nil { continue }
      let whole = departure(of: settlement.operationID, reason: .verdict)
      // What follows two operations leaves with the first of them.
      let members = whole.members.filter { !gone.contains($0) }
      gone.formUnion(members)
      departures.append(Departure(root: whole.root, members: members, reason: whole.reason))
    }
    return departures
  }

  /// Whether the operation is based on one that will never take effect, so that the server would
  /// never decide about it. It was written while that one left its lane.
  func isOrphaned(_ operation: Operation) -> Bool {
    guard case .operation(let base) = operation.base else { return false }
    guard let kept = operations[base] else { return givenVersions[base] == nil }
    return kept.settlement?.acceptance == nil && !kept.isUnsettled
  }

  /// The group that leaves with `root`: its transaction, and every later operation based on the
  /// result of a member, referring to a record that a member would have created, or in one
  /// transaction with such an operation.
  package func departure(of root: Identifier, reason: Departure.Reason) -> Departure {
    var group: Set<Identifier> = [root]
    var created: Set<RecordKey> = []
    var transactions: Set<Identifier> = []
    func add(_ operation: Operation) {
      group.insert(operation.id)
      if operation.action == .create { created.insert(operation.record) }
      if let transaction = operation.transaction { transactions.insert(transaction.id) }
    }
    if let kept = operations[root] { add(kept.operation) }
    let candidates = keptOperations.filter {
      $0.settlement?.acceptance == nil && ($0.departure == nil || $0.operation.id == root)
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for kept in candidates where !group.contains(kept.operation.id) {
        let operation = kept.operation
        var follows = operation.transaction.map { transactions.contains($0.id) } ?? false
        if case .operation(let base) = operation.base, group.contains(base) { follows = true }
        if !created.isEmpty, schema.references(of: operation).contains(where: created.contains) {
          follows = true
        }
        if follows {
          add(operation)
          isGrowing = true
        }
      }
    }
    let members = candidates.map(\.operation.id).filter(group.contains)
    return Departure(root: root, members: members.isEmpty ? [root] : members, reason: reason)
  }
}
