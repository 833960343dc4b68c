import DaybookFormat
import DaybookLog
import DaybookSync

/// Entries as lines for people: what it is about first, then a line for each group of facts. Values
/// stand in JSON, so that no field's content can break a line.
enum EntryText {
  /// The lines of `entry`, the later ones indented by two.
  static func lines(_ entry: Entry) -> [String] {
    switch entry {
    case .operation(let operation): return lines(operation)
    case .settlement(let settlement): return lines(settlement)
    case .attempt(let attempt):
      return ["before the first send of \(list(attempt.operationIDs))"]
    case .decision(let decision):
      return ["\(decision.kind.word) \(decision.root) at \(decision.time.rfc3339)"]
    case .departure(let departure):
      var lines = ["\(list(departure.members)) left the lane: \(words(departure.reason))"]
      if departure.members != [departure.root] { lines.append("  because of \(departure.root)") }
      return lines
    case .binding(let binding):
      return ["to server \(binding.serverID), which knows incarnation \(binding.incarnation)"]
    case .gap(let gap): return lines(gap)
    case .restored(let restoration):
      let place = restoration.until.map { " up to \($0)" } ?? ""
      return [
        "from a copy of incarnation \(restoration.from)\(place) at \(restoration.time.rfc3339)",
        "  operations without a verdict: \(restoration.outbox.rawValue)",
      ]
    case .change(let change): return lines(change)
    case .cursor(let cursor):
      let scopes = cursor.positions.sorted { $0.key < $1.key }
      let places = scopes.map { "\(printable($0.key)) at \($0.value.text)" }
      return ["epoch \(cursor.epoch)"] + places.map { "  \($0)" }
    case .bootstrap(let step): return [words(step)]
    case .heldRow(let row): return lines(row)
    case .scopeBase(let base): return lines(base)
    case .feedSettlement(let told):
      return lines(told.settlement) + ["  told by the feed behind outbox:\(told.after)"]
    case .verdict(let row):
      let words = lines(row.settlement)
      return words + ["  operation \(row.number) of incarnation \(row.incarnation)"]
    case .incarnation(let row):
      return [
        "\(row.incarnation) is \(printable(row.account)) on \(printable(row.device))",
        "  watermark \(row.watermark), last heard of \(row.lastContact.rfc3339)",
      ]
        + (row.anchor?.places ?? []).map { place in
          "  its \(place.stream) stood at \(place.number), chain value "
            + place.chain.digest.hexadecimal
        }
    case .history(let identity): return ["server \(identity.serverID), epoch \(identity.epoch)"]
    }
  }

  private static func lines(_ gap: Gap) -> [String] {
    var lines = [
      "damage found at \(gap.time.rfc3339): \(printable(gap.file)), byte \(gap.offset) "
        + "(\(printable(gap.kind)))"
    ]
    if let lost = gap.lost { lines.append("  lost: \(LogFinding.words(for: lost))") }
    if let cut = gap.cut { lines.append("  entries from \(cut) up to here do not count") }
    if let name = gap.quarantine { lines.append("  evidence: quarantine/\(printable(name))") }
    return lines
  }

  private static func lines(_ operation: Operation) -> [String] {
    let record = printable(operation.record.description)
    var lines = [
      "\(operation.id) \(printable(operation.action.description)) \(record)",
      "  by \(printable(operation.account)) on \(printable(operation.device)) at "
        + "\(operation.clock.time.rfc3339), having seen \(operation.seen)",
      "  \(operation.strategy.name), number \(operation.number), scope "
        + "\(printable(operation.scope)), schema \(operation.schemaVersion), on "
        + operation.base.words,
    ]
    if let transaction = operation.transaction {
      lines.append(
        "  \(transaction.index + 1) of \(transaction.count) in transaction \(transaction.id)")
    }
    if let superseded = operation.supersedes { lines.append("  supersedes \(superseded)") }
    return lines + self.lines(set: operation.fields, unset: operation.unset)
  }

  private static func lines(set fields: ValueMap, unset: [String]) -> [String] {
    var lines: [String] = []
    if !fields.isEmpty { lines.append("  sets \(JSONText.text(of: .map(fields)))") }
    if !unset.isEmpty {
      lines.append("  unsets \(JSONText.text(of: .array(unset.map(Value.text))))")
    }
    return lines
  }

  private static func lines(_ settlement: Settlement) -> [String] {
    let head = "\(settlement.operationID) \(settlement.verdictName) at "
    var lines = [head + settlement.serverTime.rfc3339]
    if let acceptance = settlement.acceptance {
      let place = "\(printable(acceptance.scope)) \(acceptance.sequence)"
      lines.append("  \(place), version \(acceptance.version.text)")
      if !acceptance.assigned.isEmpty {
        lines.append("  server set \(JSONText.text(of: .map(acceptance.assigned)))")
      }
    }
    if let refusal = settlement.refusal {
      lines.append("  \(printable(refusal.code.rawValue)): \(printable(refusal.message))")
      if let version = refusal.currentVersion {
        let row = refusal.currentRow.map { JSONText.text(of: .map($0)) } ?? "deleted"
        lines.append("  current version \(version.text): \(row)")
      }
    }
    return lines
  }

  private static func lines(_ change: Change) -> [String] {
    let record = printable(change.record.description)
    var lines = [
      "\(change.operationID) \(printable(change.action.description)) \(record)",
      "  by \(printable(change.account)) on \(printable(change.device)) at "
        + "\(change.deviceClock.time.rfc3339), having seen \(change.seen)",
      "  \(printable(change.scope)) \(change.sequence), version \(change.version.text), server "
        + "time \(change.serverTime.rfc3339)",
    ]
    if change.isSuperfluous { lines.append("  without effect: a later write stands") }
    switch change.extent {
    case .removal: lines.append("  removes the record")
    case .row: lines.append("  row \(JSONText.text(of: .map(change.fields)))")
    case .delta: lines += self.lines(set: change.fields, unset: change.unset)
    }
    return lines
  }

  /// Why operations left their lane.
  static func words(_ reason: Departure.Reason) -> String {
    switch reason {
    case .verdict: return "the server's verdict"
    case .withdrawn: return "given up"
    case .deadLetter(let status, let message): return "answered \(status), \(printable(message))"
    case .failed(let message): return "attempts used up, \(printable(message))"
    }
  }

  private static func words(_ step: BootstrapStep) -> String {
    switch step {
    case .begin(let scope, let epoch, let position):
      return "\(printable(scope)) from \(position.text) of epoch \(epoch)"
    case .page(let scope, let after):
      return "\(printable(scope)) up to \(printable(after.description))"
    case .end(let scope): return "\(printable(scope)) is complete"
    }
  }

  private static func list(_ identifiers: [Identifier]) -> String {
    identifiers.map(\.description).joined(separator: ", ")
  }
}
