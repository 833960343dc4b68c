import DaybookFormat
import DaybookLog
import DaybookSync

/// What a reading command met that is not as it should be, and the exit status that says so.
struct LogCondition {
  /// An entry whose bytes are whole, but hold what this version can't read.
  struct UnreadableEntry {
    let file: String
    let offset: UInt64
    let position: String

    var message: String { "\(file), byte \(offset): the entry \(position) can't be read" }
  }

  /// The most findings that are told one by one; `daybook verify` tells all.
  private static let toldLimit = 3

  var findings: [LogFinding] = []
  var unreadable: [UnreadableEntry] = []
  /// There is no segment: what the log held is lost, unless nothing was ever written.
  var lacksSegments = false

  /// What is said where there is no segment.
  static let noSegment = "no stream of the log has a segment: it was never written to, or is lost"

  /// Adds `stored`, whose bytes are whole and can't be read.
  mutating func add(unreadable stored: LogEntry) {
    unreadable.append(
      UnreadableEntry(
        file: stored.file, offset: stored.frameOffset,
        position: "\(stored.stream):\(stored.number)"))
  }

  /// A bad copy is damage though its twin heals it; a torn tail alone is not.
  var status: ExitStatus {
    if lacksSegments || !unreadable.isEmpty || findings.contains(where: { $0.kind != .tornTail }) {
      return .damaged
    }
    return findings.isEmpty ? .done : .tornTail
  }

  /// Says on standard error what is wrong with the log at `path`, and gives the status.
  func tell(_ path: String, on output: Output) -> ExitStatus {
    if lacksSegments { output.note("daybook: \(path): \(Self.noSegment)") }
    let messages = findings.map(\.message) + unreadable.map(\.message)
    guard !messages.isEmpty else { return status }
    for message in messages.prefix(Self.toldLimit) { output.note("daybook: \(message)") }
    if messages.count > Self.toldLimit {
      output.note("daybook: and \(grouped(messages.count - Self.toldLimit)) more findings")
    }
    // An outbox goes on behind a loss; other streams do so where an opening recorded it.
    let isCut = findings.contains {
      $0.isLoss && $0.record == nil && DamagePolicy.usual(for: $0.stream) != .salvage
    }
    output.note(
      (isCut ? "What stands behind it in its stream is not shown. " : "")
        + "Run `daybook verify \(path)` to see what it means.")
    return status
  }
}

/// Every entry of a log, decoded, in the order in which they were written.
enum LogFold {
  /// What a fold came to, and what was met on the way.
  struct Folded<Result> {
    let log: OpenedLog
    var result: Result
    var condition = LogCondition()
  }

  /// Folds the log at `path` into what `start` gives. `body` gets `nil` for an entry of a kind that
  /// this version may skip.
  ///
  /// A device's state begins with its newest snapshot, so what folds it has to end the replay. For
  /// `history`, all that is kept is given instead; `asOf` leaves out snapshots that hold more than
  /// these numbers. With findings the log is read again, since a
  /// writer may be at work.
  static func fold<Result>(
    _ path: String, on output: Output, history: Bool = false, asOf ends: [String: UInt64]? = nil,
    from start: (OpenedLog) throws(LogError) -> Result,
    _ body: (inout Result, LogEntry, Entry?) -> Void
  ) throws(LogError) -> Folded<Result> {
    try Rereading.read(findings: { (folded: Folded<Result>) in folded.condition.findings }) {
      () throws(LogError) in
      let log = try OpenedLog(path)
      return try once(log, on: output, history: history, asOf: ends, from: start, body)
    }
  }

  /// The state of the device whose log is at `path`, as its app would have it.
  static func state(_ path: String, on output: Output) throws(LogError) -> Folded<ClientState> {
    var folded = try fold(
      path, on: output,
      from: { log throws(LogError) in
        ClientState(
          schema: Schema(name: "", collections: []),
          incarnation: log.header?.incarnation ?? .zero)
      }
    ) { state, stored, entry in
      if let entry { state.apply(entry, position: stored.number) }
    }
    folded.result.endReplay()
    return folded
  }

  private static func once<Result>(
    _ log: OpenedLog, on output: Output, history: Bool, asOf ends: [String: UInt64]?,
    from start: (OpenedLog) throws(LogError) -> Result,
    _ body: (inout Result, LogEntry, Entry?) -> Void
  ) throws(LogError) -> Folded<Result> {
    var folded = Folded(log: log, result: try start(log))
    folded.condition.lacksSegments = log.directory.lacksSegments && !log.directory.isInUse
    let total = log.directory.streams.reduce(0) { $0 + $1.segments.count }
    let progress = Progress("segments", total: total, on: output)
    defer { progress.finish() }
    var count = 0
    // Of two frames that may both come, the feed's was there first.
    var directory = log.directory
    if let ends, let found = try directory.past(ends) { directory = found }
    var replay = try LogReplay(directory, streams: log.streams.reversed(), history: history)
    try replay.run(
      visit: { _ throws(LogError) in
        count += 1
        progress.advance(to: count)
      }
    ) { found throws(LogError) in
      // Becomes status 130: the program sees that its task was cancelled.
      if Task.isCancelled { throw .closed }
      do throws(EntryError) {
        body(&folded.result, found, try Entry(kind: found.kind, bytes: found.bytes))
      } catch {
        // The replay goes on as it does for the log's app; a server's ends there.
        guard !log.isServer else {
          folded.condition.add(unreadable: found)
          return
        }
        throw .unreadableEntry(
          file: found.file, offset: found.frameOffset, stream: found.stream, number: found.number)
      }
    }
    folded.condition.findings = replay.findings
    return folded
  }
}
