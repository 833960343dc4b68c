package import DaybookFormat

/// What is to be said of one file of a stream.
package struct SegmentReport: Sendable {
  /// The state of a file in a word.
  package enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// Every byte is as it was written.
    case clean
    /// The last write did not finish; it was never acknowledged.
    case torn
    /// A torn tail that a later segment has settled.
    case settled
    /// Bytes are damaged, and every entry is whole: a twin stood in, or padding was hit.
    case healed
    /// Entries are damaged.
    case damaged
    /// The file or its end is missing.
    case missing
    /// A newer version wrote it.
    case newer
  }

  /// The file, from the log's directory on.
  package internal(set) var file: String
  /// The stream.
  package let stream: String
  /// The segment's place in the stream.
  package let ordinal: UInt64
  /// The last ordinal that the file stands for: its own, unless a compaction made it.
  package let lastOrdinal: UInt64
  /// The header, if a copy of it is whole.
  package let header: SegmentHeader?
  /// The size of the file.
  package let byteCount: Int
  /// Its closing marks are there: it is never written to again.
  package internal(set) var isClosed = false
  /// A file without a header, prepared for the next segment.
  package internal(set) var isSpare = false
  /// The offset behind the last valid byte.
  package internal(set) var validEnd = 0
  /// The number of its first entry: the header's, else the one expected.
  package internal(set) var firstNumber: UInt64
  /// The seal's frame, if the file is closed and has one.
  package internal(set) var sealFrame: SegmentScan.Frame?
  /// SHA-256 of the bytes before the seal's frame, if it was asked for.
  package internal(set) var digest: SHA256Digest?
  /// The frames that count, in order, echoes where they stand in.
  package internal(set) var frames: [SegmentScan.Frame] = []
  /// The number behind the last entry of ``frames``.
  package internal(set) var nextNumber: UInt64
  /// The highest number of the stream that anything in the file names, whether it counts or not.
  package internal(set) var namedNumber: UInt64 = 0
  /// The highest next number of the other stream that anything in the file names.
  package internal(set) var namedOther: UInt64 = 0
  /// What is wrong, in the order of the file.
  package internal(set) var findings: [LogFinding] = []
  /// The version that wrote it, if it is newer.
  package internal(set) var newerVersion: UInt16?
  /// The checksum of the whole file.
  package internal(set) var fileChecksum: UInt32 = 0
  /// What a compaction made, if it is whole; `nil` for a segment as it was written.
  package internal(set) var sealed: SealedScan?
  /// Other files stand in for this one, and come next: nothing in it counts.
  package internal(set) var isReplaced = false
  /// An output that is not whole is all that tells some of its entries: they make no chain.
  package internal(set) var isPieced = false
  /// There are bytes behind ``validEnd`` that are not zero.
  package internal(set) var hasTail = false

  /// Entries that a crash left with one of their two copies, if nothing knows them as durable.
  package internal(set) var lone: Lone?

  /// The first frame that stands there once, where it should stand twice, and all behind it.
  package struct Lone: Sendable {
    /// Its place in ``frames``.
    package let index: Int
    /// The offset behind the last byte before it.
    package let validEnd: Int
  }

  /// The frames of ``lone``, which are to be written again.
  var loneFrames: ArraySlice<SegmentScan.Frame> { lone.map { frames[$0.index...] } ?? [] }

  init(
    file: String, stream: String, ordinal: UInt64, lastOrdinal: UInt64? = nil, scan: SegmentScan,
    nextNumber: UInt64
  ) {
    self.file = file
    self.stream = stream
    self.ordinal = ordinal
    self.lastOrdinal = lastOrdinal ?? ordinal
    header = scan.header
    byteCount = scan.byteCount
    self.nextNumber = nextNumber
    firstNumber = nextNumber
  }

  /// The state in a word.
  package var verdict: Verdict {
    if newerVersion != nil { return .newer }
    if findings.contains(where: { $0.kind == .missing }) { return .missing }
    if findings.contains(where: \.isLoss) { return .damaged }
    if findings.contains(where: { $0.kind != .tornTail }) { return .healed }
    if !findings.isEmpty { return .torn }
    return hasTail ? .settled : .clean
  }

  /// The number of entries known to be lost.
  package var lostCount: UInt64 {
    findings.reduce(0) { $0 &+ ($1.lost.map { $0.upperBound - $0.lowerBound + 1 } ?? 0) }
  }
}

extension SegmentReport {
  /// Notes the highest numbers that anything in the file names, whether it counts or not: none of
  /// them is ever given again behind damage. `next` is the number that it must begin with.
  mutating func noteNumbers(of scan: SegmentScan, next: UInt64) {
    namedNumber = max(
      next - 1, scan.header.map { $0.firstNumber - 1 } ?? 0,
      scan.header?.predecessor?.lastNumber ?? 0)
    for frame in scan.frames {
      namedNumber = max(namedNumber, frame.nextNumber - 1, frame.header.durableNumber)
      namedOther = max(namedOther, frame.header.otherNext)
    }
    for frame in scan.broken {
      let isBatch = frame.header.kind == .batch || frame.header.kind == .echo
      let count = isBatch ? UInt64(frame.header.entryCount) : 0
      let last = frame.header.firstNumber + count - 1
      namedNumber = max(namedNumber, last, frame.header.durableNumber)
      namedOther = max(namedOther, frame.header.otherNext)
    }
  }
}

extension LogFinding {
  /// Whether bytes behind the finding, up to the next whole frame, belong to it.
  var explainsBytesBehind: Bool {
    switch kind {
    case .headerCopy, .settledTail, .fileSize, .tornTail: return false
    default: return true
    }
  }
}
