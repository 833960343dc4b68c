import DaybookFormat
import DaybookSync

/// The user does something: one operation, a transaction of several, or a group of both.
struct WriteAction: TortureAction {
  let name = "write"
  let weight = 26
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }

  func run(_ world: TortureWorld, mayFail: Bool) {
    guard let state = world.state else { return }
    var number = state.nextNumber
    let transactionCount = world.isOnce(in: 4) ? 2 : 1
    var group: [[TortureEntry]] = []
    for _ in 0..<transactionCount {
      let count = world.isOnce(in: 4) ? 2 + world.draw(below: 3) : 1
      let id = Identifier(high: world.random.next(), low: world.random.next())
      var transaction: [TortureEntry] = []
      for index in 0..<count {
        let membership = Operation.Membership(
          id: id, index: UInt16(index), count: UInt16(count))
        transaction.append(
          operation(world, state, number, count > 1 ? membership : nil))
        number += 1
      }
      group.append(transaction)
    }
    world.append(.outbox, group)
  }

  private func operation(
    _ world: TortureWorld, _ state: ClientState, _ number: UInt64,
    _ transaction: Operation.Membership?
  ) -> TortureEntry {
    let shown = state.collections[TortureServer.collection]?.shownIDs ?? []
    let known = shown.sorted()
    var action = Action.patch
    var record = world.pick(known) ?? ""
    if record.isEmpty || known.count < 6 && world.isOnce(in: 3) || world.isOnce(in: 12) {
      action = .create
      record = world.server.newRecord()
    } else if world.isOnce(in: 14) {
      action = .delete
    }
    var fields: [String: Int64] = [:]
    var unset: [String] = []
    if action != .delete {
      for name in TortureWorld.fieldNames where world.isOnce(in: 2) {
        fields[name] = Int64(world.draw(below: 1_000_000))
      }
      if action == .patch, let name = world.pick(TortureWorld.fieldNames), fields[name] == nil {
        unset = [name]
      }
    }
    let model = TortureOperation(
      id: Identifier(high: world.random.next(), low: world.random.next()), record: record,
      action: action, fields: fields, unset: unset, isLazy: !world.isOnce(in: 6))
    let key = RecordKey(TortureServer.collection, record)
    let entry = Operation(
      id: model.id, incarnation: state.incarnation, number: number,
      clock: HybridTime(rawValue: world.now), seen: state.seen(in: TortureServer.scope),
      account: TortureWorld.account, device: TortureWorld.device, record: key,
      scope: TortureServer.scope, strategy: model.isLazy ? .lazy : .queued, action: action,
      base: state.base(for: key), transaction: transaction,
      fields: TortureServer.values(fields), unset: unset)
    return TortureEntry(.operation(entry), .operation(model))
  }
}
