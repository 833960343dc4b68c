import DaybookFormat
import DaybookTestKit

/// `daybook simulate lossy`: the same orders over the same losses, with and without op ids.
enum SimulateLossyCommand: Command {
  static let seed = Parameter.optionalOption(
    "seed", .wholeNumber(in: 0...4_294_967_295), help: "one run, drawn from this number")
  static let seeds = Parameter.optionalOption(
    "seeds", .numberRange(in: 0...4_294_967_295, maximumCount: 100_000),
    help: "a run for each number of the range, both ends included")

  static let syntax = Syntax(
    name: "simulate lossy",
    summary: "lose requests and replies, and count what the server saved",
    detail: [
      "50 orders go through the outbox one at a time over a network that loses one request in "
        + "five and one reply in five. Without op ids each attempt is a new order to the "
        + "server; with them a repetition is recognised."
    ],
    parameters: [seed, seeds, CommonParameter.json],
    examples: [
      .init("daybook simulate lossy --seed 7", "one run"),
      .init("daybook simulate lossy --seeds 0-999", "a thousand runs, summed up"),
    ],
    statuses: [.checkFailed])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    if let seeds = arguments[Self.seeds] {
      guard arguments[Self.seed] == nil else {
        throw Failure(
          status: .usage, message: "--seed and --seeds exclude each other",
          remedy: "Run `daybook simulate lossy --help` to see what they take.")
      }
      return try await run(seeds, asJSON: arguments[CommonParameter.json], output)
    }
    let pair = try await LossySimulation.run(seed: UInt64(arguments[Self.seed] ?? 7))
    if arguments[CommonParameter.json] {
      output.object(object(pair))
    } else {
      var table = Table([
        ("", .left), ("taken", .right), ("saved", .right), ("saved twice", .right),
        ("sends", .right),
      ])
      for (name, outcome) in [
        ("without op ids", pair.withoutOperationIDs), ("with op ids", pair.withOperationIDs),
      ] {
        let counts = [outcome.taken, outcome.saved, outcome.duplicates, outcome.sends]
        table.add([name] + counts.map(String.init))
      }
      output.table(table)
    }
    return isExact(pair.withOperationIDs) ? .done : .checkFailed
  }

  private static func run(
    _ seeds: ClosedRange<Int>, asJSON: Bool, _ output: Output
  ) async throws -> ExitStatus {
    let progress = Progress("runs", total: seeds.count, on: output)
    var without = Summary()
    var with = Summary()
    var isWhole = true
    for seed in seeds {
      try Task.checkCancellation()
      let pair = try await LossySimulation.run(seed: UInt64(seed))
      without.add(pair.withoutOperationIDs)
      with.add(pair.withOperationIDs)
      isWhole = isWhole && isExact(pair.withOperationIDs)
      if asJSON {
        var line = JSONObject()
        line.set("seed", seed)
        for (name, member) in members(pair) { line.set(name, member) }
        output.object(line)
      }
      progress.advance(to: seed - seeds.lowerBound + 1)
    }
    progress.finish()
    if asJSON {
      var line = JSONObject()
      line.set("withoutOpIDs", without.object)
      line.set("withOpIDs", with.object)
      output.object(line)
    } else {
      output.line("without op ids: \(without.text(of: seeds.count))")
      output.line("with op ids: \(with.text(of: seeds.count))")
    }
    return isWhole ? .done : .checkFailed
  }

  private static func isExact(_ outcome: LossySimulation.Outcome) -> Bool {
    outcome.saved == outcome.taken
  }

  private static func object(_ pair: LossySimulation.Pair) -> JSONObject {
    var object = JSONObject()
    for (name, member) in members(pair) { object.set(name, member) }
    return object
  }

  private static func members(_ pair: LossySimulation.Pair) -> [(String, JSONObject)] {
    let outcomes = [
      ("withoutOpIDs", pair.withoutOperationIDs), ("withOpIDs", pair.withOperationIDs),
    ]
    return outcomes.map { name, outcome in
      var object = JSONObject()
      object.set("taken", outcome.taken)
      object.set("saved", outcome.saved)
      object.set("sends", outcome.sends)
      return (name, object)
    }
  }

  /// The duplicates of many runs.
  private struct Summary {
    var minimum = Int.max
    var maximum = 0
    var runs = 0

    mutating func add(_ outcome: LossySimulation.Outcome) {
      minimum = min(minimum, outcome.duplicates)
      maximum = max(maximum, outcome.duplicates)
      if outcome.duplicates > 0 { runs += 1 }
    }

    var object: JSONObject {
      var object = JSONObject()
      object.set("minDuplicates", minimum)
      object.set("maxDuplicates", maximum)
      object.set("runsWithDuplicates", runs)
      return object
    }

    func text(of count: Int) -> String {
      runs == 0
        ? "no order saved twice in \(count) runs"
        : "orders saved twice in \(runs) of \(count) runs, \(minimum) to \(maximum) in each run"
    }
  }
}

/// `daybook simulate clock`: one wrong clock under two policies.
enum SimulateClockCommand: Command {
  static let syntax = Syntax(
    name: "simulate clock",
    summary: "let a fast clock meet a cancelled order",
    detail: [
      "The office cancels an order of 10 at 11:00. A rep's edit of 10:58, 10 to 12, is stamped "
        + "11:03 by a fast clock and replaces the whole row. Both arrival orders are run under "
        + "\"the later stamp wins\" and under the version check with state rules."
    ],
    parameters: [CommonParameter.json],
    examples: [.init("daybook simulate clock", "both arrival orders, both policies")],
    statuses: [.checkFailed])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    var table = Table([
      ("arrives first", .left), ("the later stamp wins", .left), ("version check", .left),
    ])
    var isRight = true
    for arrival in [ClockSimulation.Arrival.rep, .office] {
      let outcome = try await ClockSimulation.run(arrival)
      isRight = isRight && outcome.versionCheck.status == "cancelled"
      if arguments[CommonParameter.json] {
        var line = JSONObject()
        line.set("arrival", arrival.rawValue)
        line.set("lastWriteWins", object(outcome.lastWriteWins))
        var versionCheck = object(outcome.versionCheck)
        versionCheck.set("drafts", outcome.versionCheck.drafts)
        line.set("versionCheck", versionCheck)
        output.object(line)
      } else {
        table.add([
          arrival == .rep ? "the rep's edit" : "the office's cancel", text(outcome.lastWriteWins),
          text(outcome.versionCheck) + ", drafts: \(outcome.versionCheck.drafts)",
        ])
      }
    }
    if !arguments[CommonParameter.json] { output.table(table) }
    return isRight ? .done : .checkFailed
  }

  private static func object(_ ending: ClockSimulation.Ending) -> JSONObject {
    var object = JSONObject()
    object.set("status", ending.status)
    object.set("quantity", Int(ending.quantity))
    return object
  }

  private static func text(_ ending: ClockSimulation.Ending) -> String {
    "\(ending.status) with \(ending.quantity)"
  }
}
