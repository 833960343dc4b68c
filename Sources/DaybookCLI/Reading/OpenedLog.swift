import DaybookFormat
import DaybookLog

/// A log's directory as the commands that only read see it: without its lock, while a writer may be
/// at work.
struct OpenedLog {
  /// As the command line names it, without slashes at the end.
  let path: String
  let directory: LogDirectory
  /// Names the log, its life and its account; `nil` in a log without a whole header.
  let header: SegmentHeader?
  /// The streams that are there, or that something there knows of, in the order of a device: what
  /// it has alone comes first.
  let streams: [String]

  /// - Throws: ``LogError``, `notALog` also for a directory with nothing in it.
  init(_ path: String) throws(LogError) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
    directory = try LogDirectory(path, fileSystem: SystemFileSystem())
    if directory.isNew, directory.formatLogID == nil, directory.head == nil {
      throw .notALog(path: path)
    }
    header = try directory.newestHeader()
    var names = Set(directory.streams.filter { !$0.segments.isEmpty }.map(\.name))
    names.formUnion(directory.head?.streams.map(\.name) ?? [])
    if names.isEmpty { names = Set(directory.streams.map(\.name)) }
    if names.isSubset(of: Self.deviceStreams) { names = Set(Self.deviceStreams) }
    streams = names.sorted { left, right in
      let places = [left, right].map { Self.deviceStreams.firstIndex(of: $0) ?? .max }
      return places[0] == places[1] ? left < right : places[0] < places[1]
    }
  }

  private static let deviceStreams = ["outbox", "feed"]

  /// Whether it is a server's log and not a device's.
  var isServer: Bool { streams.contains("changes") }

  var logID: Identifier? { header?.logID ?? directory.formatLogID }
}
