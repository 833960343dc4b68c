import DaybookFormat
import DaybookLog

/// `daybook anchor`: a few lines that pin a log's history, to be kept where its writer can't reach.
enum AnchorCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a log of a device or a server")
  static let device = Parameter.optionalOption(
    "device", .text(as: "INCARNATION"),
    help: "of a server's log: the anchor that this life of a device's log sent last")

  static let syntax = Syntax(
    name: "anchor",
    summary: "print what a log's history can later be held against",
    detail: [
      "Names for each stream the last entry that is durable, and a hash of everything up to it. "
        + "Keep it where whoever writes the log can't change it; `daybook verify --anchor` tells "
        + "later whether the history up to it was only added to.",
      "With each push a device sends one, and the server keeps the last. `daybook dump` shows them "
        + "with the incarnations; --device prints one as its device would.",
      "Takes no lock and works while the log is in use.",
    ],
    parameters: [directory, device],
    examples: [
      .init("daybook anchor field/reps/01 > kept.anchor", "keep it elsewhere"),
      .init(
        "daybook anchor field/server --device 0198c0de-0000-7000-8000-000000000001",
        "what the server was told"),
    ],
    statuses: ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let path = arguments[directory]
    if let name = arguments[device] { return try told(by: name, path, output) }
    let anchor = try anchor(of: path)
    guard !anchor.places.isEmpty else {
      throw Failure(
        status: .notALog, message: "the log at \(path) holds no entries yet",
        remedy: "Take the anchor once something has been written.")
    }
    write(anchor, to: output)
    return .done
  }

  /// The anchor, read again if something is found: a writer may be at work.
  private static func anchor(of path: String) throws(LogError) -> Anchor {
    var result: Result<Anchor, LogError> = .failure(.closed)
    for _ in 0..<3 {
      let log = try OpenedLog(path)
      do throws(LogError) { return try log.directory.anchor() } catch { result = .failure(error) }
    }
    return try result.get()
  }

  private static func told(
    by name: String, _ path: String, _ output: Output
  ) throws -> ExitStatus {
    guard let incarnation = Identifier(name) else {
      throw Failure(
        status: .usage, message: "`\(printable(name))` is no incarnation",
        remedy: "`daybook dump` of the server's log shows the incarnations that it knows.")
    }
    let folded = try LogFold.fold(
      path, on: output, from: { _ throws(LogError) in IncarnationRow?.none }
    ) { last, _, entry in
      if case .incarnation(let row)? = entry, row.incarnation == incarnation { last = row }
    }
    guard let anchor = folded.result?.anchor else {
      throw Failure(
        status: .checkFailed,
        message: folded.result == nil
          ? "the log at \(path) does not know the incarnation \(incarnation)"
          : "the incarnation \(incarnation) has sent no anchor",
        remedy: "`daybook dump` of the server's log shows the incarnations that it knows.")
    }
    write(anchor, to: output)
    return folded.condition.tell(folded.log.path, on: output)
  }

  private static func write(_ anchor: Anchor, to output: Output) {
    for line in anchor.text.split(separator: "\n") { output.line(String(line)) }
  }
}
