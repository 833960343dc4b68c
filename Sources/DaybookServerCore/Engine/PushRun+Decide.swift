import DaybookFormat
import DaybookSync

extension PushRun {
  /// What becomes of one operation that has no verdict yet.
  enum Decision {
    /// A verdict, kept if the whole unit is accepted.
    case settled(Settlement)
    /// An operation it is based on has no verdict here.
    case blocked
  }

  /// Decides about one operation and writes its effect.
  func decide(
    _ item: PushRequest.Item, isContinued: Bool, _ transaction: inout any ServerTransaction
  ) -> Decision {
    let operation = item.operation
    if let refusal = refusalOfSuccessor(operation, transaction) {
      return .settled(settle(operation, .refused(refusal)))
    }
    let current = transaction.record(operation.record)
    let base: Version?
    switch operation.base {
    case .none: base = nil
    case .version(let version): base = version
    case .operation(let id):
      if let version = item.baseVersion {
        base = version
      } else if let row = transaction.verdict(of: id) {
        guard let acceptance = row.settlement.acceptance else {
          return .settled(
            settle(
              operation,
              .refused(
                Settlement.Refusal(
                  code: .baseRefused, message: "The operation it is based on was refused.",
                  currentVersion: current?.version, currentRow: current?.row))))
        }
        base = acceptance.version
      } else {
        return .blocked
      }
    }
    let reader = transaction
    let judgement = rules.judge(operation, base: base, current: current) { key in
      reader.record(key)?.row != nil
    }
    switch judgement {
    case .refused(let refusal):
      return .settled(settle(operation, .refused(refusal)))
    case .effect(let effect):
      let acceptance = write(
        effect, of: operation, isContinued: isContinued, current, &transaction)
      let settlement = settle(operation, .accepted(acceptance))
      keep(settlement, of: operation, &transaction)
      return .settled(settlement)
    }
  }

  private func settle(_ operation: Operation, _ verdict: Settlement.Verdict) -> Settlement {
    Settlement(operationID: operation.id, serverTime: time, verdict: verdict)
  }

  /// The reason to refuse an operation if the one that it supersedes had been accepted after all.
  private func refusalOfSuccessor(
    _ operation: Operation, _ transaction: any ServerTransaction
  ) -> Settlement.Refusal? {
    guard let old = operation.supersedes,
      let acceptance = transaction.verdict(of: old)?.settlement.acceptance
    else { return nil }
    let current = transaction.record(operation.record)
    return Settlement.Refusal(
      code: .wasAccepted,
      message: "The operation it supersedes had been accepted as \(acceptance.sequence).",
      currentVersion: current?.version, currentRow: current?.row)
  }

  /// Appends the change. A record's first version counts from its create's sequence number.
  private func write(
    _ effect: Judgement.Effect, of operation: Operation, isContinued: Bool,
    _ current: CurrentRecord?, _ transaction: inout any ServerTransaction
  ) -> Settlement.Acceptance {
    let head = transaction.head(of: operation.scope)
    let sequence = head.sequence + 1
    let isNew = current?.row == nil
    let number = isNew ? sequence : (current?.version.number ?? 0) + 1
    let unmarked = Change(
      operationID: operation.id, sequence: sequence, version: Version(number: number, mark: 0),
      seen: operation.seen, deviceClock: operation.clock, serverTime: time,
      action: operation.action, extent: effect.extent, isSuperfluous: effect.isSuperfluous,
      isContinued: isContinued, scope: operation.scope, record: operation.record,
      account: operation.account, device: operation.device, fields: effect.fields,
      unset: effect.unset)
    let hash = unmarked.runningHash(after: head.hash)
    let change = unmarked.marked(Change.mark(of: hash))
    transaction.append(
      change, record: ServerState.record(after: change, before: current), hash: hash)
    return Settlement.Acceptance(
      scope: operation.scope, sequence: sequence, version: change.version)
  }
}
