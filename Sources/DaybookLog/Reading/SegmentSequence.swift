import DaybookFormat

/// The segments of one stream, judged one after the other; one is in memory at a time.
package struct SegmentSequence {
  private let directory: LogDirectory
  private let stream: LogDirectory.Stream
  private let witness: UInt64
  private let isInUse: Bool
  private var index = 0
  private var nextOrdinal: UInt64 = 1
  /// The number that the next segment must begin with.
  package private(set) var nextNumber: UInt64 = 1

  /// The segments of `stream`, of which `witness` is known to be durable by others.
  init(
    _ stream: LogDirectory.Stream, of directory: LogDirectory, witness: UInt64, isInUse: Bool
  ) {
    self.directory = directory
    self.stream = stream
    self.witness = witness
    self.isInUse = isInUse
  }

  /// The next segment's report; `nil` behind the last one.
  package mutating func next() throws(LogError) -> SegmentReport? {
    guard index < stream.segments.count else { return missingTail() }
    let (ordinal, file) = stream.segments[index]
    if ordinal != nextOrdinal { return missing(nextOrdinal, before: ordinal, file: file) }
    index += 1
    nextOrdinal += 1
    var successor: SegmentHeader.Predecessor?
    var known = witness
    var isLast = true
    for later in stream.segments[index...] {
      guard let header = try directory.header(of: later.file) else { continue }
      isLast = false
      if let named = header.predecessor, named.ordinal == ordinal { successor = named }
      known = header.firstNumber - 1
      break
    }
    let bytes = try directory.bytes(of: file)
    var report = SegmentJudge.judge(
      SegmentScan(bytes), bytes: bytes, file: file, stream: stream.name, ordinal: ordinal,
      next: nextNumber, successor: successor, witness: known)
    if isInUse, isLast { report.findings.removeAll { $0.kind == .tornTail } }
    // What this file has lost is not lost once more by the next one.
    let lost = report.findings.compactMap(\.lost).map(\.upperBound).max() ?? 0
    nextNumber = max(report.nextNumber, lost + 1)
    return report
  }

  /// The report of a segment whose file is not there, though a later one is.
  private mutating func missing(
    _ ordinal: UInt64, before later: UInt64, file: String
  ) -> SegmentReport {
    let header = try? directory.header(of: file)
    let first = header?.firstNumber ?? nextNumber
    var report = SegmentReport(
      file: LogDirectory.segmentFile(stream: stream.name, ordinal: ordinal), stream: stream.name,
      ordinal: ordinal, scan: SegmentScan([]), nextNumber: max(first, nextNumber))
    report.findings = [
      LogFinding(
        .missing, file: report.file, offset: 0,
        lost: later == ordinal + 1 && first > nextNumber ? nextNumber...(first - 1) : nil)
    ]
    nextOrdinal += 1
    nextNumber = report.nextNumber
    return report
  }

  /// The report of a last segment whose file is not there, though others know of its entries.
  private mutating func missingTail() -> SegmentReport? {
    guard index == stream.segments.count, witness >= nextNumber, stream.segments.isEmpty else {
      return nil
    }
    index += 1
    var report = SegmentReport(
      file: LogDirectory.segmentFile(stream: stream.name, ordinal: 1), stream: stream.name,
      ordinal: 1, scan: SegmentScan([]), nextNumber: nextNumber)
    report.findings = [
      LogFinding(.missing, file: report.file, offset: 0, lost: nextNumber...witness)
    ]
    return report
  }
}

extension LogDirectory {
  /// The segments of the stream `name`, judged; none if there is no such stream.
  package func segments(of name: String, witnesses: [String: UInt64]) -> SegmentSequence {
    SegmentSequence(
      streams.first { $0.name == name } ?? Stream(name: name, segments: []), of: self,
      witness: witnesses[name] ?? 0, isInUse: isInUse)
  }

  /// For each stream the highest number that `HEAD` or the other stream knows to be durable.
  package func witnesses() throws(LogError) -> [String: UInt64] {
    var witnesses: [String: UInt64] = [:]
    for stream in head?.streams ?? [] { witnesses[stream.name] = stream.durableNumber }
    guard streams.count == 2 else { return witnesses }
    for (stream, other) in [(streams[0], streams[1]), (streams[1], streams[0])] {
      // The newest frames know most; a segment without any leaves it to the one before.
      for segment in stream.segments.reversed() {
        let highest = SegmentScan(try bytes(of: segment.file)).frames.map(\.header.otherNext).max()
        guard let highest else { continue }
        witnesses[other.name] = max(witnesses[other.name] ?? 0, highest == 0 ? 0 : highest - 1)
        break
      }
    }
    return witnesses
  }
}
