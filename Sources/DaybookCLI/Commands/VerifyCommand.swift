import DaybookFormat
import DaybookLog

/// `daybook verify`: checks every byte of logs, and says in words what is wrong and what to do.
enum VerifyCommand: Command {
  static let directories = Parameter.remaining(
    "DIR", help: "logs, or directories that hold logs up to four folders down")

  static let anchor = Parameter.optionalOption(
    "anchor", .file, help: "what `daybook anchor` printed once: was it only added to since?")

  static let syntax = Syntax(
    name: "verify",
    summary: "check every byte of a log, or of all logs in a directory",
    detail: [
      "Checks headers, frames, echoes, marks, padding, unused tails and missing files, and "
        + "decodes every entry. Snapshots and superseded files are looked at, too.",
      "clean: as it was written. settled: an unfinished write that a later segment has closed off. "
        + "torn: an unfinished write, never acknowledged. healed: bytes are damaged, and every "
        + "entry is whole. damaged: entries are lost or can't be read. missing: a file or its end "
        + "is gone. newer: another format.",
      "The worst file decides the status; clean and settled are whole.",
      "Every seal, and every link of the chain that ties each segment to all before, is made "
        + "again and compared: an edit, a removal or an exchange is found though all checksums "
        + "are right. Whoever writes the whole history anew is found only with an anchor that was "
        + "kept elsewhere; status 1 says so.",
      "Takes no lock. While a log is in use its unfinished last write is not reported.",
    ],
    parameters: [directories, anchor, CommonParameter.json],
    examples: [
      .init("daybook verify field", "every log below `field`"),
      .init("daybook verify field/reps/01 --json", "one log, an object a file"),
      .init(
        "daybook verify field/reps/01 --anchor kept.anchor", "whether history was only added to"),
    ],
    statuses: [.checkFailed] + ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let paths = arguments[directories]
    guard !paths.isEmpty else {
      throw Failure(ArgumentError.missing("DIR", nil), command: "verify")
    }
    var logs: [(path: String, prefix: String)] = []
    for path in paths {
      var base = path
      while base.count > 1, base.hasSuffix("/") { base.removeLast() }
      for name in try LogFinder.logs(in: base) {
        let inside = name.isEmpty ? base : "\(base)/\(name.dropLast())"
        logs.append((inside, paths.count > 1 ? "\(base)/\(name)" : name))
      }
    }
    let kept = try arguments[anchor].map { try AnchorFile.read($0) }
    if kept != nil, logs.count != 1 {
      throw Failure(
        status: .usage, message: "an anchor is of one log, and there are \(logs.count) here",
        remedy: "Name the directory of the log that the anchor is of.")
    }
    var report = Report(output, isJSON: arguments[CommonParameter.json])
    let progress = Progress("files", total: try fileCount(logs.map(\.path)), on: output)
    defer { progress.finish() }
    var count = 0
    for log in logs {
      let verification = try Verification.read(log.path, anchor: kept) {
        count += 1
        progress.advance(to: count)
      }
      for note in verification.notes { output.note("\(log.path): \(note)") }
      for file in verification.files { report.add(file, prefix: log.prefix) }
      if let anchored = verification.anchored { report.add(anchored) }
    }
    progress.finish()
    return report.finish(logCount: logs.count)
  }

  private static func fileCount(_ paths: [String]) throws(LogError) -> Int {
    var count = 0
    for path in paths {
      let log = try? OpenedLog(path)
      count += log?.directory.streams.reduce(0) { $0 + $1.files.count } ?? 0
      count += log?.directory.snapshots.count ?? 0
    }
    return count
  }
}

extension VerifyCommand {
  /// The lines of a verification, and what they come to.
  struct Report {
    private let output: Output
    private let isJSON: Bool
    private var status = ExitStatus.done
    private var fileCount = 0
    private var badCount = 0
    private var lostCount: UInt64 = 0
    private var verdicts: Set<SegmentReport.Verdict> = []
    private var anchored: AnchorReport?

    init(_ output: Output, isJSON: Bool) {
      self.output = output
      self.isJSON = isJSON
    }

    mutating func add(_ file: Verification.File, prefix: String) {
      fileCount += 1
      if file.status != .done { badCount += 1 }
      lostCount += file.lostCount
      verdicts.insert(file.verdict)
      status = status.worse(of: file.status)
      if isJSON {
        output.object(file.object(prefix: prefix))
        for message in file.messages { output.note(prefix + message) }
        return
      }
      let word = file.verdict.rawValue
      let label = word + String(repeating: " ", count: max(1, 9 - word.count))
      guard file.messages.isEmpty else {
        for message in file.messages { output.line(label + prefix + message) }
        return
      }
      let noun = file.entryCount == 1 ? "entry" : "entries"
      output.line(
        "\(label)\(prefix)\(file.name), \(grouped(file.entryCount)) \(noun), "
          + (file.isSealed ? "closed" : "open"))
    }

    mutating func add(_ anchored: AnchorReport) {
      self.anchored = anchored
      if isJSON {
        for object in anchored.objects { output.object(object) }
        for line in anchored.lines where !anchored.isKept { output.note(line) }
      } else {
        for line in anchored.lines { output.line("anchor   " + line) }
      }
    }

    func finish(logCount: Int) -> ExitStatus {
      let place = "\(count(fileCount, "file")) of \(count(logCount, "log"))"
      if isJSON {
        var object = JSONObject()
        object.set("whole", status == .done)
        if let anchored { object.set("anchored", anchored.isKept) }
        output.object(object)
        if status != .done { output.note(advice) }
      } else if status == .done {
        output.line("Whole: \(place).")
      } else {
        output.line("Not whole: \(grouped(badCount)) of \(place).")
        output.line(advice)
      }
      if let anchored, anchored.isRewritten {
        let line = AnchorReport.advice
        if isJSON { output.note(line) } else { output.line(line) }
        return .checkFailed
      }
      return status
    }

    private func count(_ number: Int, _ noun: String) -> String {
      "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// What to do next, by the worst of what was found.
    private var advice: String {
      if !verdicts.isDisjoint(with: [.damaged, .missing]) {
        let lost = lostCount == 1 ? "One entry is lost. " : "\(lostCount) entries are lost. "
        return (lostCount == 0 ? "" : lost)
          + "Copy the directory as it is before anything else; `daybook dump` shows what it still "
          + "holds. Opened by its app a device's log goes on, and fetches again what the server "
          + "has; what is `known` has been told there before."
      }
      if verdicts.contains(.healed) {
        return "No entry is lost, but the disk has changed bytes: copy the log to another disk."
      }
      if verdicts.contains(.newer) {
        return "Use the version of Daybook that wrote it, or a newer one."
      }
      return "Nothing is lost: the last write did not finish and was never acknowledged. The next "
        + "opening settles it."
    }
  }
}
