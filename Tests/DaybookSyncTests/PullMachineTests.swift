import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// A pull machine on a state that the test writes.
private final class PullRig {
  var state = ClientState(schema: World.schema, incarnation: PushRig.incarnation)
  var now = SimulatedClock.morning
  private var machine = PullMachine()
  private var position: UInt64 = 0

  func apply(_ entries: [Entry]) {
    for entry in entries {
      position += 1
      state.apply(entry, position: position)
    }
  }

  @discardableResult
  func step(_ event: PullMachine.Event) -> [PullMachine.Action] {
    machine.handle(event, state: state, now: now, random: 0)
  }

  /// Steps the machine and makes what it stores and records durable.
  @discardableResult
  func run(_ event: PullMachine.Event) -> [PullMachine.Action] {
    var actions = step(event)
    while let first = actions.first {
      switch first {
      case .store(let entries):
        apply(entries)
        actions = step(.stored)
      case .record(let entries):
        apply(entries)
        actions = step(.recorded)
      default: return actions
      }
    }
    return actions
  }

  func page(
    _ changes: [Change] = [], at sequence: UInt64?, hasMore: Bool = false,
    scopes: [String] = ["sales"]
  ) -> ChangesPage {
    var cursor = Cursor(epoch: PushRig.history.epoch)
    if let sequence {
      cursor.positions["sales"] = ScopePosition(sequence: sequence, mark: sequence)
    }
    return ChangesPage(
      history: PushRig.history, serverTime: now, scopes: scopes, changes: changes, cursor: cursor,
      hasMore: hasMore)
  }

  func rows(_ rows: [Change] = [], at sequence: UInt64, hasMore: Bool = false) -> BootstrapPage {
    BootstrapPage(
      history: PushRig.history, position: ScopePosition(sequence: sequence, mark: sequence),
      rows: rows, hasMore: hasMore)
  }

  func row(_ id: String, sequence: UInt64) -> Change {
    Change(
      operationID: Identifier(high: 8, low: sequence), sequence: sequence,
      version: Version(number: sequence, mark: sequence), seen: 0,
      deviceClock: HybridTime(now), serverTime: now, action: .create, extent: .row,
      scope: "sales", record: .order(id), account: "office", device: "desk",
      fields: ["status": .text("open"), "quantity": .int(1)])
  }

  /// A rig whose scope is bootstrapped at sequence 2.
  static func pulled() -> PullRig {
    let rig = PullRig()
    rig.run(.wake(isUrgent: false))
    rig.run(.page(rig.page(at: nil)))
    rig.run(.rows(rig.rows([rig.row("1", sequence: 1)], at: 2)))
    rig.run(.page(rig.page(at: 2)))
    return rig
  }
}

extension PullMachine.Action {
  fileprivate var word: String {
    switch self {
    case .fetchChanges: return "changes"
    case .fetchRows: return "rows"
    case .store: return "store"
    case .record: return "record"
    case .wait: return "wait"
    case .pause: return "pause"
    case .finish: return "finish"
    }
  }
}

/// Every event in every phase of the pull machine.
@Suite struct `the pull machine, event by event` {
  @Test func `a restored log is bound only when it has pulled to its head`() {
    let rig = PullRig()
    let life = Identifier(high: 9, low: 9)
    rig.apply([
      .binding(Binding(serverID: PushRig.history.serverID, incarnation: life)),
      .bootstrap(
        .begin(
          scope: "sales", epoch: PushRig.history.epoch,
          position: ScopePosition(sequence: 1, mark: 1))),
      .bootstrap(.end(scope: "sales")),
      .restored(Restoration(from: life, time: rig.now, until: nil, outbox: .send)),
    ])
    rig.run(.wake(isUrgent: true))
    rig.run(.page(rig.page(at: 3, hasMore: true)))
    #expect(rig.state.binding?.incarnation == life, "there is more: it must not send yet")
    rig.run(.page(rig.page(at: 4)))
    #expect(rig.state.binding?.incarnation == life, "something may have come meanwhile")
    #expect(rig.run(.page(rig.page(at: 4))) == [.finish])
    #expect(rig.state.binding?.incarnation == rig.state.incarnation)
  }

  @Test func `each event in each phase has the answer of the table`() {
    let table: [(phase: String, answers: [String])] = [
      //               wake urgent page rows lost 401 stored recorded notWritten resumed
      ("idle", ["changes", "changes", "-", "-", "-", "-", "-", "-", "-", "-"]),
      ("changes", ["-", "-", "store", "-", "wait", "pause", "-", "-", "-", "-"]),
      ("rows", ["-", "-", "-", "store", "wait", "pause", "-", "-", "-", "-"]),
      ("storing", ["-", "-", "-", "-", "-", "-", "changes", "-", "wait", "-"]),
      ("recording", ["-", "-", "-", "-", "-", "-", "-", "rows", "wait", "-"]),
      ("waiting", ["wait", "changes", "-", "-", "-", "-", "-", "-", "-", "-"]),
      ("waiting firmly", ["wait", "wait", "-", "-", "-", "-", "-", "-", "-", "-"]),
      ("paused", ["-", "-", "-", "-", "-", "-", "-", "-", "-", "changes"]),
    ]
    for (phase, answers) in table {
      for place in answers.indices {
        let rig = rig(in: phase)
        let events: [PullMachine.Event] = [
          .wake(isUrgent: false), .wake(isUrgent: true),
          .page(rig.page([rig.row("3", sequence: 3)], at: 3)),
          .rows(rig.rows([rig.row("3", sequence: 3)], at: 3)),
          .failed(.unreachable(reason: "lost")), .failed(.status(401)), .stored, .recorded,
          .notWritten, .resumed,
        ]
        let answer = rig.step(events[place]).first?.word ?? "-"
        #expect(answer == answers[place], "event \(place) while \(phase)")
      }
    }
  }

  private func rig(in phase: String) -> PullRig {
    if phase == "rows" || phase == "recording" {
      let rig = PullRig()
      rig.run(.wake(isUrgent: false))
      if phase == "recording" {
        if case .record(let entries) = rig.step(.page(rig.page(at: nil))).first {
          rig.apply(entries)
        }
      } else {
        rig.run(.page(rig.page(at: nil)))
      }
      return rig
    }
    let rig = PullRig.pulled()
    if phase == "idle" { return rig }
    rig.step(.wake(isUrgent: false))
    switch phase {
    case "storing":
      let page = rig.page([rig.row("3", sequence: 3)], at: 3, hasMore: true)
      if case .store(let entries) = rig.step(.page(page)).first { rig.apply(entries) }
    case "waiting": rig.step(.failed(.unreachable(reason: "lost")))
    case "waiting firmly": rig.step(.failed(.status(503, after: 60)))
    case "paused": rig.step(.failed(.status(401)))
    default: break
    }
    return rig
  }

  @Test func `a page and its cursor are one append, and the next request waits for it`() {
    let rig = PullRig.pulled()
    let before = rig.state.pulled
    #expect(rig.step(.wake(isUrgent: false)) == [.fetchChanges(after: before)])
    let change = rig.row("3", sequence: 3)
    let page = rig.page([change], at: 3)
    #expect(rig.step(.page(page)) == [.store([.change(change), .cursor(page.cursor)])])
    #expect(rig.state.pulled == before, "the machine moves nothing itself")
    rig.apply([.change(change), .cursor(page.cursor)])
    #expect(rig.step(.stored) == [.finish])
  }

  @Test func `the binding is durable before anything that depends on it`() {
    let rig = PullRig()
    rig.step(.wake(isUrgent: false))
    let binding = Binding(
      serverID: PushRig.history.serverID, incarnation: PushRig.incarnation)
    #expect(rig.step(.page(rig.page(at: nil))) == [.record([.binding(binding)])])
  }

  @Test func `a page from another server is not stored`() {
    let rig = PullRig.pulled()
    rig.step(.wake(isUrgent: false))
    var page = rig.page([rig.row("3", sequence: 3)], at: 3)
    page.history = HistoryIdentity(
      serverID: Identifier(high: 9, low: 9), epoch: PushRig.history.epoch)
    #expect(rig.step(.page(page)) == [.pause(.notOurServer)])
  }

  @Test func `nothing new leaves no entry, though a scope is no longer served`() {
    let rig = PullRig.pulled()
    rig.step(.wake(isUrgent: false))
    #expect(rig.step(.page(rig.page(at: 2))) == [.finish])
    rig.step(.wake(isUrgent: false))
    #expect(rig.step(.page(rig.page(at: nil, scopes: []))) == [.finish])
  }

  @Test func `a wake in the middle of a round asks once more`() {
    let rig = PullRig.pulled()
    rig.step(.wake(isUrgent: false))
    rig.step(.wake(isUrgent: true))
    #expect(rig.step(.page(rig.page(at: 2))).map(\.word) == ["changes"])
    #expect(rig.step(.page(rig.page(at: 2))) == [.finish])
  }

  @Test func `a cursor that is too old bootstraps every scope once, then waits`() {
    let rig = PullRig.pulled()
    rig.step(.wake(isUrgent: false))
    let expired = SyncFailure.status(410, .cursorExpired)
    #expect(rig.step(.failed(expired)) == [.fetchRows(scope: "sales", after: nil)])
    #expect(rig.run(.rows(rig.rows(at: 9))).map(\.word) == ["changes"])
    #expect(rig.step(.failed(expired)).map(\.word) == ["wait"])
  }

  @Test func `a page that promises rows behind nothing is not taken for the end`() {
    let rig = PullRig()
    rig.run(.wake(isUrgent: false))
    rig.run(.page(rig.page(at: nil)))
    #expect(rig.step(.rows(rig.rows(at: 2, hasMore: true))).map(\.word) == ["wait"])
    #expect(rig.state.isComplete("orders") == false)
  }

  @Test func `a bootstrap that another history answers begins again`() {
    let rig = PullRig()
    rig.run(.wake(isUrgent: false))
    rig.run(.page(rig.page(at: nil)))
    rig.run(.rows(rig.rows([rig.row("1", sequence: 1)], at: 2, hasMore: true)))
    var page = rig.rows([rig.row("2", sequence: 2)], at: 2)
    page.history = HistoryIdentity(
      serverID: PushRig.history.serverID, epoch: Identifier(high: 9, low: 9))
    #expect(rig.step(.rows(page)) == [.fetchRows(scope: "sales", after: nil)])
  }
}
