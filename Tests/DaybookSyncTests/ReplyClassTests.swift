import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

@Suite struct `answers without verdicts` {
  @Test func `each failure has the class of the table`() {
    let unreachable = SyncFailure.unreachable(reason: "lost")
    let table: [(SyncFailure, ReplyClass)] = [
      (unreachable, .retry(afterSeconds: nil)),
      (.notTheServer(status: 200), .retry(afterSeconds: nil)),
      (.status(400), .terminal(status: 400, message: "status 400")),
      (.status(400, .malformed), .terminal(status: 400, message: "A sentence.")),
      (.status(401), .pause(.credentials)),
      (.status(403), .pause(.credentials)),
      (.status(403, .wrongAccount), .pause(.credentials)),
      (.status(404), .retry(afterSeconds: nil)),
      (.status(405), .retry(afterSeconds: nil)),
      (.status(408), .retry(afterSeconds: nil)),
      (.status(409), .retry(afterSeconds: nil)),
      (.status(409, .notOurServer), .pause(.notOurServer)),
      (.status(409, .oldCopy), .pause(.oldCopy)),
      (.status(409, .incarnationUnknown), .pause(.incarnationForgotten)),
      (.status(410), .retry(afterSeconds: nil)),
      (.status(410, .cursorExpired), .retry(afterSeconds: nil)),
      (.status(410, .historyChanged), .pause(.historyChanged)),
      (.status(413), .split),
      (.status(422), .terminal(status: 422, message: "status 422")),
      (.status(426), .pause(.upgradeRequired)),
      (.status(429, after: 7), .retry(afterSeconds: 7)),
      (.status(429, after: 90_000), .retry(afterSeconds: 3_600)),
      (.status(500), .suspect),
      (.status(500, after: 7), .retry(afterSeconds: 7)),
      (.status(501), .suspect),
      (.status(502), .retry(afterSeconds: nil)),
      (.status(503, after: 7), .retry(afterSeconds: 7)),
      (.status(504), .retry(afterSeconds: nil)),
      (.status(302), .retry(afterSeconds: nil)),
      (.status(600), .retry(afterSeconds: nil)),
    ]
    for (failure, expected) in table { #expect(ReplyClass(failure) == expected, "\(failure)") }
  }

  @Test func `a schedule doubles to its cap and never waits less than its floor`() {
    let schedule = RetrySchedule.background
    let longest: [Int64] = [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]
    for (index, seconds) in longest.enumerated() {
      #expect(schedule.wait(afterAttempt: index + 1, random: 0) == 10_000)
      #expect(schedule.wait(afterAttempt: index + 1, random: .max) == seconds * 1_000)
    }
    for attempt in [0, -1, 62, 1_000, Int.max] {
      #expect((10_000...3_600_000).contains(schedule.wait(afterAttempt: attempt, random: .max)))
    }
    var random = SplitMix64(seed: 3)
    for attempt in 1...200 {
      let wait = schedule.wait(afterAttempt: attempt, random: random.next())
      #expect((10_000...3_600_000).contains(wait), "seed 3, attempt \(attempt)")
    }
    let inverted = RetrySchedule(
      startMilliseconds: 5, floorMilliseconds: 100, capMilliseconds: 50)
    #expect(inverted.wait(afterAttempt: 3, random: .max) == 100)
  }

  @Test func `a Retry-After is kept even by an urgent wake`() throws {
    let rig = PushRig()
    rig.write(.order("1", quantity: 1))
    rig.send()
    let until = Timestamp(milliseconds: rig.now.milliseconds + 60_000)
    #expect(rig.step(.failed(.status(429, after: 60))) == [.wait(until: until)])
    #expect(rig.step(.wake(isUrgent: true)) == [.wait(until: until)])
    rig.now = until
    #expect(rig.step(.wake(isUrgent: false)).map(\.word) == ["send"])
  }

  @Test func `missing credentials keep the queue whole, and nothing loops`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    for number in 1...300 { try rep.write(.order("\(number)", quantity: 1)) }
    world.network.fate = { $0.kind == .push ? .answer(.status(401)) : .deliver }
    try await rep.runPush()
    #expect(rep.pauses == [.credentials])
    for _ in 1...20 { try await rep.runPush() }
    #expect(world.network.pushCount == 1)
    #expect(rep.state.unsettled.count == 300)
    world.network.fate = { _ in .deliver }
    try await rep.resume()
    #expect(world.network.pushCount == 3, "200 operations, then 100")
    #expect(try await world.server.rows(of: "sales").count == 300)
  }

  @Test func `a login page and a bad gateway never cost an operation`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    try rep.write(.order("1", quantity: 1))
    for failure in [
      SyncFailure.notTheServer(status: 200), .status(502), .status(503), .status(504), .status(404),
      .status(408), .unreachable(reason: "lost"),
    ] {
      world.network.fate = { $0.kind == .push ? .answer(failure) : .deliver }
      for _ in 1...20 { try await rep.runPush() }
      #expect(rep.state.unsettled.count == 1, "\(failure)")
    }
    world.network.fate = { _ in .deliver }
    #expect(try await rep.drain())
    #expect(try await world.order("1") != nil)
  }

  @Test func `a batch that is too large is halved until it fits, and one too large is a letter`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    var ids: [Identifier] = []
    for number in 0..<8 { ids += try rep.write(.order("\(number)", quantity: 1)) }
    let huge = ids[5]
    world.network.fate = { call in
      guard call.kind == .push else { return .deliver }
      let isTooLarge = call.operationIDs.count > 2 || call.operationIDs.contains(huge)
      return isTooLarge ? .answer(.status(413)) : .deliver
    }
    try await rep.runPush()
    #expect(rep.pushWait == nil, "halving does not wait")
    let sizes = world.network.calls.filter { $0.kind == .push }.map(\.operationIDs.count)
    #expect(sizes == [8, 4, 2, 2, 2, 1, 1, 2])
    #expect(world.network.calls.last?.withdrawals == [huge])
    #expect(rep.state.setAside.map(\.root) == [huge])
    #expect(
      rep.state.setAside[0].departure.reason
        == .deadLetter(
          status: 413, message: "It is too large for the server."))
    #expect(try await world.server.rows(of: "sales").count == 7)
  }

  @Test func `an operation that the server can't read is found and set aside alone`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    var ids: [Identifier] = []
    for number in 0..<5 { ids += try rep.write(.order("\(number)", quantity: 1)) }
    let bad = ids[3]
    world.network.fate = {
      $0.operationIDs.contains(bad) ? .answer(.status(400, .malformed)) : .deliver
    }
    try await rep.runPush()
    #expect(rep.state.setAside.map(\.root) == [bad])
    #expect(
      rep.state.setAside[0].departure.reason
        == .deadLetter(
          status: 400, message: "A sentence."))
    #expect(try await world.server.rows(of: "sales").count == 4)
  }

  @Test func `while nothing else succeeds, no number of failures makes a dead letter`()
    async throws
  {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    try rep.write(.order("1", quantity: 1))
    world.network.fate = { $0.kind == .push ? .answer(.status(500)) : .deliver }
    for answers in 1...20 {
      try await rep.runPush()
      #expect(world.network.pushCount == answers)
      world.clock.advance(to: try #require(rep.pushWait))
    }
    #expect(rep.state.unsettled.count == 1 && rep.state.setAside.isEmpty)
  }

  @Test func `withdrawals that the server fails on wait and are not sent in a loop`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let id = try rep.write(.order("1", quantity: 1))[0]
    world.network.fate = { $0.kind == .push ? .loseRequest : .deliver }
    try await rep.runPush()
    try rep.withdraw(id)
    for status in [UInt16(500), 400, 413] {
      world.network.fate = { $0.kind == .push ? .answer(.status(status)) : .deliver }
      let before = world.network.pushCount
      for _ in 1...5 { try await rep.runPush() }
      #expect(world.network.pushCount == before + 5, "\(status)")
      #expect(rep.pushWait != nil)
    }
    world.network.fate = { _ in .deliver }
    #expect(try await rep.drain())
    #expect(rep.state.setAside.first?.refusal?.code == .withdrawn)
  }

  @Test func `a withdrawal does not make the operations beside it look guilty`() async throws {
    let world = World()
    let rep = world.device("rep")
    try await rep.runPull()
    let gone = try rep.write(.order("gone", quantity: 1))[0]
    world.network.fate = { $0.kind == .push ? .loseRequest : .deliver }
    try await rep.runPush()
    try rep.withdraw(gone)
    for number in 1...4 { try rep.write(.order("\(number)", quantity: 1)) }
    world.network.fate = { $0.withdrawals.isEmpty ? .deliver : .answer(.status(500)) }
    for _ in 1...4 { try await rep.runPush() }
    #expect(try await world.server.rows(of: "sales").count == 4)
    #expect(rep.state.unsettled.isEmpty && rep.state.withdrawals.count == 1)
  }
}
