package import DaybookFormat

/// Decides what to send and what to make of the answers. One push is in flight at a time.
///
///              wake              marks durable            answer
///     idle ───────────▶ marking ───────────────▶ sending ─────────▶ recording ──▶ idle
///       ▲   (never sent)                ▲           │                 (verdicts durable)
///       │                               └─ resend ──┤ no verdict
///       └──────────── timer ─────────── waiting ◀───┘
///
/// It touches nothing: events go in, with the state of the log, the time and a random number;
/// actions come out. Source: `Docs/Sync.md`, section "Push".
package struct PushMachine: ~Copyable {
  /// What happened.
  package enum Event: Sendable {
    /// Something may be there to send. An urgent one passes a wait, unless the server asked for it.
    case wake(isUrgent: Bool)
    /// The attempt marks are durable.
    case marked
    /// The verdicts are durable.
    case recorded
    /// The server answered.
    case replied(PushReply)
    /// It did not, or not with verdicts.
    case failed(SyncFailure)
    /// A record that the machine asked for could not be made durable.
    case notWritten
    /// What a pause waited for has been done.
    case resumed
  }

  /// What to do now.
  package enum Action: Sendable, Hashable {
    /// Make a mark durable that these operations are about to be sent, then report `marked`.
    case mark(Attempt)
    /// Send it, then report `replied` or `failed`.
    case send(PushRequest)
    /// Append these entries to the outbox together, then report `recorded`.
    case record([Entry])
    /// Report `wake` at this time.
    case wait(until: Timestamp)
    /// Say that nothing is sent until somebody acts.
    case pause(SyncPause)
  }

  private enum Phase {
    case idle
    case marking([OutboxOperation])
    case sending([OutboxOperation])
    case recording
    case waiting(until: Timestamp, isFirm: Bool)
    case paused(SyncPause)
  }

  /// An operation that failed alone and waits by its own schedule.
  private struct Hold {
    var answers: Int
    var until: Timestamp
    /// Another push succeeded since the last answer.
    var hasOtherSuccess = false
  }

  /// Answers alone after which an operation is a dead letter, while other requests succeed.
  package static let deadLetterAnswers = 8

  private let limits: BatchLimits
  private let schedule: RetrySchedule
  private var phase: Phase = .idle
  private var holds: [Identifier: Hold] = [:]
  private var failures = 0
  private var suspectLimit: Int?
  /// How many operations of the batch that failed have not been answered yet.
  private var suspectCount = 0
  private var hasRetriedWhole = false
  /// What the server holds as the watermark, learned after verdicts were lost with damaged bytes.
  private var watermarkFloor: UInt64 = 0

  /// An idle machine.
  package init(limits: BatchLimits = BatchLimits(), schedule: RetrySchedule = .background) {
    self.limits = limits
    self.schedule = schedule
  }

  /// Whether a request or a write of this machine is under way.
  package var isBusy: Bool {
    switch phase {
    case .marking, .sending, .recording: return true
    case .idle, .waiting, .paused: return false
    }
  }

  /// Whether the last push brought no verdict and the next try waits.
  package var isWaiting: Bool {
    if case .waiting = phase { return true }
    return false
  }

  /// The reason for which nothing is sent, if there is one.
  package var pause: SyncPause? {
    if case .paused(let pause) = phase { return pause }
    return nil
  }

  /// Steps the machine.
  package mutating func handle(
    _ event: Event, state: borrowing ClientState, now: Timestamp, random: UInt64
  ) -> [Action] {
    switch (event, phase) {
    case (.wake(let isUrgent), .waiting(let until, let isFirm)):
      if now < until, isFirm || !isUrgent { return [.wait(until: until)] }
      return next(state, now: now)
    case (.wake, .idle), (.recorded, .recording), (.resumed, .paused):
      return next(state, now: now)
    case (.marked, .marking(let batch)):
      return send(batch, state, now: now)
    case (.replied(let reply), .sending(let batch)):
      return take(reply, batch, state, now: now, random: random)
    case (.failed(let failure), .sending(let batch)):
      return fail(failure, batch, state, now: now, random: random)
    case (.notWritten, .marking), (.notWritten, .recording):
      return retry(afterSeconds: nil, now: now, random: random)
    default:
      return []
    }
  }

  // MARK: - Choosing

  private mutating func next(_ state: borrowing ClientState, now: Timestamp) -> [Action] {
    phase = .idle
    guard state.binding?.incarnation == state.incarnation, state.known != nil else { return [] }
    for id in Array(holds.keys) where state.operation(id)?.isUnsettled != true { holds[id] = nil }
    let due = holds.filter { $0.value.until <= now }.min { $0.value.until < $1.value.until }
    if let due { return begin(state.unit(of: due.key), state, now: now) }
    var limits = limits
    if let suspectLimit { limits.operationLimit = suspectLimit }
    let waiting = Set(state.heldOperations.map(\.operation.id)).union(holds.keys)
    let batch = state.batch(limits: limits, holding: waiting)
    if !batch.isEmpty || !state.withdrawals.isEmpty { return begin(batch, state, now: now) }
    guard let until = holds.values.map(\.until).min() else { return [] }
    return [.wait(until: until)]
  }

  private mutating func begin(
    _ batch: [OutboxOperation], _ state: borrowing ClientState, now: Timestamp
  ) -> [Action] {
    if let orphan = batch.first(where: { state.isOrphaned($0.operation) }) {
      return bury(
        [orphan], status: 424, message: "What it is based on did not take effect.", state)
    }
    let fresh = batch.filter { !$0.isAttempted }.map(\.operation.id)
    if fresh.isEmpty { return send(batch, state, now: now) }
    phase = .marking(batch)
    return [.mark(Attempt(operationIDs: fresh))]
  }

  /// Sends what of the batch still wants a verdict; the feed or the user may have been faster.
  private mutating func send(
    _ chosen: [OutboxOperation], _ state: borrowing ClientState, now: Timestamp
  ) -> [Action] {
    let batch = chosen.filter { state.operation($0.operation.id)?.isUnsettled == true }
    // While an operation is looked for, nothing else may be at fault.
    let isSuspicious = !batch.isEmpty && (suspectLimit != nil || isHeld(batch))
    let withdrawals = isSuspicious ? [] : Array(state.withdrawals.prefix(limits.operationLimit))
    if batch.isEmpty, withdrawals.isEmpty, !chosen.isEmpty { return next(state, now: now) }
    guard let binding = state.binding, let known = state.known else {
      phase = .idle
      return []
    }
    let lives = Set(batch.map(\.operation.incarnation) + withdrawals.compactMap(\.incarnation))
    let earlier = lives.subtracting([state.incarnation]).intersection(state.registered)
    let sender = batch.first?.operation ?? state.keptOperations.first?.operation
    phase = .sending(batch)
    let items = batch.map {
      PushRequest.Item(
        operation: $0.operation, baseVersion: state.settledBase(of: $0.operation))
    }
    return [
      .send(
        PushRequest(
          account: sender?.account ?? "", device: sender?.device ?? "",
          incarnation: state.incarnation, serverID: binding.serverID,
          watermark: max(state.watermark, watermarkFloor),
          known: known, items: items, withdrawals: withdrawals,
          registered: earlier.sorted { $0.description < $1.description }))
    ]
  }

  private func isHeld(_ batch: [OutboxOperation]) -> Bool {
    batch.first.map { holds[$0.operation.id] != nil } ?? false
  }

  // MARK: - Answers

  private mutating func take(
    _ reply: PushReply, _ batch: [OutboxOperation], _ state: borrowing ClientState,
    now: Timestamp, random: UInt64
  ) -> [Action] {
    guard reply.history.serverID == state.binding?.serverID else {
      phase = .paused(.notOurServer)
      return [.pause(.notOurServer)]
    }
    var settlements: [Settlement] = []
    var collisions: [Identifier] = []
    var isAnswered = false
    let sent = Set(batch.map(\.operation.id))
    for result in reply.results {
      let kept = state.operation(result.operationID)
      // What was sent may be confirmed and forgotten by now; what was not sent is no progress.
      if result.outcome != .blocked, kept != nil || sent.contains(result.operationID) {
        isAnswered = true
      }
      guard let kept else { continue }
      switch result.outcome {
      case .settled(let settlement):
        if isNews(settlement, about: kept) { settlements.append(settlement) }
      case .collision:
        if kept.departure == nil { collisions.append(result.operationID) }
      case .blocked: continue
      }
    }
    let entries =
      settlements.map(Entry.settlement)
      + state.departures(because: settlements).map(Entry.departure)
      + collisions.map { id in
        Entry.departure(
          state.departure(
            of: id,
            reason: .deadLetter(
              status: Departure.collisionStatus,
              message: "The server holds another operation by this id.")))
      }
    guard isAnswered else { return retry(afterSeconds: nil, now: now, random: random) }
    succeed(batch)
    // The feed may have told it all before.
    if entries.isEmpty { return next(state, now: now) }
    phase = .recording
    return [.record(entries)]
  }

  /// Whether the outbox lacks this verdict. A refusal does not undo what the feed has shown.
  private func isNews(_ settlement: Settlement, about kept: OutboxOperation) -> Bool {
    guard let known = kept.settlement else { return true }
    if known.acceptance != nil {
      return settlement.acceptance != nil && kept.isSettlementUnrecorded
    }
    return settlement.acceptance != nil
  }

  private mutating func succeed(_ batch: [OutboxOperation]) {
    failures = 0
    hasRetriedWhole = false
    for kept in batch { holds[kept.operation.id] = nil }
    for id in Array(holds.keys) { holds[id]?.hasOtherSuccess = true }
    suspectCount = max(0, suspectCount - batch.count)
    if suspectCount == 0 { suspectLimit = nil }
  }

  private mutating func fail(
    _ failure: SyncFailure, _ batch: [OutboxOperation], _ state: borrowing ClientState,
    now: Timestamp, random: UInt64
  ) -> [Action] {
    switch ReplyClass(failure) {
    case .retry(let seconds):
      return retry(afterSeconds: seconds, now: now, random: random)
    case .pause(let pause):
      if pause == .oldCopy, state.hasLostOutboxEntries, raiseWatermark(failure, state) {
        return next(state, now: now)
      }
      phase = .paused(pause)
      return [.pause(pause)]
    case .split, .terminal, .suspect:
      // Withdrawals alone wait, like anything that the server can't take now.
      if batch.isEmpty { return retry(afterSeconds: nil, now: now, random: random) }
      return isolate(failure, batch, state, now: now, random: random)
    }
  }

  /// Verdicts that damage took had been recorded, and the server told so: it is still true that
  /// those below its watermark will not be asked for. Operations below get the verdict that the
  /// server still holds, or are too old and become drafts; none takes effect twice.
  private mutating func raiseWatermark(
    _ failure: SyncFailure, _ state: borrowing ClientState
  ) -> Bool {
    guard case .status(_, _, let problem) = failure, let held = problem?.watermark,
      held > max(state.watermark, watermarkFloor)
    else { return false }
    watermarkFloor = held
    return true
  }

  /// Looks for the operation that the server can't take, by halving.
  private mutating func isolate(
    _ failure: SyncFailure, _ batch: [OutboxOperation], _ state: borrowing ClientState,
    now: Timestamp, random: UInt64
  ) -> [Action] {
    switch ReplyClass(failure) {
    case .retry, .pause:
      return retry(afterSeconds: nil, now: now, random: random)
    case .split:
      if isAlone(batch) {
        return bury(batch, status: 413, message: "It is too large for the server.", state)
      }
      return halve(batch, state, now: now)
    case .terminal(let status, let message):
      if isAlone(batch) { return bury(batch, status: status, message: message, state) }
      return halve(batch, state, now: now)
    case .suspect:
      if isAlone(batch) { return hold(batch, state, now: now, random: random) }
      if hasRetriedWhole || suspectLimit != nil { return halve(batch, state, now: now) }
      hasRetriedWhole = true
      return retry(afterSeconds: nil, now: now, random: random)
    }
  }

  /// One operation, or one transaction, which can't be halved.
  private func isAlone(_ batch: [OutboxOperation]) -> Bool {
    guard let first = batch.first else { return false }
    return batch.count == 1
      || first.operation.transaction != nil
        && batch.allSatisfy { $0.operation.transaction?.id == first.operation.transaction?.id }
  }

  private mutating func halve(
    _ batch: [OutboxOperation], _ state: borrowing ClientState, now: Timestamp
  ) -> [Action] {
    if suspectLimit == nil { suspectCount = batch.count }
    suspectLimit = max(1, batch.count / 2)
    return next(state, now: now)
  }

  private mutating func hold(
    _ batch: [OutboxOperation], _ state: borrowing ClientState, now: Timestamp, random: UInt64
  ) -> [Action] {
    let id = batch[0].operation.id
    var hold = holds[id] ?? Hold(answers: 0, until: now)
    hold.answers += 1
    if hold.answers >= PushMachine.deadLetterAnswers, hold.hasOtherSuccess {
      holds[id] = nil
      return bury(
        batch, status: 500, message: "The server failed on it \(hold.answers) times.", state)
    }
    hold.hasOtherSuccess = false
    hold.until = schedule.due(
      afterAttempt: hold.answers, seconds: nil, now: now, random: random)
    holds[id] = hold
    suspectLimit = nil
    hasRetriedWhole = false
    return next(state, now: now)
  }

  private mutating func bury(
    _ batch: [OutboxOperation], status: UInt16, message: String, _ state: borrowing ClientState
  ) -> [Action] {
    guard let root = batch.first?.operation.id else { return [] }
    suspectLimit = nil
    phase = .recording
    let reason = Departure.Reason.deadLetter(status: status, message: message)
    return [.record([.departure(state.departure(of: root, reason: reason))])]
  }

  private mutating func retry(
    afterSeconds seconds: UInt64?, now: Timestamp, random: UInt64
  ) -> [Action] {
    failures += 1
    let until = schedule.due(
      afterAttempt: failures, seconds: seconds, now: now, random: random)
    phase = .waiting(until: until, isFirm: seconds != nil)
    return [.wait(until: until)]
  }
}
