import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// Every event in every phase of the push machine.
@Suite struct `the push machine, event by event` {
  private static let events: [(name: String, event: @Sendable (PushRig) -> PushMachine.Event)] = [
    ("wake", { _ in .wake(isUrgent: false) }),
    ("urgent", { _ in .wake(isUrgent: true) }),
    ("marked", { _ in .marked }),
    ("recorded", { _ in .recorded }),
    (
      "replied",
      {
        $0.state.unsettled.first.map { kept in
          .replied(
            PushReply(
              history: PushRig.history, serverTime: SimulatedClock.morning,
              results: [
                PushResult(
                  operationID: kept.operation.id,
                  outcome: .settled(
                    Settlement(
                      operationID: kept.operation.id, serverTime: SimulatedClock.morning,
                      verdict: .refused(Settlement.Refusal(code: .staleBase, message: "No.")))))
              ]))
        } ?? .marked
      }
    ),
    ("lost", { _ in .failed(.unreachable(reason: "lost")) }),
    ("403", { _ in .failed(.status(403)) }),
    ("413", { _ in .failed(.status(413)) }),
    ("notWritten", { _ in .notWritten }),
    ("resumed", { _ in .resumed }),
  ]

  /// The first action of each event in each phase; a dash is none.
  private static let table: [(phase: String, answers: [String])] = [
    //                wake urgent marked recorded replied lost 403 413 notWritten resumed
    ("empty", ["-", "-", "-", "-", "-", "-", "-", "-", "-", "-"]),
    ("idle", ["mark", "mark", "-", "-", "-", "-", "-", "-", "-", "-"]),
    ("marking", ["-", "-", "send", "-", "-", "-", "-", "-", "wait", "-"]),
    ("sending", ["-", "-", "-", "-", "record", "wait", "pause", "record", "-", "-"]),
    ("recording", ["-", "-", "-", "-", "-", "-", "-", "-", "wait", "-"]),
    ("waiting", ["wait", "send", "-", "-", "-", "-", "-", "-", "-", "-"]),
    ("waiting firmly", ["wait", "wait", "-", "-", "-", "-", "-", "-", "-", "-"]),
    ("paused", ["-", "-", "-", "-", "-", "-", "-", "-", "-", "send"]),
  ]

  private static func rig(in phase: String) -> PushRig {
    let rig = PushRig()
    guard phase != "empty" else { return rig }
    let operation = rig.write(.order("1", quantity: 1))
    switch phase {
    case "idle": break
    case "marking": rig.step(.wake(isUrgent: false))
    case "sending": rig.run(.wake(isUrgent: false))
    case "recording":
      rig.run(.wake(isUrgent: false))
      let actions = rig.step(.replied(rig.accepting(operation)))
      // What is recorded is applied before the machine hears of it.
      if case .record(let entries) = actions.first { rig.apply(entries) }
    case "waiting":
      rig.run(.wake(isUrgent: false))
      rig.step(.failed(.unreachable(reason: "lost")))
    case "waiting firmly":
      rig.run(.wake(isUrgent: false))
      rig.step(.failed(.status(429, after: 60)))
    default:
      rig.run(.wake(isUrgent: false))
      rig.step(.failed(.status(401)))
    }
    return rig
  }

  @Test func `each event in each phase has the answer of the table`() {
    for (phase, answers) in Self.table {
      for (place, (name, event)) in Self.events.enumerated() {
        let rig = Self.rig(in: phase)
        let actions = rig.step(event(rig)).map(\.word)
        #expect((actions.first ?? "-") == answers[place], "\(name) while \(phase)")
      }
    }
  }

  @Test func `an attempt is marked once, and a resend needs no mark`() {
    let rig = PushRig()
    let operation = rig.write(.order("1", quantity: 1))
    let marks = rig.step(.wake(isUrgent: false))
    #expect(marks == [.mark(Attempt(operationIDs: [operation.id]))])
    rig.apply(.attempt(Attempt(operationIDs: [operation.id])))
    #expect(rig.request(rig.step(.marked))?.items.map(\.operation) == [operation])
    rig.step(.failed(.unreachable(reason: "lost")))
    #expect(rig.request(rig.step(.wake(isUrgent: true)))?.items.map(\.operation) == [operation])
  }

  @Test func `the bytes sent are those written, and the settled base stands beside them`() throws {
    let rig = PushRig()
    let create = rig.write(.order("1", quantity: 1))
    let request = try #require(rig.send())
    #expect(request.items[0].operation.bytes == create.bytes)
    #expect(request.items[0].baseVersion == nil)
    rig.run(.replied(rig.accepting(create)))

    let edit = rig.write(.quantity(2, of: "1"))
    #expect(edit.base == .operation(create.id))
    let item = try #require(rig.send()?.items.first)
    #expect(item.operation.bytes == edit.bytes)
    #expect(item.baseVersion == Version(number: 1, mark: 7))
  }

  @Test func `a base that is confirmed and forgotten is still named beside the bytes`() throws {
    let rig = PushRig()
    let create = rig.write(.order("1", quantity: 1))
    rig.send()
    rig.run(.replied(rig.accepting(create)))
    rig.write(.quantity(2, of: "1"))
    rig.apply(
      .cursor(
        Cursor(
          epoch: PushRig.history.epoch,
          positions: ["sales": ScopePosition(sequence: 1, mark: 7)])))
    #expect(rig.state.operation(create.id) == nil)
    #expect(rig.send()?.items.first?.baseVersion == Version(number: 1, mark: 7))
  }

  @Test func `nothing is sent or marked before the server knows the log`() {
    let rig = PushRig(isBound: false)
    rig.write(.order("1", quantity: 1))
    #expect(rig.step(.wake(isUrgent: true)).isEmpty)
  }

  @Test func `what the feed or the user settled while it was marked is not sent`() throws {
    let rig = PushRig()
    let first = rig.write(.order("1", quantity: 1))
    let second = rig.write(.order("2", quantity: 1))
    let third = rig.write(.order("3", quantity: 1))
    rig.step(.wake(isUrgent: false))
    rig.apply(.attempt(Attempt(operationIDs: [first.id, second.id, third.id])))
    rig.apply(.departure(rig.state.departure(of: first.id, reason: .withdrawn)))
    rig.apply(.settlement(rig.accepted(third)))
    let request = try #require(rig.request(rig.step(.marked)))
    #expect(request.items.map(\.operation) == [second])
    #expect(request.withdrawals.map(\.operationID) == [first.id])
  }

  @Test func `an answer that tells nothing new is no failure`() {
    let rig = PushRig()
    let first = rig.write(.order("1", quantity: 1))
    rig.send()
    rig.apply(.settlement(rig.accepted(first)))
    rig.write(.order("2", quantity: 1))
    #expect(rig.step(.replied(rig.accepting(first))).map(\.word) == ["mark"])
  }

  @Test func `an answer that comes when the feed has confirmed it all is no failure`()
    async throws
  {
    let world = World()
    let (rep, _) = try await world.repAndOffice()
    let first = try rep.write(.quantity(12, of: "1"))[0]
    world.network.fate = { $0.kind == .push ? .holdReply : .deliver }
    try await rep.runPush()
    try await rep.runPull()
    #expect(rep.state.operation(first) == nil)
    let second = try rep.write(.order("2", quantity: 1))[0]
    world.network.fate = { _ in .deliver }
    try await rep.deliverHeldReply()
    #expect(rep.pushWait == nil)
    #expect(world.network.calls.last?.operationIDs == [second], "the next one goes at once")
  }

  @Test func `a transaction goes whole, however little a batch takes`() throws {
    let rig = PushRig(limits: BatchLimits(operationLimit: 1, byteLimit: 1))
    let alone = rig.write(.order("0", quantity: 1))
    let unit = (0..<3).map { index in
      rig.write(
        .order("\(index + 1)", quantity: 1),
        transaction: Operation.Membership(
          id: Identifier(high: 7, low: 7), index: UInt16(index), count: 3))
    }
    #expect(rig.send()?.items.map(\.operation) == [alone])
    #expect(rig.request(rig.run(.replied(rig.accepting(alone))))?.items.map(\.operation) == unit)
  }

  @Test func `a refusal does not undo what the feed has shown`() {
    let rig = PushRig()
    let first = rig.write(.order("1", quantity: 1))
    rig.send()
    rig.apply(.settlement(rig.accepted(first)))
    let reply = rig.reply([PushResult(operationID: first.id, outcome: .settled(rig.refused(first)))]
    )
    #expect(rig.step(.replied(reply)).isEmpty)
    rig.apply(.settlement(rig.refused(first)))
    #expect(rig.state.operation(first.id)?.settlement?.acceptance != nil)
  }

  @Test func `an answer from another server pauses and settles nothing`() {
    let rig = PushRig()
    let operation = rig.write(.order("1", quantity: 1))
    rig.send()
    var reply = rig.accepting(operation)
    reply.history = HistoryIdentity(
      serverID: Identifier(high: 9, low: 9), epoch: PushRig.history.epoch)
    #expect(rig.step(.replied(reply)) == [.pause(.notOurServer)])
    #expect(rig.state.unsettled.count == 1)
  }

  @Test func `blocked operations wait, and the next batch is the same`() {
    let rig = PushRig()
    let operation = rig.write(.order("1", quantity: 1))
    rig.send()
    let reply = rig.reply([PushResult(operationID: operation.id, outcome: .blocked)])
    #expect(rig.step(.replied(reply)).map(\.word) == ["wait"])
    #expect(rig.send()?.items.map(\.operation) == [operation])
  }

  @Test func `a collision is a dead letter that is never withdrawn`() throws {
    let rig = PushRig()
    let operation = rig.write(.order("1", quantity: 1))
    rig.send()
    let reply = rig.reply([PushResult(operationID: operation.id, outcome: .collision)])
    rig.run(.replied(reply))
    let letter = try #require(rig.state.setAside.first)
    #expect(
      letter.departure.reason
        == .deadLetter(
          status: 409, message: "The server holds another operation by this id."))
    #expect(rig.state.withdrawals.isEmpty, "the server would answer with the other's verdict")
    #expect(rig.send() == nil)
    #expect(rig.state.watermark == 2)
    rig.apply(.decision(Decision(kind: .discarded, root: operation.id, time: rig.now)))
    #expect(rig.state.keptOperations.isEmpty)
  }
}
