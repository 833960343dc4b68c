import DaybookFormat
import DaybookLog
import DaybookSync

/// `daybook outbox`: every operation that a device's log keeps, and how it stands.
enum OutboxCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a device's log")

  static let syntax = Syntax(
    name: "outbox",
    summary: "show the operations that a device keeps, and how each stands",
    detail: [
      "pending: no verdict yet. accepted: took effect, and the device has not pulled that far. "
        + "refused, conflict, tooOld, superseded: a draft. deadLetter: answered, but never with a "
        + "verdict. withdrawn: given up. failed: attempts used up. left: gone with the operation "
        + "that it builds on.",
      "What is confirmed or decided about is not kept and not shown: `daybook history` has it.",
      "Takes no lock and works while the log is in use.",
    ],
    parameters: [directory, CommonParameter.json],
    examples: [
      .init("daybook outbox field/reps/01", "what this device has still to send or to show")
    ],
    statuses: ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let folded = try LogFold.state(arguments[directory], on: output)
    guard !folded.log.isServer else {
      throw Failure(
        status: .notALog, message: "\(folded.log.path) is a server's log, which has no outbox",
        remedy: "Give a device's log; `daybook stat` shows what this one holds.")
    }
    let kept = folded.result.keptOperations.map { Row($0, in: folded.result) }
    if arguments[CommonParameter.json] {
      for row in kept { output.object(row.object) }
      output.object(counts(kept))
    } else if !folded.condition.lacksSegments {
      write(kept, on: output)
    }
    return folded.condition.tell(folded.log.path, on: output)
  }

  private static func counts(_ rows: [Row]) -> JSONObject {
    var object = JSONObject()
    object.set("operations", rows.count)
    for standing in OperationStanding.allCases {
      object.set(standing.rawValue, rows.count { $0.standing == standing })
    }
    return object
  }

  private static func write(_ rows: [Row], on output: Output) {
    guard !rows.isEmpty else { return output.line("The outbox keeps nothing: all is confirmed.") }
    var table = Table([
      ("position", .left), ("state", .left), ("action", .left), ("record", .left), ("made", .left),
      ("op", .left),
    ])
    for row in rows { table.add(row.cells) }
    output.table(table)
    let reasons = rows.filter { !$0.reason.isEmpty }
    if !reasons.isEmpty { output.line() }
    for row in reasons { output.line("\(row.position): \(row.reason)") }
    let counts = OperationStanding.allCases.compactMap { standing -> String? in
      let count = rows.count { $0.standing == standing }
      return count == 0 ? nil : "\(grouped(count)) \(standing.rawValue)"
    }
    output.line()
    let noun = rows.count == 1 ? "operation" : "operations"
    output.line("\(grouped(rows.count)) \(noun): \(counts.joined(separator: ", "))")
  }
}

extension OutboxCommand {
  /// One kept operation.
  struct Row {
    let kept: OutboxOperation
    let standing: OperationStanding
    /// The version that its base was given, to be sent beside its bytes.
    let sentVersion: Version?

    init(_ kept: OutboxOperation, in state: ClientState) {
      self.kept = kept
      standing = OperationStanding(settlement: kept.settlement, departure: kept.departure)
      sentVersion = state.settledBase(of: kept.operation)
    }

    var position: String { "outbox:\(kept.position)" }

    var cells: [String] {
      let operation = kept.operation
      let state = standing == .pending && kept.isAttempted ? "pending, sent" : standing.rawValue
      return [
        position, state, printable(operation.action.description),
        printable(operation.record.description), operation.clock.time.rfc3339,
        operation.id.description,
      ]
    }

    /// Why it has no effect, in a sentence; empty if there is nothing to say.
    var reason: String {
      if let refusal = kept.settlement?.refusal {
        return "\(printable(refusal.code.rawValue)): \(printable(refusal.message))"
      }
      guard kept.settlement == nil, let departure = kept.departure else { return "" }
      let words = EntryText.words(departure.reason)
      return departure.root == kept.operation.id ? words : "\(words) on \(departure.root)"
    }

    var object: JSONObject {
      let operation = kept.operation
      var object = JSONObject()
      object.set("position", position)
      object.set("state", standing.rawValue)
      object.set("op", operation.id.description)
      object.set("number", operation.number)
      object.set("record", operation.record.description)
      object.set("action", operation.action.description)
      object.set("strategy", operation.strategy.name)
      object.set("scope", operation.scope)
      object.set("account", operation.account)
      object.set("device", operation.device)
      object.set("deviceTime", operation.clock.time.rfc3339)
      object.set("seen", operation.seen)
      object.set("base", operation.base.value)
      object.set("settledBase", optional: sentVersion?.text)
      object.set("transaction", optional: operation.transaction?.id.description)
      object.set("supersedes", optional: operation.supersedes?.description)
      object.set("attempted", kept.isAttempted)
      object.set("shown", kept.isLaidOver)
      object.set("serverTime", optional: kept.settlement?.serverTime.rfc3339)
      object.set("version", optional: kept.settlement?.acceptance?.version.text)
      object.set("code", optional: kept.settlement?.refusal?.code.rawValue)
      object.set("message", optional: message)
      object.set("root", optional: kept.departure?.root.description)
      return object
    }

    private var message: String? {
      if let refusal = kept.settlement?.refusal { return refusal.message }
      switch kept.departure?.reason {
      case .deadLetter(_, let message), .failed(let message): return message
      case .verdict, .withdrawn, nil: return nil
      }
    }
  }
}
