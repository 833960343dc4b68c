import DaybookFormat
import DaybookLog

/// `daybook history`: who did what to one record, when, having seen what, and what came of it.
enum HistoryCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a log of a device or a server")
  static let record = Parameter.argument(.record, help: "the record")

  static let syntax = Syntax(
    name: "history",
    summary: "show who did what to one record, and what came of it",
    detail: [
      "An operation, its verdict and the change that confirms it are one event. A device knows its "
        + "own operations, refused ones too, and the changes it has pulled; a server knows every "
        + "change, and of a refused operation the verdict and not the fields.",
      "`from` and `to` are the changed fields before and after; what the log does not say is null. "
        + "`seen` is the scope's sequence number that the author had seen.",
      "Takes no lock and works while the log is in use.",
    ],
    parameters: [directory, record, CommonParameter.json],
    examples: [
      .init("daybook history field/reps/01 orders/15104", "as this device knows it"),
      .init(
        "daybook history field/server orders/15104 --json",
        "as the server knows it, a line an event"),
    ],
    statuses: ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let name = arguments[record]
    let key = RecordKey(name.collection, name.id)
    let folded = try LogFold.fold(
      arguments[directory], on: output, history: true,
      from: { log throws(LogError) in
        RecordHistory(key, incarnation: log.header?.incarnation ?? .zero)
      }
    ) { history, stored, entry in
      if let entry { history.add(entry, position: stored.number) }
    }
    let events = folded.result.ordered
    if arguments[CommonParameter.json] {
      for event in events { output.object(event.object) }
      var object = JSONObject()
      object.set("events", events.count)
      output.object(object)
    } else {
      for event in events {
        for line in event.lines { output.line(line) }
      }
      if !events.isEmpty { output.line() }
      let noun = events.count == 1 ? "event" : "events"
      output.line("\(grouped(events.count)) \(noun) of \(printable(key.description))")
    }
    if events.isEmpty { hint(at: key, folded.result.collections, folded.log.path, output) }
    return folded.condition.tell(folded.log.path, on: output)
  }

  private static func hint(
    at key: RecordKey, _ collections: Set<String>, _ path: String, _ output: Output
  ) {
    let names = collections.sorted(by: ByteOrder.precedes)
    if collections.contains(key.collection) || names.isEmpty {
      output.note(
        "The log at \(path) says nothing of \(printable(key.description)). "
          + "`daybook dump` shows what it holds.")
    } else {
      let list = names.prefix(20).map { "`\(printable($0))`" }.joined(separator: ", ")
      output.note(
        "The log at \(path) has no collection `\(printable(key.collection))`. It has \(list).")
    }
  }
}
