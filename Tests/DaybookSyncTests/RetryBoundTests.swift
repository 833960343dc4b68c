import DaybookFormat
import DaybookSync
import Testing

/// Bounds of waiting, whatever the server asks for.
@Suite struct RetryBoundTests {
  @Test func `a Retry-After of zero never beats the schedule's floor`() {
    var machine = PullMachine(schedule: .background)
    let state = ClientState(
      schema: Schema(name: "empty", collections: []), incarnation: Identifier(high: 1, low: 1))
    let now = Timestamp(milliseconds: 1_000_000)
    #expect(
      machine.handle(.wake(isUrgent: true), state: state, now: now, random: 0)
        == [.fetchChanges(after: nil)])
    let failure = SyncFailure.status(503, retryAfterSeconds: 0, problem: nil)
    let actions = machine.handle(.failed(failure), state: state, now: now, random: 0)
    #expect(actions == [.wait(until: Timestamp(milliseconds: 1_000_000 + 10_000))])
  }

  @Test func `a page that promises more and gets nowhere is not asked for at once again`() {
    var machine = PullMachine(schedule: .background)
    let state = ClientState(
      schema: Schema(name: "empty", collections: []), incarnation: Identifier(high: 1, low: 1))
    let now = Timestamp(milliseconds: 1_000_000)
    _ = machine.handle(.wake(isUrgent: true), state: state, now: now, random: 0)
    let history = HistoryIdentity(
      serverID: Identifier(high: 2, low: 2), epoch: Identifier(high: 3, low: 3))
    let page = ChangesPage(
      history: history, serverTime: now, scopes: [], changes: [],
      cursor: Cursor(epoch: history.epoch), hasMore: true)
    let actions = machine.handle(.page(page), state: state, now: now, random: 0)
    guard case .wait = actions.first, actions.count == 1 else {
      Issue.record("\(actions)")
      return
    }
  }
}
