import DaybookFormat
import DaybookLog

/// `daybook dump`: everything that a log holds, with file and offset.
enum DumpCommand: Command {
  /// The streams of the logs that Daybook writes.
  enum StreamName: String, CaseIterable, Sendable {
    case outbox, feed, changes
  }

  static let directory = Parameter.argument(.directory, help: "a log of a device or a server")
  static let stream = Parameter<StreamName?>.optionalOption(
    "stream", .choice, help: "only this stream")
  static let record = Parameter<RecordName?>.optionalOption(
    "record", .record, help: "only the entries about this record, in the order of writing")
  static let at = Parameter<LogPlace?>.optionalOption(
    "at", .place, help: "the records as they were shown then, instead of the entries")
  static let collection = Parameter<String?>.optionalOption(
    "collection", .text(as: "NAME"), help: "with --at: only the records of this collection")

  static let syntax = Syntax(
    name: "dump",
    summary: "show segments, frames and entries with file and offset",
    detail: [
      "Shows the contents of records: it is meant for the owner of the data.",
      "A position as `outbox:17` is the number of an entry in its stream. The offset of an entry "
        + "is that of its frame. Kinds that this version need not know are shown as such.",
      "With --at: every record as the device showed it behind that entry or at that time, its own "
        + "operations laid over what it had from the server. A time is in UTC unless it says "
        + "otherwise. It works as far back as the log keeps what is needed.",
      "Takes no lock and works while the log is in use.",
    ],
    parameters: [directory, stream, record, at, collection, CommonParameter.json],
    examples: [
      .init("daybook dump field/reps/01", "both streams of a device, file by file"),
      .init(
        "daybook dump field/server --record orders/15104 --json",
        "all that a server's log says of one record"),
      .init(
        "daybook dump field/reps/01 --at \"2026-03-02 14:05\" --collection orders",
        "what the rep saw then"),
    ],
    statuses: ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    var writer = DumpWriter(output, isJSON: arguments[CommonParameter.json])
    let path = arguments[directory]
    if let place = arguments[at] { return try dump(path, at: place, arguments, output) }
    if arguments.names(collection) {
      throw Failure(
        status: .usage, message: "`--collection` goes with `--at`",
        remedy: "Run `daybook dump --help` to see what it takes.")
    }
    let stream = arguments[stream]?.rawValue
    let log = try OpenedLog(path)
    if let stream, !log.streams.contains(stream) {
      throw Failure(
        status: .usage,
        message: "the log at \(log.path) has no stream `\(stream)`, but "
          + log.streams.map { "`\($0)`" }.joined(separator: " and "),
        remedy: "Leave out `--stream` to see all of it.")
    }
    let condition: LogCondition
    if let name = arguments[record] {
      writer.isOneRecord = true
      let key = RecordKey(name.collection, name.id)
      condition = try dump(key, of: path, stream: stream, &writer)
    } else {
      condition = try dump(log, streams: stream.map { [$0] } ?? log.streams, &writer)
    }
    writer.finish()
    return condition.tell(log.path, on: output)
  }

  /// The records as of a place.
  private static func dump(
    _ path: String, at place: LogPlace, _ arguments: Arguments, _ output: Output
  ) throws -> ExitStatus {
    if arguments.names(stream) {
      throw Failure(
        status: .usage, message: "`--at` shows records, which both streams make: not `--stream`",
        remedy: "Leave out one of the two.")
    }
    if case .position(let position) = place {
      let log = try OpenedLog(path)
      guard log.streams.contains(position.stream) else {
        throw Failure(LogError.noSuchStream(position.stream))
      }
    }
    let folded = try Projection.read(path, at: place, on: output)
    let projection = folded.result
    let name = arguments[record]
    let records = projection.records(
      of: arguments[collection], only: name.map { RecordKey($0.collection, $0.id) })
    ProjectionWriter(output: output, isJSON: arguments[CommonParameter.json])
      .write(projection, records)
    if case .position(let position) = place, !projection.hasMore,
      projection.ends[position.stream] ?? 0 < position.number
    {
      output.note(
        "The log ends at \(position.stream):\(projection.ends[position.stream] ?? 0).")
    }
    return folded.condition.tell(folded.log.path, on: output)
  }

  /// File by file.
  private static func dump(
    _ log: OpenedLog, streams: [String], _ writer: inout DumpWriter
  ) throws -> LogCondition {
    var condition = LogCondition()
    condition.lacksSegments = log.directory.lacksSegments && !log.directory.isInUse
    let witnesses = try log.directory.witnesses()
    for stream in streams {
      var walk = try SegmentWalk(stream, of: log, witnesses: witnesses)
      while let report = try walk.next() {
        try Task.checkCancellation()
        condition.findings += report.findings
        writer.write(report)
        if let version = report.newerVersion {
          throw LogError.newerFormat(
            file: report.file, found: Int(version), supported: Int(LogLayout.version))
        }
        try dump(report, of: log, &writer, &condition)
      }
    }
    return condition
  }

  private static func dump(
    _ report: SegmentReport, of log: OpenedLog, _ writer: inout DumpWriter,
    _ condition: inout LogCondition
  ) throws {
    guard report.header != nil || !report.frames.isEmpty else { return }
    // What another file has of it comes behind its own.
    let borrowed = report.frames.filter { $0.isBorrowed(by: report) }
    let own = report.frames.filter { !$0.isBorrowed(by: report) }
    let counting = Set(own.map(\.offset))
    let isThere = report.header != nil || !own.isEmpty
    let frames = isThere ? try log.directory.scan(report.file).frames : []
    let isInUse = log.directory.isInUse
    let salvaged = own.filter(\.isSalvaged)
    for frame in (frames + salvaged).sorted(by: { $0.offset < $1.offset }) + borrowed {
      let isBorrowed = frame.isBorrowed(by: report)
      // Behind what was judged there is only what a writer has added since.
      if isInUse, !isBorrowed, frame.offset >= report.validEnd { continue }
      let counts = isBorrowed || counting.contains(frame.offset)
      writer.write(frame, of: report, counts: counts)
      guard counts else { continue }
      for stored in report.entries(of: frame) {
        let decoded = DumpWriter.Decoded(stored)
        writer.write(stored, decoded)
        if case .unreadable = decoded { condition.add(unreadable: stored) }
      }
    }
  }

  /// What is about one record, in replay order.
  private static func dump(
    _ key: RecordKey, of path: String, stream: String?, _ writer: inout DumpWriter
  ) throws -> LogCondition {
    let output = writer.output
    let folded = try LogFold.fold(
      path, on: output,
      from: { _ throws(LogError) in (filter: RecordEntries(key), found: [(LogEntry, Entry)]()) }
    ) { result, stored, entry in
      guard let entry, result.filter.contains(entry) else { return }
      if stream == nil || stored.stream == stream { result.found.append((stored, entry)) }
    }
    for (stored, entry) in folded.result.found { writer.write(stored, .entry(entry)) }
    if folded.result.found.isEmpty {
      output.note("The log at \(folded.log.path) says nothing of \(printable(key.description)).")
    }
    return folded.condition
  }
}

extension SegmentScan.Frame {
  /// It stands in another file than that of `report`, and is all that is left of what was there.
  fileprivate func isBorrowed(by report: SegmentReport) -> Bool {
    file.map { $0 != report.file } ?? false
  }
}
