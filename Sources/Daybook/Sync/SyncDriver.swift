import DaybookFormat
import DaybookNet
import DaybookSync

/// Performs what the push and pull machines decide: requests, appends and timers.
///
/// After every `await` the machines are asked again: they ignore what no longer fits.
actor SyncDriver {
  private let journal: Journal
  private let environment: ClientEnvironment
  private let connection: ServerConnection
  /// Whether timers run; by hand, the next call tries again.
  private let isAutomatic: Bool
  private var push: PushMachine
  private var pull: PullMachine
  private var pushTimer: Task<Void, Never>?
  private var pullTimer: Task<Void, Never>?
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var nextTask = 0
  private var isStopped = false
  /// Nothing is begun: no request, no timer.
  private var isSuspended = false
  private var rounds: [CheckedContinuation<Void, Never>] = []
  private(set) var lastPull: Timestamp?
  private var failure: Status.Problem?
  /// What has been sent since the store was opened.
  private(set) var counts = SyncCounts()
  /// Operations that are sent for the first time by the next send.
  private var marked: Set<Identifier> = []

  init(
    journal: Journal, environment: ClientEnvironment, connection: ServerConnection,
    options: DaybookOptions
  ) {
    self.journal = journal
    self.environment = environment
    self.connection = connection
    isAutomatic = options.sync != .manual
    push = PushMachine(limits: options.batchLimits, schedule: options.retrySchedule)
    pull = PullMachine(schedule: options.retrySchedule)
  }

  /// What keeps sync from going on: what must be acted on first, then the last failure that no
  /// later answer has cleared.
  var problem: Status.Problem? { (push.pause ?? pull.pause).map { Status.Problem($0) } ?? failure }

  /// Sends what waits, unless a schedule says to wait; an urgent wake passes it.
  func wakePush(isUrgent: Bool) {
    if !isSuspended { step(push: .wake(isUrgent: isUrgent)) }
  }

  /// Looks for changes, unless a schedule says to wait; an urgent wake passes it.
  func wakePull(isUrgent: Bool) {
    if !isSuspended { step(pull: .wake(isUrgent: isUrgent)) }
  }

  /// Goes on after a pause.
  func resume() {
    if isSuspended { return }
    failure = nil
    step(pull: .resumed)
    step(push: .resumed)
  }

  /// Sends what waits, and pulls what is new; returns when there is no more to do now, or when a
  /// problem makes it wait. The first pull of a log goes before its first push: it registers it.
  func round() async {
    if isSuspended { return }
    // A pull under way may have looked already; it is to look once more.
    if pull.isBusy { step(pull: .wake(isUrgent: true)) }
    if journal.state.read({ $0.binding?.incarnation != $0.incarnation }) {
      await runPull()
      // Whoever could not be reached for a pull is not asked twice.
      if problem != nil { return }
    }
    await runPush()
    // Whoever could not be reached for a push is not asked for a pull.
    if !push.isWaiting { await runPull() }
    // A pull that completed the base lets a push begin, whose end looks for changes once more.
    while push.isBusy || pull.isBusy, !isStopped { await turn() }
  }

  private func runPush() async {
    step(push: .wake(isUrgent: true))
    while push.isBusy, !isStopped { await turn() }
  }

  private func runPull() async {
    if !pull.isBusy { step(pull: .wake(isUrgent: true)) }
    while pull.isBusy, !isStopped { await turn() }
  }

  /// Returns after the next step of a machine.
  private func turn() async { await withCheckedContinuation { rounds.append($0) } }

  /// Cancels every request and timer and waits for them to end.
  func stop() async {
    isStopped = true
    pushTimer?.cancel()
    pullTimer?.cancel()
    let running = tasks.values
    for task in running { task.cancel() }
    for task in running { await task.value }
    wakeRounds()
  }

  /// Gives up what is under way and waits until it has ended; nothing is begun until ``goOn()``.
  /// To the machines it is as if the network had gone.
  func suspend() async {
    isSuspended = true
    pushTimer?.cancel()
    pullTimer?.cancel()
    // What ends may begin something: an answer that was received is still recorded.
    while !tasks.isEmpty {
      let running = tasks.values
      for task in running { task.cancel() }
      for task in running { await task.value }
    }
  }

  /// Goes on after a suspension, at once if sync runs by itself.
  func goOn() {
    guard isSuspended else { return }
    isSuspended = false
    failure = nil
    guard isAutomatic else { return }
    step(pull: .wake(isUrgent: true))
    step(push: .wake(isUrgent: true))
  }

  // MARK: - Steps

  private func step(push event: PushMachine.Event) {
    guard !isStopped else { return }
    let random = environment.random()
    let now = environment.now()
    let actions = journal.state.read { state in
      push.handle(event, state: state, now: now, random: random)
    }
    for action in actions { perform(action) }
    wakeRounds()
  }

  private func step(pull event: PullMachine.Event) {
    guard !isStopped else { return }
    let random = environment.random()
    let now = environment.now()
    let actions = journal.state.read { state in
      pull.handle(event, state: state, now: now, random: random)
    }
    for action in actions { perform(action) }
    wakeRounds()
  }

  private func wakeRounds() {
    let waiting = rounds
    rounds = []
    for continuation in waiting { continuation.resume() }
  }

  private func perform(_ action: PushMachine.Action) {
    switch action {
    case .mark(let attempt):
      marked = Set(attempt.operationIDs)
      append([.attempt(attempt)], done: { $0.step(push: .marked) })
    case .record(let entries):
      append(entries) { driver in
        driver.step(push: .recorded)
        if !driver.push.isBusy { driver.wakePull(isUrgent: false) }
      }
    case .send(let request):
      count(request)
      var request = request
      request.anchor = journal.anchor
      run { [request] driver in
        let answer = await driver.ask { await $0.push(request) }
        await driver.receive(answer)
      }
    case .wait(let until):
      pushTimer?.cancel()
      guard isAutomatic, !isSuspended else { return }
      pushTimer = timer(until) { $0.step(push: .wake(isUrgent: false)) }
    case .pause: break  // Told by `problem`.
    }
  }

  private func perform(_ action: PullMachine.Action) {
    switch action {
    case .fetchChanges(let after):
      let serverID = journal.state.read { $0.binding?.serverID }
      run { driver in
        let answer = await driver.ask { await $0.changes(after: after, serverID: serverID) }
        await driver.receive(answer) { .page($0) }
      }
    case .fetchRows(let scope, let after):
      let serverID = journal.state.read { $0.binding?.serverID }
      run { driver in
        let answer = await driver.ask { await $0.rows(of: scope, after: after, serverID: serverID) }
        await driver.receive(answer) { .rows($0) }
      }
    case .store(let entries):
      run { driver in
        do {
          try await driver.journal.store(entries)
          await driver.step(pull: .stored)
        } catch {
          await driver.step(pull: .notWritten)
        }
      }
    case .record(let entries):
      run { driver in
        do {
          try await driver.journal.record(entries)
          await driver.step(pull: .recorded)
        } catch {
          await driver.step(pull: .notWritten)
        }
      }
    case .wait(let until):
      pullTimer?.cancel()
      guard isAutomatic, !isSuspended else { return }
      pullTimer = timer(until) { $0.step(pull: .wake(isUrgent: false)) }
    case .pause: break  // Told by `problem`.
    case .finish:
      lastPull = environment.now()
      if !push.isBusy { step(push: .wake(isUrgent: false)) }
    }
  }

  /// Sends a request, unless the store was suspended meanwhile.
  private func ask<Message: Sendable>(
    _ send: @Sendable (ServerConnection) async -> ServerConnection.Answer<Message>
  ) async -> ServerConnection.Answer<Message> {
    if isSuspended {
      let failure = SyncFailure.unreachable(reason: "the store is suspended")
      return .failure(ServerConnection.FailedRequest(failure: failure))
    }
    return await send(connection)
  }

  private func receive(_ answer: ServerConnection.Answer<PushReply>) {
    switch answer {
    case .success(let reply):
      failure = nil
      step(push: .replied(reply))
    case .failure(let failed):
      failure = Status.Problem(failed.failure)
      step(push: .failed(failed.failure))
    }
  }

  private func receive<Message>(
    _ answer: ServerConnection.Answer<Message>, event: (Message) -> PullMachine.Event
  ) {
    switch answer {
    case .success(let message):
      failure = nil
      step(pull: event(message))
    case .failure(let failed):
      failure = Status.Problem(failed.failure)
      step(pull: .failed(failed.failure))
    }
  }

  private func append(
    _ entries: [Entry], done: @escaping @Sendable (isolated SyncDriver) -> Void
  ) {
    run { driver in
      do {
        try await driver.journal.record(entries)
        await done(driver)
      } catch {
        await driver.step(push: .notWritten)
      }
    }
  }

  /// Runs `body` in a task that `stop` cancels and waits for.
  private func run(_ body: @escaping @Sendable (SyncDriver) async -> Void) {
    nextTask += 1
    let number = nextTask
    tasks[number] = Task {
      await body(self)
      self.tasks[number] = nil
    }
  }

  private func timer(
    _ until: Timestamp, _ fire: @escaping @Sendable (isolated SyncDriver) -> Void
  ) -> Task<Void, Never> {
    Task { [environment, weak self] in
      do {
        try await environment.sleep(until)
      } catch {
        return
      }
      if let self, !Task.isCancelled { await fire(self) }
    }
  }

  private func count(_ request: PushRequest) {
    counts.sends += 1
    counts.resentOperations += request.items.count { !marked.contains($0.operation.id) }
    marked = []
  }
}

/// What a driver has sent since the store was opened.
package struct SyncCounts: Sendable {
  /// Pushes sent.
  package var sends = 0
  /// Operations that had been sent before.
  package var resentOperations = 0
}

extension Status.Problem {
  init(_ pause: SyncPause) {
    switch pause {
    case .credentials: self = .credentials
    case .upgradeRequired: self = .upgradeRequired
    case .notOurServer: self = .notOurServer
    case .historyChanged, .incarnationForgotten: self = .serverHistoryChanged
    case .oldCopy: self = .anotherCopySent
    }
  }

  init(_ failure: SyncFailure) {
    switch failure {
    case .unreachable(let reason): self = .unreachable(reason)
    case .notTheServer(let status): self = .notADaybookServer(status: Int(status))
    case .status(let status, _, let problem):
      self = .serverFailed(status: Int(status), message: problem?.message)
    }
  }
}
