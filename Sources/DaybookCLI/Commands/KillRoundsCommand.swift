import DaybookFormat
import DaybookTestKit
import Foundation

/// `daybook kill-rounds`: a real process on the real disk, killed while it writes.
enum KillRoundsCommand: Command {
  static let rounds = Parameter.option(
    "rounds", .wholeNumber(in: 1...1_000_000), default: 100, help: "how often")
  static let seed = Parameter.option(
    "seed", .wholeNumber(in: 0...Int(Int32.max)), default: 1,
    help: "what sizes and moments are drawn from; the system's timing is not in it")
  static let directory = Parameter<String?>.optionalOption(
    "dir", .directory, help: "write here instead of the system's temporary folder")

  static let syntax = Syntax(
    name: "kill-rounds",
    summary: "kill a writing process again and again, and check its log",
    detail: [
      "A process of its own writes to a log on the real disk and says each write once it was "
        + "acknowledged. It is ended by SIGKILL at a random moment, in opening too. Then the log "
        + "must open without a finding and hold every acknowledged entry once and in order."
    ],
    parameters: [rounds, seed, directory, CommonParameter.json],
    examples: [.init("daybook kill-rounds --rounds 300 --seed 7", "some minutes of it")],
    statuses: [.checkFailed, .inputOutput])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let seed = arguments[Self.seed]
    let count = arguments[Self.rounds]
    let folder =
      (arguments[Self.directory] ?? FileManager.default.temporaryDirectory.path)
      + "/daybook-kill-\(UUID().uuidString)"
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw Failure(
        status: .inputOutput, message: "\(folder) can't be made",
        remedy: "Check the permissions and the disk of its parent folder.")
    }
    let program = try KilledDevice.program()
    let report = try await BlockingWork.run { goesOn in
      var rounds = KillRounds(program: program, folder: folder, seed: UInt64(seed))
      let progress = Progress("rounds", total: count, on: output)
      defer { progress.finish() }
      return try rounds.run(count) { round in
        progress.advance(to: round)
        return goesOn()
      }
    }
    if Task.isCancelled, report.violation == nil {
      try? FileManager.default.removeItem(atPath: folder)
      throw CancellationError()
    }
    if arguments[CommonParameter.json] {
      var object = JSONObject()
      object.set("seed", seed)
      object.set("rounds", report.rounds)
      object.set("kills", report.kills)
      object.set("killsInOpening", report.killsInOpening)
      object.set("acknowledged", report.acknowledged)
      object.set("segments", report.segments)
      object.set("checks", report.checks)
      object.set("violations", report.violation == nil ? 0 : 1)
      output.object(object)
    } else {
      output.line(
        "\(grouped(report.rounds)) rounds, \(grouped(report.kills)) kills "
          + "(\(grouped(report.killsInOpening)) in opening), "
          + "\(grouped(report.acknowledged)) entries acknowledged, \(grouped(report.segments)) "
          + "segments, \(grouped(report.checks)) checks; seed \(seed)")
    }
    guard let violation = report.violation else {
      try? FileManager.default.removeItem(atPath: folder)
      return .done
    }
    output.note("seed \(seed), \(violation)")
    output.note("The log is left as it was: look at it with `daybook verify \(folder)`.")
    return .checkFailed
  }
}

/// `daybook kill-writer`: the process that `daybook kill-rounds` kills.
enum KillWriterCommand: Command {
  static let directory = Parameter.requiredOption("dir", .directory, help: "the log")
  static let round = Parameter.requiredOption(
    "round", .wholeNumber(in: 1...1_000_000), help: "what its entries are named by")
  static let seed = Parameter.requiredOption(
    "seed", .wholeNumber(in: 0...Int(Int32.max)), help: "what sizes are drawn from")

  static let syntax = Syntax(
    name: "kill-writer", summary: "the process that is killed",
    parameters: [directory, round, seed], isHidden: true)

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let writer = KilledWriter(
      directory: arguments[Self.directory], round: arguments[Self.round],
      seed: UInt64(arguments[Self.seed])
    ) { line in
      output.line(line)
      output.flush()
    }
    try await BlockingWork.run { _ in try writer.run() }
    return .done
  }
}
