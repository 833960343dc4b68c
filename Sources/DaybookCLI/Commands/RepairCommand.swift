import DaybookFormat
import DaybookLog

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `daybook repair`: what can be saved of a damaged log, beside it or in its place.
enum RepairCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a damaged log that is not in use")
  static let copy = Parameter<String?>.optionalOption(
    "from", .text(as: "COPY"),
    help: "a copy of the log whose whole files may take the place of "
      + "damaged ones")
  static let target = Parameter<String?>.optionalOption(
    "to", .text(as: "DEST"), help: "the new directory to write to; DIR.repaired without")
  static let apply = Parameter.flag("apply", help: "repair DIR itself instead")

  static let syntax = Syntax(
    name: "repair",
    summary: "save what can be saved of a damaged log",
    detail: [
      "Prints a line for everything that is wrong and what becomes of it, then writes a repaired "
        + "log to a new directory; DIR stays as it is.",
      "A file of COPY is taken whole where the next file of DIR names its chain value, so it is "
        + "proven to be the same. What is left is done as by any opening: the outbox is salvaged "
        + "entry by entry, the feed is cut and pulled again by the app, the damaged bytes go to "
        + "the quarantine, and what is lost is recorded.",
      "--apply: the same in DIR; a damaged file that is replaced is in its quarantine before.",
    ],
    parameters: [directory, copy, target, apply, CommonParameter.json],
    examples: [
      .init("daybook repair field/reps/01", "to field/reps/01.repaired"),
      .init("daybook repair field/reps/01 --from /mnt/backup/01 --apply", "with a backup's help"),
    ],
    statuses: ReadingStatus.all + [.locked, .diskFull])

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    if arguments[apply], arguments.names(target) {
      throw Failure(
        status: .usage, message: "`--apply` repairs DIR itself: it does not go with `--to`",
        remedy: "Leave out one of the two.")
    }
    let log = try OpenedLog(Paths.resolved(arguments[directory]))
    guard !log.directory.isInUse else { throw LogError.locked(path: log.path, by: nil) }
    let repair = try LogRepair(
      of: log.path, from: arguments[copy].map(Paths.resolved), fileSystem: SystemFileSystem())
    let steps = try repair.plan()
    write(steps, arguments, output)
    guard !steps.isEmpty else {
      if arguments[CommonParameter.json] {
        output.object(object(nil, steps, outcome: nil, isWhole: true))
      } else {
        output.line("Nothing is damaged, so nothing was written.")
      }
      return .done
    }
    let place: String
    let outcome: LogRepair.Outcome
    if arguments[apply] {
      place = log.path
      outcome = try repair.apply(steps, random: random, clock: clock)
    } else {
      place = Paths.resolved(arguments[target] ?? "\(log.path).repaired")
      outcome = try write(steps, by: repair, to: place)
    }
    return try tell(place, steps, outcome, arguments, output)
  }

  private static func random() -> UInt64 { UInt64.random(in: .min ... .max) }

  private static func clock() -> HybridTime {
    HybridTime(
      Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded())))
  }

  /// Writes beside `place` and moves it there when all is durable.
  private static func write(
    _ steps: [LogRepair.Step], by repair: LogRepair, to place: String
  ) throws -> LogRepair.Outcome {
    let isThere = try RestoreCommand.isEmptyDirectory(place)
    try BackupCommand.requireParent(of: place)
    let stage = place + RestoreCommand.stageSuffix
    try? FileManager.default.removeItem(atPath: stage)
    do {
      let outcome = try repair.write(steps, to: stage, random: random, clock: clock)
      try RestoreCommand.place(stage, at: place, isThere: isThere)
      return outcome
    } catch {
      try? FileManager.default.removeItem(atPath: stage)
      throw error
    }
  }

  private static func write(
    _ steps: [LogRepair.Step], _ arguments: Arguments, _ output: Output
  ) {
    for step in steps {
      if arguments[CommonParameter.json] {
        var object = JSONObject()
        object.set("file", step.file)
        object.set("findings", Value.array(step.findings.map { .text($0.message) }))
        object.set("lost", step.isReplaced ? 0 : step.lostCount)
        object.set("replaced", step.isReplaced)
        output.object(object)
        continue
      }
      for finding in step.findings { output.line(finding.message) }
      output.line(
        step.isReplaced
          ? "  taken from \(arguments[copy] ?? ""), where it is whole"
          : step.lostCount == 0
            ? "  no entry of it is lost"
            : "  \(grouped(Int(clamping: step.lostCount))) "
              + (step.lostCount == 1 ? "entry of it is lost" : "entries of it are lost"))
    }
  }

  private static func tell(
    _ place: String, _ steps: [LogRepair.Step], _ outcome: LogRepair.Outcome,
    _ arguments: Arguments, _ output: Output
  ) throws -> ExitStatus {
    if let refusal = outcome.refusal {
      let failure = refusal.failure
      let problem =
        arguments[apply] ? "\(place) was not repaired" : "\(place) was written, and is read-only"
      throw Failure(
        status: failure.status, message: "\(problem): \(failure.message)", remedy: failure.remedy)
    }
    let left = try Verification.read(place) {}
    let status = left.files.reduce(ExitStatus.done) { $0.worse(of: $1.status) }
    if arguments[CommonParameter.json] {
      output.object(object(place, steps, outcome: outcome, isWhole: status == .done))
    } else {
      for action in outcome.damage.actions { output.line(action) }
      output.line(
        arguments[apply] ? "Repaired \(place)." : "Wrote \(place); the damaged log is as it was.")
    }
    if status != .done {
      output.note(
        "The damaged bytes are still there as evidence, so `daybook verify` goes on to tell of "
          + "them; what is lost is recorded, and the log can be used.")
    }
    return status
  }

  private static func object(
    _ place: String?, _ steps: [LogRepair.Step], outcome: LogRepair.Outcome?, isWhole: Bool
  ) -> JSONObject {
    var object = JSONObject()
    object.set("target", optional: place)
    object.set("damaged", steps.count)
    object.set("replaced", steps.count(where: \.isReplaced))
    object.set("actions", Value.array((outcome?.damage.actions ?? []).map(Value.text)))
    object.set("whole", isWhole)
    return object
  }
}
