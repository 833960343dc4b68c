import DaybookFormat

/// How much one push carries.
package struct BatchLimits: Sendable, Hashable {
  /// The most operations: a page that a server answers within a second on a slow disk.
  package var operationLimit: Int
  /// The most bytes of operations: well below what every server must take.
  package var byteLimit: Int

  /// Limits of `operationLimit` operations and `byteLimit` bytes; at least one unit always goes.
  package init(operationLimit: Int = 200, byteLimit: Int = 1 << 20) {
    self.operationLimit = operationLimit
    self.byteLimit = byteLimit
  }
}

extension ClientState {
  /// The next operations to send, in outbox order, transactions whole; not those in the lanes of
  /// `held`.
  func batch(limits: BatchLimits, holding held: Set<Identifier>) -> [OutboxOperation] {
    var blocked: Set<Int> = []
    var lanes: Lanes?
    if !held.isEmpty {
      var map = Lanes(unsettled, state: self)
      blocked = Set(held.compactMap { map.lane(of: $0) })
      lanes = map
    }
    var batch: [OutboxOperation] = []
    var byteCount = 0
    var index = 0
    while let unit = unit(from: &index) {
      if let lane = lanes?.lane(of: unit[0].operation.id), blocked.contains(lane) { continue }
      let unitBytes = unit.reduce(0) { $0 + $1.operation.bytes.count }
      let fits =
        batch.count + unit.count <= limits.operationLimit
        && byteCount + unitBytes <= limits.byteLimit
      guard fits || batch.isEmpty else { break }
      batch += unit
      byteCount += unitBytes
    }
    return batch
  }

  /// The operation `id` with the rest of its transaction, as long as they are unsettled.
  func unit(of id: Identifier) -> [OutboxOperation] {
    let waiting = unsettled
    guard let index = waiting.firstIndex(where: { $0.operation.id == id }) else { return [] }
    guard let transaction = waiting[index].operation.transaction else { return [waiting[index]] }
    return waiting.filter { $0.operation.transaction?.id == transaction.id }
  }

  /// The next unsettled operation at or behind `index` in the outbox with the rest of its
  /// transaction, which stands behind it: they came in one append. Moves `index` behind them.
  private func unit(from index: inout Int) -> [OutboxOperation]? {
    var unit: [OutboxOperation] = []
    while index < order.count, let kept = operations[order[index]] {
      if kept.isUnsettled {
        if let first = unit.first {
          let transaction = first.operation.transaction?.id
          if transaction == nil || kept.operation.transaction?.id != transaction { break }
        }
        unit.append(kept)
      }
      index += 1
    }
    return unit.isEmpty ? nil : unit
  }
}
