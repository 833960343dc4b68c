package import DaybookFormat

/// Decides what to ask the server for and what to append. One pull is in flight at a time.
///
///     idle ──wake──▶ fetching ──page──▶ storing ──durable──▶ recording ──▶ fetching ... ──▶ idle
///       ▲                │ no answer                        (own settlements, binding)
///       └── timer ── waiting
///
/// A page's changes and its cursor are one append; readers and the next request move only after it
/// is durable. A scope without a base is bootstrapped first, page by page. Source: `Docs/Sync.md`,
/// section "Pull".
package struct PullMachine: ~Copyable {
  /// What happened.
  package enum Event: Sendable {
    /// It is time to look. An urgent one passes a wait, unless the server asked for it.
    case wake(isUrgent: Bool)
    /// A page of changes came.
    case page(ChangesPage)
    /// A page of a scope's rows came.
    case rows(BootstrapPage)
    /// Nothing usable came.
    case failed(SyncFailure)
    /// What was to be stored in the feed is durable.
    case stored
    /// What was to be recorded in the outbox is durable.
    case recorded
    /// A write failed.
    case notWritten
    /// What a pause waited for has been done.
    case resumed
  }

  /// What to do now.
  package enum Action: Sendable, Hashable {
    /// Ask for what follows `after`; report `page` or `failed`.
    case fetchChanges(after: Cursor?)
    /// Ask for the rows of `scope` behind `after`; report `rows` or `failed`.
    case fetchRows(scope: String, after: RecordKey?)
    /// Append these entries to the feed in one append and sync it; report `stored`.
    case store([Entry])
    /// Append these entries to the outbox; report `recorded`.
    case record([Entry])
    /// Report `wake` at this time.
    case wait(until: Timestamp)
    /// Say that nothing is pulled until somebody acts.
    case pause(SyncPause)
    /// A round is complete: everything that the server had is stored.
    case finish
  }

  private enum Phase {
    case idle
    case fetchingChanges(after: Cursor?)
    case fetchingRows(scope: String, after: RecordKey?)
    case storing
    case recording
    case waiting(until: Timestamp, isFirm: Bool)
    case paused(SyncPause)
  }

  private let schedule: RetrySchedule
  private var phase: Phase = .idle
  private var failures = 0
  private var hasMore = false
  /// Scopes that are to be bootstrapped in this round, first one first.
  private var missing: [String] = []
  /// A wake came while a round was under way: what it is about may lie behind the page fetched.
  private var wakesAgain = false
  /// The cursor has been too old once in this round; twice is not mended by another bootstrap.
  private var hasExpired = false

  /// An idle machine.
  package init(schedule: RetrySchedule = .background) { self.schedule = schedule }

  /// Whether a request or a write of this machine is under way.
  package var isBusy: Bool {
    switch phase {
    case .fetchingChanges, .fetchingRows, .storing, .recording: return true
    case .idle, .waiting, .paused: return false
    }
  }

  /// The reason for which nothing is pulled, if there is one.
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
      return begin(state)
    case (.wake, .idle), (.resumed, .paused):
      return begin(state)
    case (.wake, _) where isBusy:
      wakesAgain = true
      return []
    case (.page(let page), .fetchingChanges(let after)):
      return take(page, after: after, state, now: now, random: random)
    case (.rows(let page), .fetchingRows(let scope, let after)):
      return take(page, of: scope, after: after, state, now: now, random: random)
    case (.failed(let failure), .fetchingChanges), (.failed(let failure), .fetchingRows):
      return fail(failure, state, now: now, random: random)
    case (.stored, .storing):
      return record(state, binding: nil)
    case (.recorded, .recording):
      return proceed(state)
    case (.notWritten, .storing), (.notWritten, .recording):
      return retry(afterSeconds: nil, now: now, random: random)
    default:
      return []
    }
  }

  private mutating func begin(_ state: borrowing ClientState) -> [Action] {
    missing = unfinished(state)
    hasMore = true
    wakesAgain = false
    hasExpired = false
    return record(state, binding: nil)
  }

  /// The scopes whose bootstrap was interrupted, and those with a hole. No change of them may be
  /// folded before it is complete.
  private func unfinished(_ state: borrowing ClientState) -> [String] {
    state.scopes.filter { $0.value.bootstrap != nil || !$0.value.holes.isEmpty }.keys
      .sorted(by: ByteOrder.precedes)
  }

  private mutating func proceed(_ state: borrowing ClientState) -> [Action] {
    if let scope = missing.first {
      return fetchRows(of: scope, after: state.scopes[scope]?.bootstrap?.after)
    }
    if !hasMore {
      missing = unfinished(state)
      hasMore = wakesAgain || !missing.isEmpty
      wakesAgain = false
      if hasMore { return proceed(state) }
    }
    guard hasMore else {
      phase = .idle
      failures = 0
      return [.finish]
    }
    phase = .fetchingChanges(after: state.pulled)
    return [.fetchChanges(after: state.pulled)]
  }

  private mutating func take(
    _ page: ChangesPage, after: Cursor?, _ state: borrowing ClientState, now: Timestamp,
    random: UInt64
  ) -> [Action] {
    if let bound = state.binding, bound.serverID != page.history.serverID {
      phase = .paused(.notOurServer)
      return [.pause(.notOurServer)]
    }
    let pulled = after?.positions ?? [:]
    let isNews = page.cursor.positions.contains { pulled[$0.key] != $0.value }
    // A page that promises more and gets nowhere would never end.
    if page.hasMore, !isNews { return retry(afterSeconds: nil, now: now, random: random) }
    failures = 0
    hasMore = page.hasMore
    missing = page.scopes.filter { state.scopes[$0]?.position == nil }
    if !missing.isEmpty { hasMore = true }
    let changes = page.changes.filter { pulled[$0.scope] != nil }
    var binding: Binding?
    if state.binding?.incarnation != state.incarnation {
      binding = Binding(serverID: page.history.serverID, incarnation: state.incarnation)
    }
    // All are begun at once: until the last one is whole, the log says that something is missing.
    let begun = missing.filter { state.scopes[$0]?.bootstrap == nil }.map { scope in
      Entry.bootstrap(
        .begin(
          scope: scope, epoch: page.history.epoch, position: ScopePosition(sequence: 0, mark: 0)))
    }
    if changes.isEmpty, begun.isEmpty, !isNews, state.epoch == page.history.epoch {
      let isWhole = missing.isEmpty || state.restoration == nil
      return record(state, binding: isWhole ? binding : nil)
    }
    // A restored log sends only once it has seen all that the server has: what the original sent.
    if let binding, state.restoration == nil {
      // The binding is durable before anything that depends on it; the page is asked for again.
      hasMore = true
      return record(state, binding: binding)
    }
    if binding != nil { hasMore = true }
    phase = .storing
    return [.store(changes.map(Entry.change) + begun + [.cursor(page.cursor)])]
  }

  private mutating func fetchRows(of scope: String, after: RecordKey?) -> [Action] {
    phase = .fetchingRows(scope: scope, after: after)
    return [.fetchRows(scope: scope, after: after)]
  }

  private mutating func take(
    _ page: BootstrapPage, of scope: String, after: RecordKey?, _ state: borrowing ClientState,
    now: Timestamp, random: UInt64
  ) -> [Action] {
    if let bound = state.binding, bound.serverID != page.history.serverID {
      phase = .paused(.notOurServer)
      return [.pause(.notOurServer)]
    }
    // A page that promises more behind nothing would never end.
    if page.hasMore, page.rows.isEmpty {
      return retry(afterSeconds: nil, now: now, random: random)
    }
    failures = 0
    if after != nil, state.scopes[scope]?.bootstrap?.epoch != page.history.epoch {
      // The rows before `after` came from another history: begin again.
      return fetchRows(of: scope, after: nil)
    }
    var entries: [Entry] = []
    if after == nil {
      entries.append(
        .bootstrap(.begin(scope: scope, epoch: page.history.epoch, position: page.position)))
    }
    entries += page.rows.map(Entry.change)
    if let last = page.rows.last, page.hasMore {
      entries.append(.bootstrap(.page(scope: scope, after: last.record)))
    } else {
      entries.append(.bootstrap(.end(scope: scope)))
      missing.removeAll { $0 == scope }
    }
    phase = .storing
    return [.store(entries)]
  }

  /// Puts into the outbox what the feed has told about own operations, then goes on.
  private mutating func record(
    _ state: borrowing ClientState, binding: Binding?
  ) -> [Action] {
    var entries = state.unrecordedSettlements.map(Entry.settlement)
    if let binding { entries.append(.binding(binding)) }
    if entries.isEmpty { return proceed(state) }
    phase = .recording
    return [.record(entries)]
  }

  private mutating func fail(
    _ failure: SyncFailure, _ state: borrowing ClientState, now: Timestamp, random: UInt64
  ) -> [Action] {
    if case .status(_, _, let problem) = failure, problem?.code == .cursorExpired, !hasExpired {
      hasExpired = true
      missing = state.scopes.keys.sorted(by: ByteOrder.precedes)
      return proceed(state)
    }
    switch ReplyClass(failure) {
    case .pause(let pause):
      phase = .paused(pause)
      return [.pause(pause)]
    case .retry(let seconds):
      return retry(afterSeconds: seconds, now: now, random: random)
    case .suspect, .split, .terminal:
      return retry(afterSeconds: nil, now: now, random: random)
    }
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
