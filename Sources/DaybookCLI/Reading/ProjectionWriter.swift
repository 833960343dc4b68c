import DaybookFormat
import DaybookLog
import DaybookSync

/// Writes what a log showed at a place, for people or for programs.
struct ProjectionWriter {
  let output: Output
  let isJSON: Bool

  /// The records, and the place that they are as of.
  func write(_ projection: Projection, _ records: [ShownRecord]) {
    for record in records {
      let operations = projection.pending(on: record.key)
      if isJSON {
        output.object(object(record, operations))
      } else {
        var facts = [record.version?.text ?? "not on the server yet"]
        if record.isPending {
          let actions = operations.map { printable($0.operation.action.description) }
          facts.append("pending: \(actions.joined(separator: ", "))")
        }
        output.line("\(printable(record.key.description))  \(facts.joined(separator: ", "))")
        output.line("  \(JSONText.text(of: .map(record.row)))")
      }
    }
    finish(projection, records)
  }

  private func object(_ record: ShownRecord, _ operations: [OutboxOperation]) -> JSONObject {
    var object = JSONObject()
    object.set("record", record.key.description)
    object.set("version", optional: record.version?.text)
    object.set("pending", record.isPending)
    object.set("operations", identifiers: operations.map(\.operation.id))
    object.set("row", Value.map(record.row))
    return object
  }

  private func finish(_ projection: Projection, _ records: [ShownRecord]) {
    let pendingCount = records.count(where: \.isPending)
    let ends = projection.ends.sorted { $0.key > $1.key }
    if isJSON {
      var places = JSONObject()
      for (stream, number) in ends { places.set(stream, number) }
      var object = JSONObject()
      object.set("at", places)
      object.set("time", optional: projection.clock?.time.rfc3339)
      object.set("records", records.count)
      object.set("pending", pendingCount)
      output.object(object)
      return
    }
    if !records.isEmpty { output.line() }
    let noun = records.count == 1 ? "record" : "records"
    let place =
      ends.isEmpty
      ? "before the first entry"
      : "at \(ends.map { "\($0.key):\($0.value)" }.joined(separator: " and "))"
    let time = projection.clock.map { ", \($0.time.rfc3339)" } ?? ""
    let counts = "\(grouped(records.count)) \(noun), \(grouped(pendingCount)) pending"
    output.line("\(counts), \(place)\(time)")
  }
}
