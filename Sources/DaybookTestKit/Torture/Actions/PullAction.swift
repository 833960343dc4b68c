import DaybookFormat

/// Others change rows at the server, and pages of changes are pulled, each in one append with its
/// cursor; mostly the last one is synced.
struct PullAction: TortureAction {
  let name = "pull"
  let weight = 16
  func isPossible(in world: TortureWorld) -> Bool {
    world.log != nil && world.isStateKnown && world.expectation.isPullable
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    for _ in 0..<world.draw(below: 4) { othersChange(world) }
    let pageCount = world.isOnce(in: 4) ? 2 + world.draw(below: 3) : 1
    for page in 1...pageCount {
      guard let position = world.expectation.position, world.server.head > position else { return }
      let count = min(UInt64(1 + world.draw(below: 6)), world.server.head - position)
      let facts = world.server.history[Int(position)..<Int(position + count)]
      let entries = facts.map { world.server.change($0) } + [TortureServer.cursor(position + count)]
      let isSynced = page == pageCount && !world.isOnce(in: 5)
      guard world.append(.feed, [entries], isSynced: isSynced) else { return }
    }
  }

  private func othersChange(_ world: TortureWorld) {
    var action = Action.patch
    var record = world.pick(world.server.records) ?? ""
    if record.isEmpty || world.server.records.count < 8 && world.isOnce(in: 4) {
      action = .create
      record = world.server.newRecord()
    } else if world.isOnce(in: 12) {
      action = .delete
    }
    var fields: [String: Int64] = [:]
    if action != .delete {
      for name in TortureWorld.fieldNames where world.isOnce(in: 2) {
        fields[name] = Int64(world.draw(below: 1_000_000))
      }
    }
    _ = world.server.judge(
      TortureOperation(
        id: Identifier(high: world.random.next(), low: world.random.next()), record: record,
        action: action, fields: fields, unset: [], isLazy: true))
  }
}

/// A scope is read anew, row by row; the new base replaces the old one with the last append.
struct BootstrapAction: TortureAction {
  let name = "bootstrap"
  let weight = 6
  func isPossible(in world: TortureWorld) -> Bool {
    guard world.log != nil, world.isStateKnown else { return false }
    return !world.expectation.isPullable || world.isOnce(in: 12)
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    let scope = TortureServer.scope
    let head = world.server.head
    let begin = TortureEntry(
      .bootstrap(
        .begin(
          scope: scope, epoch: TortureServer.epoch,
          position: ScopePosition(sequence: head, mark: TortureServer.mark(head)))),
      .bootstrapBegin(sequence: head))
    guard world.append(.feed, [[begin]], isSynced: world.isOnce(in: 2)) else { return }
    let records = world.server.records
    for start in stride(from: 0, to: records.count, by: 3) {
      let page = records[start..<min(start + 3, records.count)]
      var entries = page.compactMap { world.server.rowChange($0) }
      if let last = page.last {
        entries.append(
          TortureEntry(
            .bootstrap(.page(scope: scope, after: RecordKey(TortureServer.collection, last)))))
      }
      guard world.append(.feed, [entries], isSynced: false), !world.isOnce(in: 30) else { return }
    }
    let end = TortureEntry(.bootstrap(.end(scope: scope)), .bootstrapEnd)
    world.append(.feed, [[end]], isSynced: !world.isOnce(in: 6))
  }
}
