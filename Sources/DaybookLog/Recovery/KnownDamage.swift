package import DaybookFormat

/// A gap entry and where it stands.
package struct RecordedGap: Sendable, Hashable {
  /// The entry.
  package let gap: Gap
  /// Its number in its stream.
  package let number: UInt64
}

/// What the gap entries of one stream say: which damage is known, and which entries do not count.
struct KnownDamage: Sendable {
  let stream: String
  let gaps: [RecordedGap]

  init(stream: String, gaps: [RecordedGap] = []) {
    self.stream = stream
    self.gaps = gaps
  }

  /// The number of the gap entry that settles `finding`; `nil` for new damage.
  ///
  /// Lost numbers are known if gap entries name all of them, or cut them off. Damage without lost
  /// numbers is known by its file.
  func record(of finding: LogFinding) -> UInt64? {
    guard finding.kind != .tornTail else { return nil }
    guard let lost = finding.lost else {
      return gaps.first { recorded in
        recorded.gap.file == finding.file && recorded.gap.lost == nil
          && LogFinding.Kind(rawValue: recorded.gap.kind)?.isLoss == finding.kind.isLoss
      }?.number
    }
    if let cut = gaps.first(where: { isCut(lost, by: $0) }) { return cut.number }
    var next = lost.lowerBound
    var first: UInt64?
    for recorded in gaps.sorted(by: { start(of: $0) < start(of: $1) }) {
      guard let range = recorded.gap.lost, range.contains(next) else { continue }
      first = first ?? recorded.number
      if range.upperBound >= lost.upperBound { return first }
      next = range.upperBound + 1
    }
    return nil
  }

  /// Whether the entry `number` was cut off and pulled again, or was never there.
  func isCut(_ number: UInt64) -> Bool { gaps.contains { isCut(number...number, by: $0) } }

  private func isCut(_ numbers: ClosedRange<UInt64>, by recorded: RecordedGap) -> Bool {
    guard let cut = recorded.gap.cut else { return false }
    return cut <= numbers.lowerBound && numbers.upperBound < recorded.number
  }

  private func start(of recorded: RecordedGap) -> UInt64 { recorded.gap.lost?.lowerBound ?? 0 }
}

extension LogDirectory {
  /// The gap entries of `stream`, in the order of the files: those of segments that say that they
  /// begin with some, or that a compaction made of such.
  package func gaps(of stream: Stream) throws(LogError) -> [RecordedGap] {
    var gaps: [UInt64: Gap] = [:]
    // Those in superseded files hold, too: what serves in their stead need not be whole.
    for segment in stream.files {
      guard let header = try header(of: segment.file), header.beginsAfterDamage else { continue }
      for frame in SegmentScan(try bytes(of: segment.file)).frames where frame.isBatch {
        for entry in frame.entries(stream: stream.name, file: segment.file)
        where entry.kind == EntryKind.gap.rawValue {
          gaps[entry.number] = try? Gap(bytes: entry.bytes)
        }
      }
    }
    return gaps.sorted { $0.key < $1.key }.map { RecordedGap(gap: $0.value, number: $0.key) }
  }
}
