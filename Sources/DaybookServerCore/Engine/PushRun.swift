import DaybookFormat
import DaybookSync

/// One batch being taken: what has been decided so far, and which operations failed in it.
struct PushRun {
  let request: PushRequest
  let rules: Rules
  let time: Timestamp
  /// Operations of this batch that did not take effect, and those blocked by them.
  private var failed: Set<Identifier> = []
  /// Records that failed operations of this batch would have created.
  private var missing: Set<RecordKey> = []

  init(request: PushRequest, rules: Rules, time: Timestamp) {
    self.request = request
    self.rules = rules
    self.time = time
  }

  /// Refuses the whole request before anything runs, or takes note of the device's watermark.
  func admit(
    _ transaction: inout any ServerTransaction, history: HistoryIdentity
  ) throws(ServerProblem) {
    guard request.serverID == history.serverID else { throw notOurServer }
    guard var row = transaction.incarnation(request.incarnation) else {
      throw ServerProblem(
        .incarnationUnknown, "This server does not know the device: pull once, then push.")
    }
    guard row.account == request.account,
      request.items.allSatisfy({ $0.operation.account == request.account })
    else { throw wrongAccount }
    guard request.items.allSatisfy({ $0.operation.incarnation == request.incarnation }) else {
      throw ServerProblem(.malformed, "An operation belongs to another incarnation of the log.")
    }
    for (scope, position) in request.known.positions {
      try check(
        position, of: scope, epoch: request.known.epoch, history: history, reader: transaction,
        watermark: row.watermark)
    }
    guard request.watermark >= row.watermark else { throw oldCopy(row.watermark) }
    for item in request.items {
      let used = transaction.operationID(
        incarnation: request.incarnation, number: item.operation.number)
      if let used, used != item.operation.id { throw oldCopy(row.watermark) }
    }
    if request.watermark > row.watermark {
      row.watermark = request.watermark
      row.lastContact = time
      transaction.put(row)
    }
  }

  private func oldCopy(_ watermark: UInt64) -> ServerProblem {
    ServerProblem(
      .oldCopy, "Another copy of this log has sent operations since this one was made.",
      watermark: watermark)
  }

  /// Decides about every operation in order, then about the withdrawals.
  mutating func run(
    _ transaction: inout any ServerTransaction
  ) throws(ServerProblem) -> [PushResult] {
    var results: [PushResult] = []
    var index = 0
    while index < request.items.count {
      let unit = try unit(at: index)
      index += unit.count
      results += try take(unit, &transaction)
    }
    for withdrawal in request.withdrawals { results.append(withdraw(withdrawal, &transaction)) }
    return results
  }

  private func unit(at index: Int) throws(ServerProblem) -> [PushRequest.Item] {
    let first = request.items[index]
    guard let membership = first.operation.transaction else { return [first] }
    let unit = request.items[index...].prefix {
      $0.operation.transaction?.id == membership.id
    }
    guard unit.count == Int(membership.count),
      unit.enumerated().allSatisfy({ $0.element.operation.transaction?.index == UInt16($0.offset) }
      ),
      unit.allSatisfy({ $0.operation.scope == first.operation.scope })
    else {
      throw ServerProblem(.malformed, "A transaction is not whole, or spans more than one scope.")
    }
    return Array(unit)
  }

  /// Takes one operation, or one transaction whole.
  private mutating func take(
    _ unit: [PushRequest.Item], _ transaction: inout any ServerTransaction
  ) throws(ServerProblem) -> [PushResult] {
    if let results = repeated(unit, transaction) { return results }
    if unit.contains(where: { dependsOnFailure($0.operation) }) {
      for item in unit { fail(item.operation) }
      return unit.map { PushResult(operationID: $0.operation.id, outcome: .blocked) }
    }
    var culprit: (operationID: Identifier, decision: Decision)?
    var settlements: [Settlement] = []
    try transaction.savepoint { (inner: inout any ServerTransaction) throws(ServerProblem) in
      for item in unit {
        let decision = decide(item, &inner)
        guard case .settled(let settlement) = decision, settlement.acceptance != nil else {
          culprit = (item.operation.id, decision)
          return false
        }
        settlements.append(settlement)
      }
      return true
    }
    guard let culprit else {
      return settlements.map { PushResult(operationID: $0.operationID, outcome: .settled($0)) }
    }
    return refuse(unit, because: culprit.operationID, culprit.decision, &transaction)
  }

  private mutating func refuse(
    _ unit: [PushRequest.Item], because culprit: Identifier, _ decision: Decision,
    _ transaction: inout any ServerTransaction
  ) -> [PushResult] {
    var results: [PushResult] = []
    for item in unit {
      fail(item.operation)
      let id = item.operation.id
      guard case .settled(let verdict) = decision else {
        results.append(PushResult(operationID: id, outcome: .blocked))
        continue
      }
      let settlement =
        id == culprit
        ? verdict
        : Settlement(
          operationID: id, serverTime: time,
          verdict: .refused(
            Settlement.Refusal(
              code: .transaction,
              message: "Another operation of the same transaction was refused.")))
      keep(settlement, of: item.operation, &transaction)
      results.append(PushResult(operationID: id, outcome: .settled(settlement)))
    }
    return results
  }

  /// The answers to a unit that has been decided before, or of which the server can't tell.
  private mutating func repeated(
    _ unit: [PushRequest.Item], _ transaction: any ServerTransaction
  ) -> [PushResult]? {
    var results: [PushResult] = []
    for item in unit {
      let operation = item.operation
      let outcome: PushResult.Outcome
      if let row = transaction.verdict(of: operation.id) {
        let isSame = row.digest.isEmpty || row.digest == operation.digest
        outcome = isSame ? .settled(row.settlement) : .collision
        if row.settlement.acceptance == nil { fail(operation) }
      } else if operation.number < request.watermark {
        outcome = .settled(
          Settlement(
            operationID: operation.id, serverTime: time,
            verdict: .tooOld(
              Settlement.Refusal(
                code: .belowWatermark,
                message: "The server no longer knows whether it took this operation."))))
        fail(operation)
      } else {
        return nil
      }
      results.append(PushResult(operationID: operation.id, outcome: outcome))
    }
    return results
  }

  private func dependsOnFailure(_ operation: Operation) -> Bool {
    if case .operation(let base) = operation.base, failed.contains(base) { return true }
    if missing.isEmpty { return false }
    guard let fields = rules.schema[operation.record.collection]?.fields else { return false }
    return operation.fields.entries.contains { entry in
      guard let name = entry.key.text, let id = entry.value.text,
        case .reference(let target, _) = fields[name]?.kind
      else { return false }
      return missing.contains(RecordKey(target, id))
    }
  }

  private mutating func fail(_ operation: Operation) {
    failed.insert(operation.id)
    if operation.action == .create { missing.insert(operation.record) }
  }

  private func withdraw(
    _ withdrawal: PushRequest.Withdrawal, _ transaction: inout any ServerTransaction
  ) -> PushResult {
    let settlement =
      transaction.verdict(of: withdrawal.operationID)?.settlement
      ?? settleUnseen(
        withdrawal.operationID, number: withdrawal.number, code: .withdrawn,
        message: "The device gave it up before it arrived.", &transaction)
    return PushResult(operationID: withdrawal.operationID, outcome: .settled(settlement))
  }

  /// Keeps a refusal of an operation that has not arrived, so that it never takes effect if it
  /// does.
  func settleUnseen(
    _ id: Identifier, number: UInt64, code: RefusalCode, message: String,
    _ transaction: inout any ServerTransaction
  ) -> Settlement {
    let settlement = Settlement(
      operationID: id, serverTime: time,
      verdict: .refused(Settlement.Refusal(code: code, message: message)))
    transaction.put(
      VerdictRow(
        incarnation: request.incarnation, number: number, digest: [], settlement: settlement))
    return settlement
  }

  func keep(
    _ settlement: Settlement, of operation: Operation, _ transaction: inout any ServerTransaction
  ) {
    transaction.put(
      VerdictRow(
        incarnation: operation.incarnation, number: operation.number, digest: operation.digest,
        settlement: settlement))
  }
}
