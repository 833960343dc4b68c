import DaybookFormat
import DaybookTestKit
import Foundation

/// `daybook torture`: random work on a log with crashes, faults and damage, against a small model.
enum TortureCommand: Command {
  static let seed = Parameter.optionalOption(
    "seed", .wholeNumber(in: 0...4_294_967_295), help: "one run, drawn from this number")
  static let seeds = Parameter.optionalOption(
    "seeds", .numberRange(in: 0...4_294_967_295, maximumCount: 100_000),
    help: "a run for each number of the range, both ends included")
  static let steps = Parameter.option(
    "steps", .wholeNumber(in: 1...1_000_000_000), default: 5_000, help: "steps of each run")
  static let trail = Parameter.flag(
    "trail", help: "tell the last steps before a violation, in words")
  static let keep = Parameter<String?>.optionalOption(
    "keep", .directory, help: "a new folder for the disk as it was at the violation")
  static let planted = Parameter.optionalOption(
    "planted", .plantedBugs, help: "plant a bug, and say in which step it is caught")

  static let syntax = Syntax(
    name: "torture",
    summary: "crash, fail and damage a log, and compare it with a model",
    detail: [
      "Operations, settlements, pages of changes, marks, rolls, ends and openings on a disk in "
        + "memory that stops, fails, forgets and rots. After every opening the log is compared "
        + "with a model of a few lines. Everything follows from the seed; a run ends at its first "
        + "violation and says how to see it again.",
      "With --planted the disk or the log has a bug, which the run must find: status 0 means "
        + "caught.",
    ],
    parameters: [seed, seeds, steps, trail, keep, planted, CommonParameter.json],
    examples: [
      .init("daybook torture --seed 7 --steps 20000", "one run"),
      .init("daybook torture --seeds 0-19 --steps 50000", "a million steps"),
      .init("daybook torture --planted all", "every planted bug, and how soon it is caught"),
    ],
    statuses: [.checkFailed])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard arguments[seed] == nil || arguments[seeds] == nil else {
      throw Failure(
        status: .usage, message: "--seed and --seeds exclude each other",
        remedy: "Run `daybook torture --help` to see what they take.")
    }
    let one = arguments[seed] ?? 1
    let folder = try arguments[keep].map { try KeptFolder.make($0) }
    let (seeds, steps) = (arguments[seeds] ?? one...one, arguments[steps])
    let isJSON = arguments[CommonParameter.json]
    let tellsTrail = arguments[trail]
    let bugs = arguments[planted]
    let status = try await BlockingWork.run { goesOn in
      let torment = Torment(
        seeds: seeds, steps: steps, isJSON: isJSON, tellsTrail: tellsTrail, folder: folder,
        output: output, isAsked: goesOn)
      return bugs.map(torment.hunt) ?? torment.run()
    }
    try Task.checkCancellation()
    return status
  }
}

extension ValueKind where Value == [PlantedBug] {
  /// The name of a planted bug, or `all`.
  fileprivate static var plantedBugs: Self {
    let names = PlantedBug.allCases.map(\.rawValue)
    return Self(
      placeholder: "NAME|all", expectation: .choice(names + ["all"]),
      parse: { text in text == "all" ? PlantedBug.allCases : PlantedBug(rawValue: text).map { [$0] }
      },
      show: { $0.map(\.rawValue).joined(separator: ",") })
  }
}

/// The runs of one command, which wait for the log's thread.
private struct Torment: Sendable {
  let seeds: ClosedRange<Int>
  let steps: Int
  let isJSON: Bool
  let tellsTrail: Bool
  /// Where the log of the first violation is left.
  let folder: URL?
  let output: Output
  /// Nobody has interrupted the program.
  let isAsked: @Sendable () -> Bool

  private var goesOn: Bool { isAsked() }

  func run() -> ExitStatus {
    let progress = Progress("steps", total: seeds.count * steps, on: output)
    var sum: TortureReport?
    var failing: UInt64?
    for seed in seeds where goesOn {
      let before = sum?.steps ?? 0
      let report = Torture.run(
        seed: UInt64(seed), steps: steps, tellsTrail: tellsTrail || folder != nil
      ) { count in
        progress.advance(to: before + count)
        return goesOn
      }
      if let violation = report.violation, failing == nil {
        failing = report.seed
        leave(violation.files)
      }
      if isJSON, seeds.count > 1 { output.object(object(report)) }
      if let violation = report.violation { tell(violation, of: report) }
      sum = sum?.adding(report) ?? report
    }
    progress.finish()
    guard let sum else { return .done }
    if isJSON {
      var line = object(sum)
      if seeds.count > 1 {
        line.set("seeds", seeds.count)
        line.set("firstFailingSeed", failing.map(Value.unsigned) ?? .null)
      }
      output.object(line)
    } else {
      show(sum)
    }
    return sum.violations == 0 ? .done : .checkFailed
  }

  private func tell(_ violation: TortureReport.Violation, of report: TortureReport) {
    output.note("seed \(report.seed), step \(violation.step): \(violation.invariant.rawValue)")
    for step in tellsTrail ? violation.trail : [] { output.note("  \(step)") }
    output.note("  \(violation.detail)")
    output.note("  daybook torture --seed \(report.seed) --steps \(violation.step)")
  }

  /// Writes `files`, by their paths, into ``folder``.
  private func leave(_ files: [String: [UInt8]]) {
    guard let folder else { return }
    do {
      for (path, bytes) in files {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
      }
      output.note("the log as it was is in \(folder.path): try `daybook verify \(folder.path)/log`")
    } catch {
      output.note("the log could not be left in \(folder.path)")
    }
  }

  private func object(_ report: TortureReport) -> JSONObject {
    var object = JSONObject()
    object.set("seed", report.seed)
    object.set("steps", report.steps)
    object.set("crashes", report.crashes)
    object.set("checks", report.checks)
    object.set("violations", report.violations)
    object.set(
      "invariants",
      report.invariants.map { tally in
        var line = JSONObject()
        line.set("name", tally.invariant.rawValue)
        line.set("checks", tally.checks)
        line.set("violations", tally.violations)
        return line
      })
    object.set("openings", report.openings)
    object.set("faults", report.faults)
    object.set("damages", report.damages)
    return object
  }

  private func show(_ report: TortureReport) {
    var table = Table([("what must hold", .left), ("checks", .right), ("violations", .right)])
    for tally in report.invariants {
      table.add([tally.invariant.rawValue, grouped(tally.checks), grouped(tally.violations)])
    }
    output.table(table)
    let runs = seeds.count == 1 ? "seed \(report.seed)" : "\(grouped(seeds.count)) seeds"
    output.line()
    output.line(
      "\(runs): \(grouped(report.steps)) steps, \(grouped(report.openings)) openings, "
        + "\(grouped(report.crashes)) crashes, \(grouped(report.faults)) failing calls, "
        + "\(grouped(report.damages)) damaged places, \(grouped(report.violations)) violations")
  }

  /// Runs each of `bugs` until it is caught.
  func hunt(_ bugs: [PlantedBug]) -> ExitStatus {
    var table = Table([("planted bug", .left), ("caught in step", .right), ("by", .left)])
    var isEachCaught = true
    for bug in bugs where goesOn {
      var done = 0
      var caught: TortureReport.Violation?
      for seed in seeds where caught == nil {
        let report = Torture.run(seed: UInt64(seed), steps: steps, planted: bug) { _ in goesOn }
        caught = report.violation
        done += report.steps
      }
      isEachCaught = isEachCaught && caught != nil
      let step = caught == nil ? "not in \(grouped(done))" : grouped(done)
      if isJSON {
        var line = JSONObject()
        line.set("planted", bug.rawValue)
        line.set("caught", caught != nil)
        line.set("steps", done)
        line.set("invariant", caught.map { .text($0.invariant.rawValue) } ?? .null)
        output.object(line)
      } else {
        table.add([bug.rawValue, step, caught?.invariant.rawValue ?? ""])
      }
    }
    if !isJSON { output.table(table) }
    return isEachCaught ? .done : .checkFailed
  }
}
