import DaybookFormat
import DaybookLog

/// The segments of one stream, one after the other, each read again if something is found: a writer
/// may have been at work.
struct SegmentWalk {
  private var sequence: SegmentSequence

  init(
    _ stream: String, of log: OpenedLog, witnesses: [String: UInt64]
  ) throws(LogError) {
    sequence = try log.directory.segments(of: stream, witnesses: witnesses)
  }

  /// The next segment's report; `nil` behind the last one.
  mutating func next() throws(LogError) -> SegmentReport? {
    var after = sequence
    let report = try Rereading.read(findings: { (report: SegmentReport?) in
      report?.findings ?? []
    }) { () throws(LogError) in
      after = sequence
      return try after.next()
    }
    sequence = after
    return report
  }
}
