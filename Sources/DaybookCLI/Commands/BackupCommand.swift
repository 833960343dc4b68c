import DaybookFormat
import DaybookLog

/// `daybook backup`: a verified copy of a log, of which only what is new is copied the next time.
enum BackupCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a log, in use or not")
  static let destination = Parameter.argument(
    .text(as: "DEST"), help: "where its copy is or will be; its parent must be there")

  static let syntax = Syntax(
    name: "backup",
    summary: "copy a log, and the next time only what is new",
    detail: [
      "Works while the log is in use, and takes no lock of it. Files that are there with the same "
        + "bytes are not copied again. Each file is synced, read back and compared before it takes "
        + "its place; then the whole copy is verified.",
      "A file in DEST that holds what the log's own has lost stays. Removed is only what the log "
        + "has superseded and removed itself, once a whole file in DEST covers it.",
      "In the end both are read: a copy that gives less than the log gives is an error.",
      "A damaged log is copied as it is; the exit status is that of `daybook verify DEST`.",
      "Ended early, it goes on where it stopped when it is run again.",
    ],
    parameters: [directory, destination, CommonParameter.json],
    examples: [
      .init("daybook backup field/reps/01 /mnt/backup/01", "run it as often as you like")
    ],
    statuses: ReadingStatus.all + [.locked, .diskFull])

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let source = Paths.resolved(arguments[directory])
    let target = Paths.resolved(arguments[destination])
    let log = try OpenedLog(source)
    try requireParent(of: target)
    let total = log.directory.streams.reduce(0) { $0 + $1.segments.count }
    let progress = Progress("files", total: total, on: output)
    defer { progress.finish() }
    var count = 0
    let outcome = try LogBackup(from: source, to: target, fileSystem: SystemFileSystem()).run {
      _ throws(CopyError) in
      if Task.isCancelled { throw .log(.closed) }
      count += 1
      progress.advance(to: min(count, total))
    }
    progress.finish()
    let verification = try Verification.read(target) {}
    let verdict = verification.files.reduce(ExitStatus.done) { $0.worse(of: $1.status) }
    let status = outcome.keptFiles.isEmpty ? verdict : verdict.worse(of: .damaged)
    if arguments[CommonParameter.json] {
      output.object(object(outcome, isWhole: status == .done))
    } else {
      var words = "is whole: verified"
      if verdict != .done {
        let own = try Verification.read(source) {}
        let isWhole = own.files.allSatisfy { $0.status == .done }
        words = "is not whole, \(isWhole ? "though the log itself is" : "like the log itself")"
      } else if status != .done {
        words = "is whole, and the log itself is not"
      }
      write(outcome, output)
      output.line("\(arguments[destination]) \(words).")
    }
    for file in outcome.keptFiles {
      output.note(
        "daybook: \(file) has lost entries in \(arguments[directory]) that the copy still holds; "
          + "the copy's was kept")
    }
    for message in verification.files.flatMap(\.messages) { output.note("daybook: \(message)") }
    if status != .done {
      output.note("Run `daybook verify \(arguments[destination])` to see what it means.")
    }
    return status
  }

  static func requireParent(of target: String) throws {
    let parent = FilePath.parent(of: target)
    var found: FileAttributes?
    do throws(FileError) {
      found = try SystemFileSystem().attributes(of: parent)
    } catch {
      throw Failure(disk: error)
    }
    guard found?.kind == .directory else {
      throw Failure(
        status: .usage, message: "there is no directory \(parent)",
        remedy: "Make it first, or check the path.")
    }
  }

  private static func object(_ outcome: LogBackup.Outcome, isWhole: Bool) -> JSONObject {
    var object = JSONObject()
    object.set("copiedFiles", outcome.copiedFileCount)
    object.set("copiedBytes", outcome.copiedByteCount)
    object.set("unchangedFiles", outcome.unchangedFileCount)
    object.set("removedFiles", outcome.removedFileCount)
    object.set("keptFiles", Value.array(outcome.keptFiles.map(Value.text)))
    object.set("inUse", outcome.wasInUse)
    object.set("whole", isWhole)
    return object
  }

  private static func write(_ outcome: LogBackup.Outcome, _ output: Output) {
    let files = outcome.copiedFileCount
    let bytes = grouped(Int(clamping: outcome.copiedByteCount))
    output.line(
      "Copied \(grouped(files)) \(files == 1 ? "file" : "files"), \(bytes) bytes; "
        + "\(grouped(outcome.unchangedFileCount)) were there already.")
    let removed = outcome.removedFileCount
    if removed > 0 {
      let noun = removed == 1 ? "superseded file" : "superseded files"
      output.line("Removed \(grouped(removed)) \(noun) that the log has removed, too.")
    }
  }
}
