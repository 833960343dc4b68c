import DaybookFormat
import DaybookSync
import DaybookTestKit

/// A push machine on a state that the test writes, stepped event by event.
final class PushRig {
  var state: ClientState
  var now = SimulatedClock.morning
  private var machine: PushMachine
  private var position: UInt64 = 0
  private var random = SplitMix64(seed: 1)

  static let history = HistoryIdentity(
    serverID: Identifier(high: 1, low: 1), epoch: Identifier(high: 2, low: 2))
  static let incarnation = Identifier(high: 3, low: 3)

  /// A log that the server knows, unless it is to be unbound.
  init(limits: BatchLimits = BatchLimits(), isBound: Bool = true) {
    state = ClientState(schema: World.schema, incarnation: PushRig.incarnation)
    machine = PushMachine(limits: limits)
    if isBound {
      apply(.binding(Binding(serverID: PushRig.history.serverID, incarnation: state.incarnation)))
      apply(.cursor(Cursor(epoch: PushRig.history.epoch)))
    }
  }

  var isBusy: Bool { machine.isBusy }
  var pause: SyncPause? { machine.pause }

  func apply(_ entries: Entry...) { apply(entries) }

  func apply(_ entries: [Entry]) {
    for entry in entries {
      position += 1
      state.apply(entry, position: position)
    }
  }

  /// Appends an operation as a client makes it.
  @discardableResult
  func write(_ edit: SimulatedEdit, transaction: Operation.Membership? = nil) -> Operation {
    let operation = Operation(
      id: Identifier(high: 4, low: state.nextNumber), incarnation: state.incarnation,
      number: state.nextNumber, clock: state.clock.next(at: now), account: "rep", device: "phone",
      record: edit.record, scope: "sales", strategy: edit.strategy, action: edit.action,
      base: state.base(for: edit.record), transaction: transaction, supersedes: edit.supersedes,
      fields: edit.fields, unset: edit.unset)
    apply(.operation(operation))
    return operation
  }

  /// Steps the machine; nothing of what it says is done.
  @discardableResult
  func step(_ event: PushMachine.Event) -> [PushMachine.Action] {
    machine.handle(event, state: state, now: now, random: random.next())
  }

  /// Steps the machine and makes its marks and records durable, until it sends, waits or rests.
  @discardableResult
  func run(_ event: PushMachine.Event) -> [PushMachine.Action] {
    var actions = step(event)
    while let first = actions.first {
      switch first {
      case .mark(let attempt):
        apply(.attempt(attempt))
        actions = step(.marked)
      case .record(let entries):
        apply(entries)
        actions = step(.recorded)
      default: return actions
      }
    }
    return actions
  }

  /// The batch that the machine sends when something may be there; `nil` if it sends nothing.
  @discardableResult
  func send(isUrgent: Bool = true) -> PushRequest? { request(run(.wake(isUrgent: isUrgent))) }

  func request(_ actions: [PushMachine.Action]) -> PushRequest? {
    for case .send(let request) in actions { return request }
    return nil
  }

  /// An answer that accepts each of `operations`.
  func accepting(_ operations: Operation...) -> PushReply { accepting(operations) }

  func accepting(_ operations: [Operation]) -> PushReply {
    reply(operations.map { PushResult(operationID: $0.id, outcome: .settled(accepted($0))) })
  }

  func reply(_ results: [PushResult]) -> PushReply {
    PushReply(history: PushRig.history, serverTime: now, results: results)
  }

  func accepted(_ operation: Operation) -> Settlement {
    Settlement(
      operationID: operation.id, serverTime: now,
      verdict: .accepted(
        Settlement.Acceptance(
          scope: operation.scope, sequence: operation.number,
          version: Version(number: operation.number, mark: 7))))
  }

  func refused(_ operation: Operation, _ code: RefusalCode = .staleBase) -> Settlement {
    Settlement(
      operationID: operation.id, serverTime: now,
      verdict: .refused(Settlement.Refusal(code: code, message: "No.")))
  }
}

extension PushMachine.Action {
  /// The action in a word.
  var word: String {
    switch self {
    case .mark: return "mark"
    case .send: return "send"
    case .record: return "record"
    case .wait: return "wait"
    case .pause: return "pause"
    }
  }
}

extension SyncFailure {
  static func status(
    _ status: UInt16, after seconds: UInt64? = nil, _ code: ServerProblem.Code? = nil
  ) -> SyncFailure {
    .status(
      status, retryAfterSeconds: seconds, problem: code.map { ServerProblem($0, "A sentence.") })
  }
}
