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
    guard request.items.count <= Wire.pushOperationLimit else {
      throw ServerProblem(
        .tooLarge, "A push holds up to \(Wire.pushOperationLimit) operations: send fewer.")
    }
    guard var row = transaction.incarnation(request.incarnation) else {
      throw ServerProblem(
        .incarnationUnknown, "This server does not know the device: pull once, then push.")
    }
    guard row.account == request.account,
      request.items.allSatisfy({ $0.operation.account == request.account })
    else { throw wrongAccount }
    try admitEarlier(&transaction)
    for (scope, position) in request.known.positions {
      try check(
        position, of: scope, epoch: request.known.epoch, history: history, reader: transaction,
        watermark: row.watermark)
    }
    guard request.watermark >= row.watermark else { throw oldCopy(row.watermark) }
    let named =
      request.items.filter { $0.operation.incarnation == request.incarnation }
      .map { ($0.operation.number, $0.operation.id) }
      + request.withdrawals.filter { $0.incarnation == nil }.map { ($0.number, $0.operationID) }
    for (number, id) in named {
      let used = transaction.operationID(incarnation: request.incarnation, number: number)
      if let used, used != id { throw oldCopy(row.watermark) }
    }
    let anchor = request.anchor ?? row.anchor
    if request.watermark > row.watermark || anchor != row.anchor {
      row.watermark = request.watermark
      row.anchor = anchor
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
      let unit = unit(at: index)
      index += unit.count
      results += try take(unit, &transaction)
    }
    for withdrawal in request.withdrawals { results.append(withdraw(withdrawal, &transaction)) }
    return results
  }

  private func unit(at index: Int) -> [PushRequest.Item] {
    let first = request.items[index]
    guard let membership = first.operation.transaction else { return [first] }
    return Array(
      request.items[index...].prefix { $0.operation.transaction?.id == membership.id })
  }

  /// A transaction comes whole and in order, and in one scope.
  private func checkWhole(_ unit: [PushRequest.Item]) throws(ServerProblem) {
    guard let first = unit.first?.operation, let membership = first.transaction else { return }
    let isInOrder = unit.enumerated().allSatisfy {
      $0.element.operation.transaction?.index == UInt16(clamping: $0.offset)
        && $0.element.operation.scope == first.scope
    }
    guard isInOrder, unit.count == Int(membership.count) else {
      throw ServerProblem(.malformed, "A transaction is not whole, or spans more than one scope.")
    }
  }

  /// Takes one operation, or one transaction whole.
  private mutating func take(
    _ unit: [PushRequest.Item], _ transaction: inout any ServerTransaction
  ) throws(ServerProblem) -> [PushResult] {
    // A device that has heard of half a transaction asks for the rest of it.
    if let results = repeated(unit, &transaction) { return results }
    try checkWhole(unit)
    if unit.contains(where: { dependsOnFailure($0.operation) }) {
      for item in unit { fail(item.operation) }
      return unit.map { PushResult(operationID: $0.operation.id, outcome: .blocked) }
    }
    for item in unit { settleSuperseded(by: item.operation, &transaction) }
    var culprit: (operationID: Identifier, decision: Decision)?
    var settlements: [Settlement] = []
    try transaction.savepoint { (inner: inout any ServerTransaction) throws(ServerProblem) in
      for (place, item) in unit.enumerated() {
        let decision = decide(item, isContinued: place < unit.count - 1, &inner)
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
      let settlement = id == culprit ? verdict : refusedAsMember(item.operation)
      keep(settlement, of: item.operation, &transaction)
      results.append(PushResult(operationID: id, outcome: .settled(settlement)))
    }
    return results
  }

  /// The answers to a unit of which something has been decided before, or of which the server
  /// can't tell; `nil` if all of it is new.
  private mutating func repeated(
    _ unit: [PushRequest.Item], _ transaction: inout any ServerTransaction
  ) -> [PushResult]? {
    let rows = unit.map { transaction.verdict(of: $0.operation.id) }
    let isNew = zip(unit, rows).allSatisfy {
      $0.1 == nil && !isTooOld($0.0.operation, transaction)
    }
    if isNew { return nil }
    return zip(unit, rows).map { item, row in
      let operation = item.operation
      let outcome: PushResult.Outcome
      if let row {
        let isSame = row.digest.isEmpty || row.digest == operation.digest
        outcome = isSame ? .settled(row.settlement) : .collision
        if !isSame || row.settlement.acceptance == nil { fail(operation) }
      } else {
        // The rest of a transaction of which a member was superseded or withdrawn never runs.
        let isTooOld = isTooOld(operation, transaction)
        let settlement = isTooOld ? tooOld(operation.id) : refusedAsMember(operation)
        outcome = .settled(settlement)
        if !isTooOld { keep(settlement, of: operation, &transaction) }
        fail(operation)
      }
      return PushResult(operationID: operation.id, outcome: outcome)
    }
  }

  private func tooOld(_ id: Identifier) -> Settlement {
    Settlement(
      operationID: id, serverTime: time,
      verdict: .tooOld(
        Settlement.Refusal(
          code: .belowWatermark,
          message: "The server no longer knows whether it took this operation.")))
  }

  private func refusedAsMember(_ operation: Operation) -> Settlement {
    Settlement(
      operationID: operation.id, serverTime: time,
      verdict: .refused(
        Settlement.Refusal(
          code: .transaction,
          message: "Another operation of the same transaction was refused.")))
  }

  private func dependsOnFailure(_ operation: Operation) -> Bool {
    if case .operation(let base) = operation.base, failed.contains(base) { return true }
    if missing.isEmpty { return false }
    return rules.schema.references(of: operation).contains(where: missing.contains)
  }

  private mutating func fail(_ operation: Operation) {
    failed.insert(operation.id)
    if operation.action == .create { missing.insert(operation.record) }
  }

  private func withdraw(
    _ withdrawal: PushRequest.Withdrawal, _ transaction: inout any ServerTransaction
  ) -> PushResult {
    let id = withdrawal.operationID
    let incarnation = withdrawal.incarnation ?? request.incarnation
    if let row = transaction.verdict(of: id) {
      if row.digest.isEmpty, row.incarnation != incarnation {
        // It is kept for as long as the original of the log may still send the operation.
        transaction.put(
          VerdictRow(
            incarnation: incarnation, number: withdrawal.number, digest: [],
            settlement: row.settlement))
      }
      return PushResult(operationID: id, outcome: .settled(row.settlement))
    }
    if incarnation != request.incarnation,
      isForgotten(id, incarnation, withdrawal.number, transaction)
    {
      return PushResult(operationID: id, outcome: .settled(tooOld(id)))
    }
    let settlement = settleUnseen(
      id, incarnation: incarnation, number: withdrawal.number, code: .withdrawn,
      message: "The device gave it up before it arrived.", &transaction)
    return PushResult(operationID: id, outcome: .settled(settlement))
  }

  /// Settles what a new operation supersedes, whatever becomes of the new one: it never takes
  /// effect later.
  private func settleSuperseded(
    by operation: Operation, _ transaction: inout any ServerTransaction
  ) {
    guard let old = operation.supersedes, transaction.verdict(of: old) == nil else { return }
    _ = settleUnseen(
      old, incarnation: operation.incarnation, number: operation.number, code: .superseded,
      message: "Another operation took its place before it arrived.", &transaction)
  }

  /// Keeps a refusal of an operation that has not arrived, so that it never takes effect if it
  /// does.
  func settleUnseen(
    _ id: Identifier, incarnation: Identifier, number: UInt64, code: RefusalCode, message: String,
    _ transaction: inout any ServerTransaction
  ) -> Settlement {
    let settlement = Settlement(
      operationID: id, serverTime: time,
      verdict: .refused(Settlement.Refusal(code: code, message: message)))
    transaction.put(
      VerdictRow(
        incarnation: incarnation, number: number, digest: [], settlement: settlement))
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
