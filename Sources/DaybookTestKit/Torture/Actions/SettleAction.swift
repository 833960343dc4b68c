import DaybookFormat
import DaybookSync

/// Operations are sent and settled: an attempt mark, the server's verdicts, and what leaves with
/// the refused ones. Sometimes the answer is lost, and the feed tells of it first.
struct SettleAction: TortureAction {
  let name = "settle"
  let weight = 14
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil && world.isStateKnown }

  func run(_ world: TortureWorld, mayFail: Bool) {
    let waiting = Array(world.expectation.unsettled.prefix(1 + world.draw(below: 4)))
    guard !waiting.isEmpty, let state = world.state else { return }
    let fresh = waiting.map(\.id).filter { state.operation($0)?.isAttempted == false }
    if !fresh.isEmpty {
      let mark = TortureEntry(.attempt(Attempt(operationIDs: fresh)))
      guard world.append(.outbox, [[mark]]) else { return }
    }
    let verdicts = waiting.map { operation in
      world.server.judge(operation, refuses: world.isOnce(in: 6))
    }
    if world.isOnce(in: 4) { return }
    var settlements: [Settlement] = []
    var entries: [TortureEntry] = []
    for (operation, verdict) in zip(waiting, verdicts) {
      let (settlement, meaning) = settlement(operation, verdict)
      settlements.append(settlement)
      entries.append(TortureEntry(.settlement(settlement), meaning))
    }
    for departure in world.state?.departures(because: settlements) ?? [] {
      entries.append(
        TortureEntry(
          .departure(departure),
          .left(departure.members, root: departure.root, staysShown: false)))
    }
    world.append(.outbox, [entries])
  }

  private func settlement(
    _ operation: TortureOperation, _ verdict: TortureServer.Verdict
  ) -> (Settlement, TortureEntry.Meaning) {
    switch verdict {
    case .accepted(let fact):
      let acceptance = Settlement.Acceptance(
        scope: TortureServer.scope, sequence: fact.sequence,
        version: Version(number: fact.version, mark: TortureServer.mark(fact.sequence)))
      return (
        Settlement(
          operationID: operation.id, serverTime: Timestamp(milliseconds: Int64(fact.sequence)),
          verdict: .accepted(acceptance)),
        .accepted(operation.id, sequence: fact.sequence)
      )
    case .refused:
      return (
        Settlement(
          operationID: operation.id, serverTime: Timestamp(milliseconds: 1),
          verdict: .refused(Settlement.Refusal(code: .staleBase, message: "no"))),
        .refused(operation.id)
      )
    }
  }
}

/// Operations leave their lane unsent, and drafts, dead letters and failures are decided about.
struct SetAsideAction: TortureAction {
  let name = "set aside"
  let weight = 4
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil && world.isStateKnown }

  func run(_ world: TortureWorld, mayFail: Bool) {
    guard let state = world.state else { return }
    if world.isOnce(in: 2), let group = world.pick(state.setAside) {
      let hasFailed = group.operations.contains { $0.hasFailed }
      // A group whose outcome the server knows and the device does not is left alone.
      guard group.departure.members.allSatisfy({ isDecidable($0, world) }) else { return }
      let isResent = hasFailed && world.isOnce(in: 2)
      let decision = Decision(
        kind: isResent ? .resent : .discarded, root: group.root,
        time: Timestamp(milliseconds: Int64(world.now >> 16)))
      world.append(
        .outbox,
        [[TortureEntry(.decision(decision), .decided(root: group.root, isResent: isResent))]])
      return
    }
    // Only what was never sent: of the rest the server might say that it took effect.
    let unsent = state.unsettled.filter {
      !$0.isAttempted && world.server.verdicts[$0.operation.id] == nil
    }
    guard let root = world.pick(unsent)?.operation.id else { return }
    let reason: Departure.Reason
    switch world.draw(below: 3) {
    case 0: reason = .failed(message: "attempts used up")
    case 1: reason = .deadLetter(status: 422, message: "no")
    default: reason = .withdrawn
    }
    let departure = state.departure(of: root, reason: reason)
    guard departure.members.allSatisfy({ world.server.verdicts[$0] == nil }) else { return }
    var staysShown = false
    if case .failed = reason { staysShown = true }
    world.append(
      .outbox,
      [
        [
          TortureEntry(
            .departure(departure),
            .left(departure.members, root: departure.root, staysShown: staysShown))
        ]
      ])
  }

  private func isDecidable(_ id: Identifier, _ world: TortureWorld) -> Bool {
    if case .accepted? = world.server.verdicts[id] { return false }
    return true
  }
}
