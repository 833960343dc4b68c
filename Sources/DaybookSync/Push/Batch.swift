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
    let waiting = unsettled
    var blocked: Set<Int> = []
    var lanes: Lanes?
    if !held.isEmpty {
      var map = Lanes(waiting, state: self)
      blocked = Set(held.compactMap { map.lane(of: $0) })
      lanes = map
    }
    var batch: [OutboxOperation] = []
    var byteCount = 0
    var index = 0
    while index < waiting.count {
      let unit = unit(at: index, of: waiting)
      index += unit.count
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

  /// The operations of one transaction stand together in the outbox: they came in one append.
  private func unit(at index: Int, of waiting: [OutboxOperation]) -> [OutboxOperation] {
    guard let transaction = waiting[index].operation.transaction else {
      return [waiting[index]]
    }
    let end =
      waiting[index...].firstIndex { $0.operation.transaction?.id != transaction.id }
      ?? waiting.endIndex
    return Array(waiting[index..<end])
  }
}
