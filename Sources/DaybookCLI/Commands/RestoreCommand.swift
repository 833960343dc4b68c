import DaybookFormat
import DaybookLog
import DaybookSync

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `daybook restore`: a log that goes on from a copy, as a life of its own.
enum RestoreCommand: Command {
  static let source = Parameter.argument(
    .text(as: "SRC"), help: "a backup, or a plain copy of a log, also of one in use")
  static let destination = Parameter.argument(
    .text(as: "DEST"), help: "a new directory, or an empty one; its parent must be there")
  static let until = Parameter<LogPlace?>.optionalOption(
    "until", .place, help: "end at this entry or time instead of the end of the copy")
  static let outbox = Parameter.option(
    "outbox", .choice, default: Restoration.Outbox.hold,
    help: "what becomes of operations that have no verdict")

  static let syntax = Syntax(
    name: "restore",
    summary: "make a log of a copy, up to a position or time if you like",
    detail: [
      "Takes the longest part from the beginning in which nothing is missing, and makes it a new "
        + "life of the log: the server tells the two apart, and nothing takes effect twice.",
      "--outbox hold: operations without a verdict are shown and wait until the app decides "
        + "(releaseRestored). send: they are sent; the server knows those that it took before. "
        + "drop: they are given up; what may have been sent is withdrawn.",
      "A position as outbox:17 or feed:9 means both streams as they were behind that entry; an "
        + "operation and what was written with it are never parted. A time as "
        + "2026-03-02T14:05:00Z or \"2026-03-02 14:05\" is in UTC unless it says otherwise.",
      "SRC is only read. DEST appears when everything is in it, durable and verified.",
    ],
    parameters: [source, destination, until, outbox, CommonParameter.json],
    examples: [
      .init("daybook restore /mnt/backup/01 field/reps/01", "go on from the last backup"),
      .init(
        "daybook restore /mnt/backup/01 look --until \"2026-03-02 14:05\"",
        "as it was then, to look at"),
    ],
    statuses: ReadingStatus.all + [.diskFull])

  /// The end of the name of a directory in which a restore is under way.
  static let stageSuffix = ".daybook-restoring"

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let source = try OpenedLog(Paths.resolved(arguments[Self.source]))
    let target = Paths.resolved(arguments[destination])
    if target == source.path { throw CopyError.sameDirectory(path: target) }
    if target.hasPrefix("\(source.path)/") {
      throw CopyError.inside(path: target, of: source.path)
    }
    try BackupCommand.requireParent(of: target)
    let isThere = try isEmptyDirectory(target)
    let stage = target + stageSuffix
    try? FileManager.default.removeItem(atPath: stage)
    do {
      let result = try restore(source, stage, arguments, output)
      try place(stage, at: target, isThere: isThere)
      return try tell(result, arguments, output)
    } catch {
      try? FileManager.default.removeItem(atPath: stage)
      throw error
    }
  }

  /// Whether there is an empty directory at `path`; anything else there is refused.
  static func isEmptyDirectory(_ path: String) throws -> Bool {
    let fileSystem = SystemFileSystem()
    do throws(FileError) {
      guard let found = try fileSystem.attributes(of: path) else { return false }
      guard found.kind == .directory, try fileSystem.list(path).isEmpty else {
        throw FileError(.exists, .list, path)
      }
      return true
    } catch {
      throw error.reason == .exists ? Failure(CopyError.notEmpty(path: path)) : Failure(disk: error)
    }
  }

  private struct Result {
    let outcome: LogRestore.Outcome
    let heldCount: Int
    let verification: Verification
  }

  private static func restore(
    _ source: OpenedLog, _ stage: String, _ arguments: Arguments, _ output: Output
  ) throws -> Result {
    let now = Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded()))
    let total = source.directory.streams.reduce(0) { $0 + $1.segments.count }
    let progress = Progress("files", total: total, on: output)
    defer { progress.finish() }
    var count = 0
    let outcome = try LogRestore(
      from: source.path, into: stage, fileSystem: SystemFileSystem(),
      random: { UInt64.random(in: .min ... .max) }, clock: { HybridTime(now) }
    ).run(LogRestore.Request(until: arguments[until], outbox: arguments[outbox])) {
      _ throws(CopyError) in
      if Task.isCancelled { throw .log(.closed) }
      count += 1
      progress.advance(to: min(count, total))
    }
    let verification = try Verification.read(stage) {}
    let folded = try LogFold.state(stage, on: output)
    return Result(
      outcome: outcome, heldCount: folded.result.heldOperations.count, verification: verification)
  }

  static func place(_ stage: String, at target: String, isThere: Bool) throws {
    let fileSystem = SystemFileSystem()
    do throws(FileError) {
      // A rename over an empty directory is one step, and of anything else it fails.
      if isThere {
        try fileSystem.replace(stage, over: target)
      } else {
        try fileSystem.rename(stage, to: target)
      }
      try fileSystem.syncDirectory(FilePath.parent(of: target))
    } catch {
      throw Failure(disk: error)
    }
  }

  private static func tell(
    _ result: Result, _ arguments: Arguments, _ output: Output
  ) throws -> ExitStatus {
    let outcome = result.outcome
    let ends = outcome.prefix.ends.mapValues { $0.nextNumber - 1 }
    var status = result.verification.files.reduce(ExitStatus.done) { $0.worse(of: $1.status) }
    if outcome.prefix.leavesOut { status = status.worse(of: .tornTail) }
    if outcome.prefix.hasHole { status = status.worse(of: .damaged) }
    if arguments[CommonParameter.json] {
      output.object(object(result, ends, isWhole: status == .done))
    } else {
      let places = ends.sorted { $0.key > $1.key }.map { "\($0.key):\($0.value)" }
      let clock = outcome.prefix.clock.map { ", \($0.time.rfc3339)" } ?? ""
      output.line(
        "Restored \(grouped(Int(clamping: outcome.prefix.entryCount))) entries, "
          + "\(grouped(Int(clamping: outcome.copiedByteCount))) bytes"
          + (places.isEmpty ? "." : ", up to \(places.joined(separator: " and "))\(clock)."))
      output.line("\(arguments[destination]) is a new life of the log: verified.")
      if result.heldCount > 0 {
        let noun = result.heldCount == 1 ? "operation waits" : "operations wait"
        output.line(
          "\(grouped(result.heldCount)) \(noun) without a verdict: the app decides, or restore "
            + "with --outbox send or drop.")
      }
    }
    for finding in outcome.prefix.findings.prefix(3) {
      output.note("daybook: \(finding.message)")
    }
    tell(outcome.prefix, status, arguments, output)
    return status
  }

  /// What is not there, and why.
  private static func tell(
    _ prefix: LogPrefix, _ status: ExitStatus, _ arguments: Arguments, _ output: Output
  ) {
    if prefix.leavesOut, prefix.hasHole {
      output.note(
        "What stands behind the damage in the copy was left out: `daybook repair` saves what it "
          + "can of it.")
    } else if prefix.leavesOut {
      output.note("The end of the copy was not whole and was left out, as after a power cut.")
    } else if prefix.hasHole {
      output.note("What the damage in the copy took is not in it; nothing else was left out.")
    } else if status == .damaged {
      output.note(
        "Every entry that the copy gives is in it. Damaged bytes came along as evidence: "
          + "`daybook verify \(arguments[destination])` tells of them.")
    }
    if case .position(let position)? = arguments[until], !prefix.reachesPlace, !prefix.leavesOut,
      prefix.lastNumbers[position.stream] ?? 0 < position.number
    {
      output.note(
        "The log ends at \(position.stream):\(prefix.lastNumbers[position.stream] ?? 0).")
    }
  }

  private static func object(
    _ result: Result, _ ends: [String: UInt64], isWhole: Bool
  ) -> JSONObject {
    let outcome = result.outcome
    var object = JSONObject()
    object.set("entries", outcome.prefix.entryCount)
    object.set("copiedBytes", outcome.copiedByteCount)
    var places = JSONObject()
    for (stream, number) in ends.sorted(by: { $0.key > $1.key }) { places.set(stream, number) }
    object.set("ends", places)
    object.set("time", optional: outcome.prefix.clock?.time.rfc3339)
    object.set("from", outcome.from.description)
    object.set("incarnation", outcome.incarnation.description)
    object.set("held", result.heldCount)
    object.set("leavesOut", outcome.prefix.leavesOut)
    object.set("whole", isWhole)
    return object
  }
}
