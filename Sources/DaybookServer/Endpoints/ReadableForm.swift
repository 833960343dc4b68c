import DaybookFormat

// The forms of answers for readers of JSON. They say the same as the wire's own values, with two
// differences: entries, which the wire carries as bytes, are objects, and identifiers and instants
// are texts (`0198c0de-0000-7000-8000-000000000001`, RFC 3339). Fields follow ``JSONText``.

extension Identifier {
  var readable: Value { .text(description) }
}

extension Timestamp {
  var readable: Value { .text(rfc3339) }
}

extension Change {
  /// Object: "op", "sequence", "version" ([number, mark]), "seen", "action", "extent" ("delta",
  /// "row" or "removal"), "effective" (`false` if the policy let it lose), "scope", "collection",
  /// "id", "account", "device", "deviceTime", "serverTime", "fields", "unset".
  var readable: Value {
    .map([
      "op": operationID.readable, "sequence": .unsigned(sequence), "version": version.value,
      "seen": .unsigned(seen), "action": .text(action.description), "extent": .text(extent.name),
      "effective": .bool(!isSuperfluous), "scope": .text(scope),
      "collection": .text(record.collection), "id": .text(record.id), "account": .text(account),
      "device": .text(device), "deviceTime": deviceClock.time.readable,
      "serverTime": serverTime.readable, "fields": .map(fields),
      "unset": .array(unset.map(Value.text)),
    ])
  }
}

extension Change.Extent {
  fileprivate var name: String {
    switch self {
    case .delta: return "delta"
    case .row: return "row"
    case .removal: return "removal"
    }
  }
}

extension Settlement {
  /// Object: "op", "serverTime", "verdict" ("accepted", "conflict", "refused", "tooOld"), then for
  /// *accepted* "scope", "sequence", "version" and "assigned" (if any), else "code", "message",
  /// "version" and "row" (if there is one).
  var readable: Value {
    var map: ValueMap = [
      "op": operationID.readable, "serverTime": serverTime.readable,
      "verdict": .text(verdictName),
    ]
    if let acceptance {
      map["scope"] = .text(acceptance.scope)
      map["sequence"] = .unsigned(acceptance.sequence)
      map["version"] = acceptance.version.value
      if !acceptance.assigned.isEmpty { map["assigned"] = .map(acceptance.assigned) }
    }
    if let refusal {
      map["code"] = .text(refusal.code.rawValue)
      map["message"] = .text(refusal.message)
      map["version"] = refusal.currentVersion?.value
      map["row"] = refusal.currentRow.map(Value.map)
    }
    return .map(map)
  }
}

extension PushReply {
  /// Object: "server", "epoch", "time", and "results" with "op", "status", and "settlement" or
  /// "error" ("blocked", "collision") each.
  var readable: Value {
    let results = results.map { result -> Value in
      var map: ValueMap = [
        "op": result.operationID.readable, "status": .unsigned(UInt64(result.status)),
      ]
      switch result.outcome {
      case .settled(let settlement): map["settlement"] = settlement.readable
      case .blocked: map["error"] = .text("blocked")
      case .collision: map["error"] = .text("collision")
      }
      return .map(map)
    }
    return .map([
      "server": history.serverID.readable, "epoch": history.epoch.readable,
      "time": serverTime.readable, "results": .array(results),
    ])
  }
}

extension ChangesPage {
  /// Object: "server", "epoch", "time", "scopes", "changes", "more", and "cursor" as the text that
  /// `after` takes.
  var readable: Value {
    .map([
      "server": history.serverID.readable, "epoch": history.epoch.readable,
      "time": serverTime.readable, "scopes": .array(scopes.map(Value.text)),
      "changes": .array(changes.map(\.readable)), "cursor": .text(cursor.text),
      "more": .bool(hasMore),
    ])
  }
}

extension BootstrapPage {
  /// Object: "server", "epoch", "sequence", "mark", "rows", "more", and "after", the record that
  /// the next page's `after` names, if there is one.
  var readable: Value {
    var map: ValueMap = [
      "server": history.serverID.readable, "epoch": history.epoch.readable,
      "sequence": .unsigned(position.sequence), "mark": .unsigned(position.mark),
      "rows": .array(rows.map(\.readable)), "more": .bool(hasMore),
    ]
    if hasMore, let last = rows.last { map["after"] = .text(last.record.description) }
    return .map(map)
  }
}
