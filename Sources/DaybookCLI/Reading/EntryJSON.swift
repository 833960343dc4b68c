import DaybookFormat
import DaybookSync

/// Entries as JSON objects with a fixed order of keys. Source: `Docs/Operating.md`.
enum EntryJSON {
  /// The members of `entry`.
  static func object(_ entry: Entry) -> JSONObject {
    switch entry {
    case .operation(let operation): return object(operation)
    case .settlement(let settlement): return object(settlement)
    case .attempt(let attempt):
      var object = JSONObject()
      object.set("operations", identifiers: attempt.operationIDs)
      return object
    case .decision(let decision):
      var object = JSONObject()
      object.set("decision", decision.kind.word)
      object.set("root", decision.root.description)
      object.set("time", decision.time.rfc3339)
      return object
    case .departure(let departure): return object(departure)
    case .binding(let binding):
      var object = JSONObject()
      object.set("serverID", binding.serverID.description)
      object.set("incarnation", binding.incarnation.description)
      return object
    case .gap(let gap): return object(gap)
    case .restored(let restoration):
      var object = JSONObject()
      object.set("from", restoration.from.description)
      object.set("time", restoration.time.rfc3339)
      object.set("until", optional: restoration.until?.description)
      object.set("outbox", restoration.outbox.rawValue)
      return object
    case .change(let change): return object(change)
    case .cursor(let cursor): return object(cursor)
    case .bootstrap(let step): return object(step)
    case .heldRow(let row): return object(row)
    case .scopeBase(let base): return object(base)
    case .feedSettlement(let told):
      var object = JSONObject()
      object.set("after", told.after)
      object.set("settlement", EntryJSON.object(told.settlement))
      return object
    case .verdict(let row):
      var object = JSONObject()
      object.set("incarnation", row.incarnation.description)
      object.set("number", row.number)
      object.set("digest", optional: row.digest.isEmpty ? nil : Hexadecimal.text(of: row.digest))
      object.set("settlement", EntryJSON.object(row.settlement))
      return object
    case .incarnation(let row):
      var object = JSONObject()
      object.set("incarnation", row.incarnation.description)
      object.set("account", row.account)
      object.set("device", row.device)
      object.set("watermark", row.watermark)
      object.set("lastContact", row.lastContact.rfc3339)
      if let anchor = row.anchor { object.set("anchor", anchor.text) }
      return object
    case .history(let identity):
      var object = JSONObject()
      object.set("serverID", identity.serverID.description)
      object.set("epoch", identity.epoch.description)
      return object
    }
  }

  private static func object(_ gap: Gap) -> JSONObject {
    var object = JSONObject()
    object.set("file", gap.file)
    object.set("offset", gap.offset)
    object.set("finding", gap.kind)
    object.set(
      "lost",
      gap.lost.map { .array([.unsigned($0.lowerBound), .unsigned($0.upperBound)]) } ?? Value.null)
    object.set("cut", optional: gap.cut)
    object.set("evidence", Hexadecimal.text(of: gap.evidence))
    object.set("quarantine", optional: gap.quarantine)
    object.set("time", gap.time.rfc3339)
    return object
  }

  private static func object(_ operation: Operation) -> JSONObject {
    var object = JSONObject()
    object.set("op", operation.id.description)
    object.set("incarnation", operation.incarnation.description)
    object.set("number", operation.number)
    object.set("deviceTime", operation.clock.time.rfc3339)
    object.set("clock", operation.clock.rawValue)
    object.set("seen", operation.seen)
    object.set("schemaVersion", UInt64(operation.schemaVersion))
    object.set("account", operation.account)
    object.set("device", operation.device)
    object.set("record", operation.record.description)
    object.set("scope", operation.scope)
    object.set("strategy", operation.strategy.name)
    object.set("action", operation.action.description)
    object.set("base", operation.base.value)
    if let transaction = operation.transaction {
      var place = JSONObject()
      place.set("id", transaction.id.description)
      place.set("index", Int(transaction.index))
      place.set("count", Int(transaction.count))
      object.set("transaction", place)
    } else {
      object.set("transaction", Value.null)
    }
    object.set("supersedes", optional: operation.supersedes?.description)
    object.set("fields", Value.map(operation.fields))
    object.set("unset", Value.array(operation.unset.map(Value.text)))
    return object
  }

  private static func object(_ settlement: Settlement) -> JSONObject {
    var object = JSONObject()
    object.set("op", settlement.operationID.description)
    object.set("serverTime", settlement.serverTime.rfc3339)
    object.set("verdict", settlement.verdictName)
    if let acceptance = settlement.acceptance {
      object.set("scope", acceptance.scope)
      object.set("sequence", acceptance.sequence)
      object.set("version", acceptance.version.text)
      object.set("assigned", Value.map(acceptance.assigned))
    }
    if let refusal = settlement.refusal {
      object.set("code", refusal.code.rawValue)
      object.set("message", refusal.message)
      object.set("currentVersion", optional: refusal.currentVersion?.text)
      object.set("currentRow", refusal.currentRow.map(Value.map) ?? .null)
    }
    return object
  }

  private static func object(_ departure: Departure) -> JSONObject {
    var object = JSONObject()
    object.set("root", departure.root.description)
    object.set("members", identifiers: departure.members)
    switch departure.reason {
    case .verdict: object.set("reason", "verdict")
    case .withdrawn: object.set("reason", "withdrawn")
    case .deadLetter(let status, let message):
      object.set("reason", "deadLetter")
      object.set("status", Int(status))
      object.set("message", message)
    case .failed(let message):
      object.set("reason", "failed")
      object.set("message", message)
    }
    return object
  }

  private static func object(_ change: Change) -> JSONObject {
    var object = JSONObject()
    object.set("op", change.operationID.description)
    object.set("scope", change.scope)
    object.set("sequence", change.sequence)
    object.set("version", change.version.text)
    object.set("seen", change.seen)
    object.set("deviceTime", change.deviceClock.time.rfc3339)
    object.set("serverTime", change.serverTime.rfc3339)
    object.set("account", change.account)
    object.set("device", change.device)
    object.set("record", change.record.description)
    object.set("action", change.action.description)
    object.set("extent", change.extent.word)
    object.set("superfluous", change.isSuperfluous)
    object.set("fields", Value.map(change.fields))
    object.set("unset", Value.array(change.unset.map(Value.text)))
    return object
  }

  private static func object(_ cursor: Cursor) -> JSONObject {
    var object = JSONObject()
    object.set("epoch", cursor.epoch.description)
    var scopes = JSONObject()
    let inOrder = cursor.positions.sorted { ByteOrder.precedes($0.key, $1.key) }
    for (name, position) in inOrder { scopes.set(name, position.text) }
    object.set("scopes", scopes)
    return object
  }

  private static func object(_ step: BootstrapStep) -> JSONObject {
    var object = JSONObject()
    object.set("scope", step.scope)
    switch step {
    case .begin(_, let epoch, let position):
      object.set("epoch", epoch.description)
      object.set("position", position.text)
    case .page(_, let after): object.set("after", after.description)
    case .end: break
    }
    return object
  }
}

extension JSONObject {
  /// Sets `name` to a text, or to null.
  mutating func set(_ name: String, optional text: String?) {
    set(name, text.map(Value.text) ?? .null)
  }

  /// Sets `name` to a whole number, or to null.
  mutating func set(_ name: String, optional number: UInt64?) {
    set(name, number.map(Value.unsigned) ?? .null)
  }

  /// Sets `name` to an array of identifiers.
  mutating func set(_ name: String, identifiers: [Identifier]) {
    set(name, Value.array(identifiers.map { .text($0.description) }))
  }
}
