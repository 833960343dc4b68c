import DaybookFormat

/// What snapshots hold, as lines for people.
extension EntryText {
  static func lines(_ row: HeldRow) -> [String] {
    let record = printable(row.record.description)
    let place = row.isBeingBuilt ? ", of the base that a bootstrap builds" : ""
    return [
      "\(record) version \(row.version.text)",
      "  scope \(printable(row.scope))\(place)",
      row.row.map { "  row \(JSONText.text(of: .map($0)))" } ?? "  deleted",
    ]
  }

  static func lines(_ base: ScopeBase) -> [String] {
    let place = base.position.map { "at \($0.text)" } ?? "not complete yet"
    var lines = [base.scope.map { "\(printable($0)) \(place)" } ?? "no scope"]
    if let epoch = base.epoch { lines.append("  epoch \(epoch)") }
    if let bootstrap = base.bootstrap {
      let after = bootstrap.after.map { printable($0.description) } ?? "the start"
      lines.append("  bootstrap from \(bootstrap.position.text), read up to \(after)")
    }
    if !base.holes.isEmpty {
      let holes = base.holes.sorted().map { printable($0.description) }.joined(separator: ", ")
      lines.append("  asked for anew: \(holes)")
    }
    return lines
  }
}

/// What snapshots hold, as JSON objects.
extension EntryJSON {
  static func object(_ row: HeldRow) -> JSONObject {
    var object = JSONObject()
    object.set("record", row.record.description)
    object.set("scope", row.scope)
    object.set("version", row.version.text)
    object.set("beingBuilt", row.isBeingBuilt)
    object.set("row", row.row.map(Value.map) ?? .null)
    return object
  }

  static func object(_ base: ScopeBase) -> JSONObject {
    var object = JSONObject()
    object.set("scope", optional: base.scope)
    object.set("epoch", optional: base.epoch?.description)
    object.set("position", optional: base.position?.text)
    object.set("holes", Value.array(base.holes.sorted().map { .text($0.description) }))
    if let bootstrap = base.bootstrap {
      var built = JSONObject()
      built.set("epoch", bootstrap.epoch.description)
      built.set("position", bootstrap.position.text)
      built.set("after", optional: bootstrap.after?.description)
      object.set("bootstrap", built)
    } else {
      object.set("bootstrap", Value.null)
    }
    return object
  }
}

extension HeldRow {
  /// The row, decoded; `nil` for a tombstone.
  fileprivate var row: ValueMap? {
    rowBytes.flatMap { (try? CBORDecoder.decode($0[...], mode: .canonical))?.map }
  }
}
