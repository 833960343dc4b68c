import Daybook
import DaybookFormat
import DaybookLog
import Foundation

/// `daybook compact`: makes a device's log small by hand, while nothing else has it open.
enum CompactCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a device's log that is not in use")
  static let schema = Parameter<String?>.optionalOption(
    "schema", .text(as: "FILE"),
    help: "says how long history is kept; all of it stays without one")
  static let days = Parameter.option(
    "days", .wholeNumber(in: 0...36_525), default: 30,
    help: "keep accepted operations so long, by the server's time")

  static let syntax = Syntax(
    name: "compact",
    summary: "make a device's log small",
    detail: [
      "Makes a snapshot of what was pulled, and files of which only what is needed is left, as an "
        + "open store does by itself. Operations that only this device has stay, with all that "
        + "was said of them. Superseded files stay up to 8 MiB a stream.",
      "Takes the log's lock. A crash or a full disk at any point loses nothing: run it again.",
    ],
    parameters: [directory, schema, days, CommonParameter.json],
    examples: [
      .init("daybook compact field/reps/01", "a device's log"),
      .init("daybook compact field/reps/01 --schema schema.json", "with the history it asks for"),
    ],
    statuses: ReadingStatus.all + [.locked, .diskFull, .schema])

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let log = try OpenedLog(Paths.resolved(arguments[directory]))
    guard !log.isServer else {
      throw Failure(
        status: .notALog, message: "\(log.path) is a server's log, which is kept whole",
        remedy: "Give a device's log.")
    }
    let rules = try arguments[schema].map(read) ?? Schema(name: "", collections: [])
    let fileSystem = SystemFileSystem()
    let lock: any FileLock
    do throws(FileError) {
      lock = try fileSystem.lock("\(log.path)/LOCK")
    } catch {
      if case .locked(let process) = error.reason {
        throw LogError.locked(path: log.path, by: process)
      }
      throw Failure(disk: error)
    }
    defer { lock.release() }
    var replay = try LogReplay(log.directory, streams: log.streams.reversed())
    try replay.run { _ throws(LogError) in }
    if let loss = replay.findings.first(where: { $0.isLoss && $0.record == nil }) {
      throw LogError.damaged(loss)
    }
    let before = try size(of: log.path, fileSystem)
    let outcome = try compact(log.path, rules, days: arguments[days], fileSystem)
    let after = try size(of: log.path, fileSystem)
    if arguments[CommonParameter.json] {
      output.object(object(outcome, before: before, after: after))
    } else {
      write(outcome, before: before, after: after, on: output)
    }
    return .done
  }

  private static func read(_ path: String) throws -> Schema {
    guard let data = FileManager.default.contents(atPath: Paths.resolved(path)) else {
      throw Failure(
        status: .inputOutput, message: "there is no file \(path)",
        remedy: "Check the path of the schema.")
    }
    do throws(SchemaError) {
      return try Schema(json: Array(data))
    } catch {
      throw Failure(
        status: .schema, message: "\(path) is not a schema", remedy: error.description)
    }
  }

  private static func compact(
    _ path: String, _ schema: Schema, days: Int, _ fileSystem: any FileSystem
  ) throws(LogError) -> LogUpkeep.Outcome {
    // What is closed is worth it, however little it is.
    var limits = MaintenanceLimits()
    limits.rawFileLimit = 2
    limits.mergeFileLimit = 2
    limits.garbageByteLimit = 1
    limits.snapshotByteLimit = 1
    var upkeep = LogUpkeep(
      path, fileSystem: fileSystem, schema: schema, limits: limits,
      horizonMilliseconds: LogUpkeep.milliseconds(days: days),
      random: { UInt64.random(in: .min ... .max) },
      clock: {
        HybridTime(
          Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded())))
      }, isStopped: { Task.isCancelled })
    return try upkeep.run(thorough: true)
  }

  private static func size(
    of path: String, _ fileSystem: any FileSystem
  ) throws(LogError) -> UInt64 {
    let directory = try LogDirectory(path, fileSystem: fileSystem)
    var sum: UInt64 = 0
    for file in directory.streams.flatMap(\.files).map(\.file) + directory.snapshots.map(\.file) {
      sum += try directory.byteCount(of: file)
    }
    return sum
  }

  private static func write(
    _ outcome: LogUpkeep.Outcome, before: UInt64, after: UInt64, on output: Output
  ) {
    for snapshot in outcome.snapshots { output.line("made \(snapshot.file)") }
    for made in outcome.compactions {
      output.line(
        "made \(made.output.file) of \(grouped(made.inputs.count)) files: kept "
          + "\(grouped(made.keptCount)) entries, dropped \(grouped(made.droppedCount))")
    }
    for file in outcome.removed { output.line("removed \(file)") }
    for file in outcome.unfit { output.line("left \(file) as it is: it is not whole") }
    output.line(
      "\(grouped(Int(clamping: before))) bytes before, \(grouped(Int(clamping: after))) now")
  }

  private static func object(
    _ outcome: LogUpkeep.Outcome, before: UInt64, after: UInt64
  ) -> JSONObject {
    var object = JSONObject()
    object.set("snapshots", Value.array(outcome.snapshots.map { .text($0.file) }))
    object.set("made", Value.array(outcome.compactions.map { .text($0.output.file) }))
    object.set("kept", outcome.compactions.reduce(0) { $0 + $1.keptCount })
    object.set("dropped", outcome.compactions.reduce(0) { $0 + $1.droppedCount })
    object.set("removed", Value.array(outcome.removed.map(Value.text)))
    object.set("unfit", Value.array(outcome.unfit.map(Value.text)))
    object.set("bytesBefore", before)
    object.set("bytesAfter", after)
    return object
  }
}
