import Daybook
import DaybookFormat
import Foundation

/// `daybook demo`: a day in the field, end to end, on real orders and a network that loses.
enum DemoCommand: Command {
  static let orders = Parameter.option(
    "orders", .wholeNumber(in: 1...100_000), default: 300,
    help: "how many orders the reps take; beyond 300 the data goes round again")
  static let reps = Parameter.option(
    "reps", .wholeNumber(in: 1...60), default: 8,
    help: "how many reps there are, each with a device of its own")
  static let loss = Parameter.option(
    "loss", .number(in: 0...0.9), default: 0.2,
    help: "the chance of a request to be lost, and of a reply")
  static let seed = Parameter.option(
    "seed", .wholeNumber(in: 0...Int(Int32.max)), default: 1,
    help: "what the losses, cancels and edits are drawn from")
  static let keep = Parameter<String?>.optionalOption(
    "keep", .directory, help: "leave the logs here: DIR/server, DIR/office, DIR/reps/01, ...")

  static let syntax = Syntax(
    name: "demo",
    summary: "a day in the field on a poor network, with a killed phone",
    detail: [
      "Reps fetch the catalogue and the shops, take real orders without a network, and send them "
        + "through a network that loses requests and replies by closing the connection. One rep's "
        + "device is a process of its own that is ended by SIGKILL with a push in flight, and "
        + "opened again. The office cancels and reprices some orders, some of which a rep edits "
        + "without having seen it: those edits are refused and kept as drafts.",
      "In the end every order must be on the server once, every refused edit must be a draft, and "
        + "every device must show the server's rows.",
    ],
    parameters: [orders, reps, loss, seed, keep, CommonParameter.json],
    examples: [
      .init("daybook demo", "300 orders of 8 reps, one request and one reply in five lost"),
      .init("daybook demo --orders 2745 --reps 20 --seed 7", "a longer day"),
      .init("daybook demo --keep day", "leave the logs in `day`, for `daybook verify day`"),
    ],
    statuses: [.checkFailed, .inputOutput, .diskFull, .schema])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let directory = try prepare(arguments[Self.keep])
    defer {
      if arguments[Self.keep] == nil { try? FileManager.default.removeItem(at: directory) }
    }
    let day = DemoDay(
      data: try FieldSalesData.load(),
      plan: DemoPlan(
        orderCount: arguments[Self.orders], repCount: arguments[Self.reps],
        seed: UInt64(arguments[Self.seed])),
      loss: arguments[Self.loss], seed: UInt64(arguments[Self.seed]), directory: directory,
      output: output)
    let report = try await day.run()
    if arguments[CommonParameter.json] {
      output.object(report.object)
    } else {
      for line in report.table.lines { output.line(line) }
      output.line("")
      output.line(report.sentence)
      if let kept = arguments[Self.keep] {
        output.line("The logs are in \(kept): try `daybook verify \(kept)`.")
      }
    }
    for problem in report.problems { output.note(problem) }
    return report.problems.isEmpty ? .done : .checkFailed
  }

  /// The folder for the logs: the one that is to be kept, which must be new or empty, or a passing
  /// one.
  private static func prepare(_ kept: String?) throws -> URL {
    let path =
      kept ?? FileManager.default.temporaryDirectory.path + "/daybook-demo-\(UUID().uuidString)"
    return try KeptFolder.make(path, with: "reps")
  }
}
