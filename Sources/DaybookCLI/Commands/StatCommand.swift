import DaybookFormat
import DaybookLog
import DaybookSync

/// `daybook stat`: what a log is, how large it is, and what it holds, in numbers.
enum StatCommand: Command {
  static let directory = Parameter.argument(.directory, help: "a log of a device or a server")

  static let syntax = Syntax(
    name: "stat",
    summary: "show what a log is and holds, in numbers",
    detail: [
      "The oldest and newest time are those of frames, by the clock of the machine that wrote "
        + "them. Records are those of the base, without the own operations laid over them.",
      "Takes no lock and works while the log is in use.",
    ],
    parameters: [directory, CommonParameter.json],
    examples: [.init("daybook stat field/reps/01", "a device's log")],
    statuses: ReadingStatus.all)

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let path = arguments[directory]
    let statistics = try Rereading.read(findings: { (read: LogStatistics) in read.findings }) {
      () throws(LogError) in try LogStatistics(OpenedLog(path))
    }
    var folded = try LogFold.fold(
      path, on: output, from: { log throws(LogError) in LogContents(log) }
    ) { contents, stored, entry in
      if let entry { contents.add(entry, position: stored.number) }
    }
    folded.result.end()
    if arguments[CommonParameter.json] {
      write(statistics, folded.result, of: folded.log, on: output)
    } else {
      print(statistics, folded.result, of: folded.log, on: output)
    }
    return folded.condition.tell(folded.log.path, on: output)
  }
}

extension StatCommand {
  private static func write(
    _ statistics: LogStatistics, _ contents: LogContents, of log: OpenedLog, on output: Output
  ) {
    for name in log.streams {
      let stream = statistics.streams[name] ?? LogStatistics.Stream()
      var object = JSONObject()
      object.set("stream", name)
      object.set("segments", stream.segmentCount)
      object.set("bytes", stream.byteCount)
      object.set("frames", stream.frameCount)
      object.set("entries", stream.entryCount)
      object.set("last", stream.last)
      var kinds = JSONObject()
      for (code, count) in stream.kinds.sorted(by: { $0.key < $1.key }) {
        kinds.set(EntryKind.word(of: code), count)
      }
      object.set("kinds", kinds)
      output.object(object)
    }
    for other in statistics.others {
      var object = JSONObject()
      object.set("files", other.name)
      object.set("count", other.count)
      object.set("bytes", other.byteCount)
      output.object(object)
    }
    for (name, count) in contents.records {
      var object = JSONObject()
      object.set("collection", name)
      object.set("records", count)
      output.object(object)
    }
    output.object(summary(statistics, contents, of: log))
  }

  private static func summary(
    _ statistics: LogStatistics, _ contents: LogContents, of log: OpenedLog
  ) -> JSONObject {
    var object = JSONObject()
    object.set("logID", optional: log.logID?.description)
    object.set("incarnation", optional: log.header?.incarnation.description)
    object.set("account", optional: log.header?.account)
    object.set("serverID", optional: contents.serverID?.description)
    object.set("epoch", optional: contents.epoch?.description)
    object.set("inUse", log.directory.isInUse)
    object.set("bytes", statistics.byteCount)
    object.set("segments", statistics.streams.values.reduce(0) { $0 + $1.segmentCount })
    object.set("entries", statistics.streams.values.reduce(0) { $0 + $1.entryCount })
    object.set("oldest", optional: statistics.oldest?.time.rfc3339)
    object.set("newest", optional: statistics.newest?.time.rfc3339)
    var positions = JSONObject()
    for (name, position) in contents.scopes {
      positions.set(name, optional: position?.sequence)
    }
    object.set("positions", positions)
    if log.isServer {
      object.set("incarnations", contents.incarnations.count)
    } else {
      object.set("operations", contents.state.keptOperations.count)
      var standings = JSONObject()
      for (standing, count) in contents.standings { standings.set(standing.rawValue, count) }
      object.set("states", standings)
    }
    return object
  }

  private static func print(
    _ statistics: LogStatistics, _ contents: LogContents, of log: OpenedLog, on output: Output
  ) {
    var facts: [(String, String)] = [
      ("log", log.logID?.description ?? "unknown"),
      ("incarnation", log.header?.incarnation.description ?? "unknown"),
      ("account", log.header?.accountText ?? "unknown"),
      ("server", contents.serverID?.description ?? "not met yet"),
      ("in use", log.directory.isInUse ? "yes" : "no"),
    ]
    if let oldest = statistics.oldest, let newest = statistics.newest {
      facts.append(("written", "\(oldest.time.rfc3339) to \(newest.time.rfc3339)"))
    }
    for (name, position) in contents.scopes {
      let place = position.map { "up to \($0.sequence)" } ?? "bootstrap not complete"
      facts.append(("scope", "\(printable(name)) \(place)"))
    }
    if log.isServer {
      facts.append(("devices", grouped(contents.incarnations.count)))
    } else {
      let words = contents.standings.map { "\(grouped($0.count)) \($0.standing.rawValue)" }
      facts.append(("outbox", words.isEmpty ? "nothing kept" : words.joined(separator: ", ")))
    }
    for (name, value) in facts {
      output.line(name + String(repeating: " ", count: 13 - name.count) + value)
    }
    output.line()
    print(statistics, log.streams, on: output)
    guard !contents.records.isEmpty else { return }
    output.line()
    var records = Table([("collection", .left), ("records", .right)])
    for (name, count) in contents.records { records.add([printable(name), grouped(count)]) }
    output.table(records)
  }

  private static func print(
    _ statistics: LogStatistics, _ names: [String], on output: Output
  ) {
    var table = Table([
      ("stream", .left), ("segments", .right), ("bytes", .right), ("frames", .right),
      ("entries", .right),
    ])
    for name in names {
      guard let stream = statistics.streams[name] else { continue }
      table.add([
        printable(name), grouped(stream.segmentCount), grouped(stream.byteCount),
        grouped(stream.frameCount), grouped(stream.entryCount),
      ])
      for (code, count) in stream.kinds.sorted(by: { $0.key < $1.key }) {
        table.add(["  \(EntryKind.word(of: code))", "", "", "", grouped(count)])
      }
    }
    for other in statistics.others {
      table.add([other.name, grouped(other.count), grouped(Int(clamping: other.byteCount)), "", ""])
    }
    output.table(table)
  }
}
