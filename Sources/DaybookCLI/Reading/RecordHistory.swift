import DaybookFormat
import DaybookSync

/// The events of one record, folded from the log of a device or of a server.
///
/// An own operation, its verdict and the change that confirms it are one event. `from` and `to` of
/// an operation are what its author had before them; once the feed tells the effect and the row
/// before it is known, they are what happened to the record.
struct RecordHistory {
  let record: RecordKey
  private var state: ClientState
  private var events: [HistoryEvent] = []
  private var places: [Identifier: Int] = [:]
  /// What became of any operation, for those that left with it.
  private var standings: [Identifier: OperationStanding] = [:]
  private var incarnations: [Identifier: IncarnationRow] = [:]
  private var versions: Set<Version> = []
  /// The records met, for a hint if there is nothing about this one.
  private(set) var collections: Set<String> = []

  init(_ record: RecordKey, incarnation: Identifier) {
    self.record = record
    state = ClientState(
      schema: Schema(name: "", collections: []), incarnation: incarnation)
  }

  /// Takes the next entry in replay order.
  mutating func add(_ entry: Entry, position: UInt64) {
    switch entry {
    case .operation(let operation):
      collections.insert(operation.record.collection)
      if operation.record == record { add(operation) }
    case .change(let change):
      collections.insert(change.record.collection)
      if change.record == record { add(change) }
    case .settlement(let settlement):
      standings[settlement.operationID] = OperationStanding(settlement)
      settle(settlement)
    case .departure(let departure):
      for id in departure.members {
        if let place = places[id] { events[place].departure = departure }
      }
    case .decision(let decision) where decision.kind == .resent:
      let members = state.operation(decision.root)?.departure?.members ?? [decision.root]
      for id in members {
        if let place = places[id] { events[place].departure = nil }
      }
    case .incarnation(let row): incarnations[row.incarnation] = row
    case .verdict(let row): add(row)
    case .heldRow(let row): collections.insert(row.record.collection)
    case .decision, .attempt, .binding, .gap, .restored, .cursor, .bootstrap, .scopeBase,
      .feedSettlement, .history:
      break
    }
    state.apply(entry, position: position)
  }

  /// The place of the event of `id`, made at the end if there is none.
  private mutating func place(of id: Identifier) -> Int {
    if let place = places[id] { return place }
    places[id] = events.count
    events.append(HistoryEvent(id))
    return events.count - 1
  }

  private mutating func add(_ operation: Operation) {
    let place = place(of: operation.id)
    events[place].device = operation.device
    events[place].account = operation.account
    events[place].deviceTime = operation.clock.time
    events[place].action = operation.action.description
    events[place].seen = operation.seen
    let before = state.shown(record)?.row
    let effect = FieldEffect(
      operation.action, fields: operation.fields, unset: operation.unset, before: before)
    events[place].from = effect.from
    events[place].to = effect.to
  }

  private mutating func settle(_ settlement: Settlement) {
    guard let place = places[settlement.operationID], !events[place].isConfirmed else { return }
    if events[place].settlement?.acceptance != nil, settlement.acceptance == nil { return }
    events[place].settlement = settlement
    events[place].serverTime = settlement.serverTime
    guard let acceptance = settlement.acceptance else { return }
    events[place].version = acceptance.version
    events[place].sequence = acceptance.sequence
    for field in acceptance.assigned.entries { events[place].to?[key: field.key] = field.value }
  }

  private mutating func add(_ change: Change) {
    versions.insert(change.version)
    let isNew = places[change.operationID] == nil
    let place = place(of: change.operationID)
    guard !events[place].isConfirmed else { return }
    events[place].isConfirmed = true
    events[place].device = change.device
    events[place].account = change.account
    events[place].deviceTime = change.deviceClock.time
    events[place].serverTime = change.serverTime
    events[place].action = change.action.description
    events[place].seen = change.seen
    events[place].sequence = change.sequence
    events[place].version = change.version
    let effect = effect(of: change)
    guard isNew || effect.isBeforeKnown || change.action == .create else { return }
    events[place].from = effect.from
    events[place].to = effect.to
  }

  private func effect(of change: Change) -> FieldEffect {
    if change.isSuperfluous { return FieldEffect(from: [:], to: [:]) }
    let held = state.held(record)
    let isNext =
      held?.scope == change.scope && held?.version.number == change.version.number &- 1
    switch change.extent {
    case .delta:
      guard isNext, let row = held?.row else {
        return FieldEffect(setting: change.fields, unset: change.unset, before: nil)
      }
      return FieldEffect(setting: change.fields, unset: change.unset, before: row)
    case .row where change.action == .create: return FieldEffect(from: nil, to: change.fields)
    case .row:
      guard isNext, let row = held?.row else { return FieldEffect(from: nil, to: change.fields) }
      return FieldEffect(replacing: row, with: change.fields)
    case .removal: return FieldEffect(from: isNext ? held?.row : nil, to: nil)
    }
  }

  /// A server's row of an operation that had no effect; see ``RecordEntries``.
  private mutating func add(_ row: VerdictRow) {
    let id = row.settlement.operationID
    if places[id] != nil { return settle(row.settlement) }
    guard let version = row.settlement.refusal?.currentVersion, versions.contains(version) else {
      return
    }
    let place = place(of: id)
    events[place].device = incarnations[row.incarnation]?.device
    events[place].account = incarnations[row.incarnation]?.account
    settle(row.settlement)
  }

  /// All events in the order of their times.
  ///
  /// Events of one scope go by its sequence, whatever the clock did; what the server has not
  /// answered stands behind the events that were in the log before it.
  var ordered: [HistoryEvent] {
    var latest = Timestamp(milliseconds: .min)
    var times: [Timestamp] = []
    for event in events {
      let time = event.serverTime ?? latest
      times.append(time)
      latest = max(latest, time)
    }
    latest = Timestamp(milliseconds: .min)
    let numbered = events.indices.filter { events[$0].sequence != nil }
    for index in numbered.sorted(by: { events[$0].sequence ?? 0 < events[$1].sequence ?? 0 }) {
      times[index] = max(times[index], latest)
      latest = times[index]
    }
    let order = events.indices.sorted { left, right in
      let sequences = [left, right].map { events[$0].sequence ?? .max }
      return (times[left], sequences[0], left) < (times[right], sequences[1], right)
    }
    return order.map { index in
      var event = events[index]
      event.rootStanding = event.departure.flatMap { standings[$0.root] }
      return event
    }
  }
}

/// Which fields an action changes, from what to what.
struct FieldEffect {
  let from: ValueMap?
  let to: ValueMap?

  init(from: ValueMap?, to: ValueMap?) {
    self.from = from
    self.to = to
  }

  /// Whether the row before is part of it.
  var isBeforeKnown: Bool { from != nil }

  /// Fields set and unset on `before`, which is `nil` if it is not known.
  init(setting fields: ValueMap, unset: [String], before: ValueMap?) {
    var to = fields
    for name in unset { to[name] = .null }
    self.to = to
    from = before.map { row in
      var from: ValueMap = [:]
      for name in to.names { from[name] = row[name] ?? .null }
      return from
    }
  }

  /// One row in another's place: only what differs.
  init(replacing before: ValueMap, with after: ValueMap) {
    var from: ValueMap = [:]
    var to: ValueMap = [:]
    for name in Set(before.names + after.names) where before[name] != after[name] {
      from[name] = before[name] ?? .null
      to[name] = after[name] ?? .null
    }
    self.init(from: from, to: to)
  }

  /// What an operation means to its author, who has `before` before them.
  init(_ action: Action, fields: ValueMap, unset: [String], before: ValueMap?) {
    switch action {
    case .create: self.init(from: nil, to: fields)
    case .delete: self.init(from: before, to: nil)
    case .replace:
      if let before {
        self.init(replacing: before, with: fields)
      } else {
        self.init(from: nil, to: fields)
      }
    case .patch, .named: self.init(setting: fields, unset: unset, before: before)
    }
  }
}
