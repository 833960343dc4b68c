import DaybookFormat
import DaybookLog

/// Every link of a log's chains, checked.
enum ChainOracle {
  /// The reports of all files, with what their seals and headers say of the chain.
  static func reports(
    _ path: String, _ disk: any FileSystem, streams: [String]
  ) throws(LogError) -> [SegmentReport] {
    let found = try LogDirectory(path, fileSystem: disk)
    let witnesses = try found.witnesses()
    var reports: [SegmentReport] = []
    for stream in streams {
      var segments = try found.segments(of: stream, witnesses: witnesses)
      segments.isHashed = true
      var chain = ChainCheck(logID: try found.logID() ?? .zero)
      while var report = try segments.next() {
        chain.check(&report)
        reports.append(report)
      }
    }
    return reports
  }

  /// What is wrong with the chains.
  static func problems(
    _ path: String, _ disk: any FileSystem, streams: [String] = ["feed", "outbox"]
  ) throws(LogError) -> [String] {
    let kinds: [LogFinding.Kind] = [.seal, .chain, .foreign]
    return try reports(path, disk, streams: streams).flatMap(\.findings).filter {
      kinds.contains($0.kind)
    }.map(\.message)
  }
}
