import DaybookFormat
import DaybookSync

extension SimulatedDevice {
  /// Wakes the push machine and does what it says until it rests.
  package func runPush(isUrgent: Bool = true) async throws(PowerLost) {
    try await step(push: .wake(isUrgent: isUrgent))
  }

  /// Wakes the pull machine and does what it says until it rests.
  package func runPull(isUrgent: Bool = true) async throws(PowerLost) {
    try await step(pull: .wake(isUrgent: isUrgent))
  }

  /// Pulls, sends what waits, and pulls what came of it.
  package func round() async throws(PowerLost) {
    try await runPull()
    try await runPush()
    try await runPull()
  }

  /// Tells both machines that what a pause waited for has been done.
  package func resume() async throws(PowerLost) {
    pauses = []
    try await step(pull: .resumed)
    try await step(push: .resumed)
  }

  /// Lets the answer that is under way arrive, if there is one.
  package func deliverHeldReply() async throws(PowerLost) {
    guard let reply = heldReply else { return }
    heldReply = nil
    try await step(push: .replied(reply))
  }

  /// Rounds, each after the time that the machines wanted to wait, until every operation has a
  /// verdict and what came of it is pulled. Returns whether that took at most `limit` rounds.
  package func drain(limit: Int = 200) async throws(PowerLost) -> Bool {
    for _ in 0..<limit {
      try await deliverHeldReply()
      let rounds = pullRounds
      try await round()
      let isPulled = pullRounds > rounds && pullWait == nil
      if isPulled, state.unsettled.isEmpty, state.withdrawals.isEmpty,
        state.unrecordedSettlements.isEmpty
      {
        return true
      }
      // Waits are in the device's time, and the device shares the server's.
      let waits = [pushWait, pullWait].compactMap { $0 }
      if let latest = waits.max() {
        network.server.clock.advance(
          byMilliseconds: latest.milliseconds - now.milliseconds)
      }
    }
    return false
  }

  private func step(push first: PushMachine.Event) async throws(PowerLost) {
    var event: PushMachine.Event? = first
    while let current = event {
      event = nil
      let actions = push.handle(current, state: state, now: now, random: random.next())
      for action in actions { event = try await perform(action) ?? event }
    }
  }

  private func step(pull first: PullMachine.Event) async throws(PowerLost) {
    var event: PullMachine.Event? = first
    while let current = event {
      event = nil
      let actions = pull.handle(current, state: state, now: now, random: random.next())
      for action in actions { event = try await perform(action) ?? event }
    }
  }

  private func perform(
    _ action: PushMachine.Action
  ) async throws(PowerLost) -> PushMachine.Event? {
    pushWait = nil
    switch action {
    case .mark(let attempt):
      try append([.attempt(attempt)], to: .outbox)
      return .marked
    case .record(let entries):
      try append(entries, to: .outbox)
      return .recorded
    case .send(let request):
      switch await network.push(request) {
      case .reply(let reply): return .replied(reply)
      case .failure(let failure): return .failed(failure)
      case .held(let reply):
        heldReply = reply
        return nil
      }
    case .wait(let until):
      pushWait = until
      return nil
    case .pause(let pause):
      pauses.insert(pause, at: 0)
      return nil
    }
  }

  private func perform(
    _ action: PullMachine.Action
  ) async throws(PowerLost) -> PullMachine.Event? {
    pullWait = nil
    switch action {
    case .fetchChanges(let after):
      let answer = await network.changes(
        ChangesRequest(
          account: configuration.account, device: configuration.name, incarnation: incarnation,
          serverID: state.binding?.serverID, after: after, limit: configuration.pageLimit))
      return event(answer) { .page($0) }
    case .fetchRows(let scope, let after):
      let answer = await network.rows(
        BootstrapRequest(
          account: configuration.account, device: configuration.name, incarnation: incarnation,
          serverID: state.binding?.serverID, scope: scope, after: after,
          limit: configuration.pageLimit))
      return event(answer) { .rows($0) }
    case .store(let entries):
      try append(entries, to: .feed)
      return .stored
    case .record(let entries):
      try append(entries, to: .outbox)
      return .recorded
    case .wait(let until):
      pullWait = until
      return nil
    case .pause(let pause):
      pauses.insert(pause, at: 0)
      return nil
    case .finish:
      pullRounds += 1
      return nil
    }
  }

  private func event<Message>(
    _ answer: SimulatedNetwork.Answer<Message>, _ event: (Message) -> PullMachine.Event
  ) -> PullMachine.Event {
    switch answer {
    case .reply(let message), .held(let message): return event(message)
    case .failure(let failure): return .failed(failure)
    }
  }
}
