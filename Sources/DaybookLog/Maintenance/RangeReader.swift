import DaybookFormat

/// Reads the files of a range one after the other, and follows the chain through them.
struct RangeReader {
  /// One original segment: what is left of its entries, and what an earlier compaction dropped.
  struct Part {
    let ordinal: UInt64
    let firstNumber: UInt64
    let lastNumber: UInt64
    let entries: [LogEntry]
    var dropped: [PartialTree.Subtree] = []
    /// The root that an earlier compaction proves.
    var root: SHA256Digest?
  }

  private let directory: LogDirectory
  private let stream: String
  private let files: [StreamFile]
  private var segments: SegmentSequence
  private var index = 0
  /// The chain value before the range.
  private var before = ChainValue.zero
  /// The chain value behind what was reduced so far.
  private(set) var chain = ChainValue.zero
  /// What the file behind names as the value there; `nil` if it names none.
  private var expected: ChainValue?
  /// Everything read so far fits to what was said of it elsewhere.
  private(set) var isProven = true
  private let logID: Identifier
  /// The file that was asked for last.
  private(set) var current: StreamFile

  /// A reader of `files` of `stream`, at least one, which follow each other.
  init(_ directory: LogDirectory, stream: String, files: [StreamFile]) throws(LogError) {
    logID = try directory.logID() ?? .zero
    self.directory = directory
    self.stream = stream
    self.files = files
    current = files[0]
    // What nobody but a neighbour knows is not asked for: closed files are told by what follows.
    segments = directory.segments(
      of: stream, witnesses: [:], isInUse: true, logID: logID, policy: .refuse)
  }

  /// The parts of the next file; empty if it is not whole, `nil` behind the last one.
  mutating func next() throws(LogError) -> [Part]? {
    guard index < files.count else { return nil }
    if index == 0 {
      guard let header = try segments.begin(at: files[0]) else { return [] }
      before = header.predecessor?.chain ?? .zero
      chain = before
    }
    let file = files[index]
    current = file
    guard let report = try segments.next(), report.file == file.file,
      report.newerVersion == nil, !report.isSpare, !report.findings.contains(where: \.isLoss)
    else { return [] }
    index += 1
    expected = try segments.followingChain()
    return file.isCompacted ? parts(of: report) : [part(of: report)]
  }

  private func part(of report: SegmentReport) -> Part {
    let entries = report.frames.flatMap { $0.entries(stream: stream, file: report.file) }
    // A header that never became whole was settled as a segment without entries.
    let first = report.firstNumber
    return Part(
      ordinal: report.ordinal, firstNumber: first, lastNumber: entries.last?.number ?? (first - 1),
      entries: entries)
  }

  private mutating func parts(of report: SegmentReport) -> [Part] {
    guard let sealed = report.sealed, sealed.isProven(),
      sealed.proofs.first?.before == chain
    else { return [] }
    var entries = sealed.frames.flatMap { $0.entries(stream: stream, file: report.file) }[...]
    return sealed.proofs.map { proof in
      let own = entries.prefix { $0.number <= proof.lastNumber }
      entries = entries.dropFirst(own.count)
      return Part(
        ordinal: proof.ordinal, firstNumber: proof.firstNumber, lastNumber: proof.lastNumber,
        entries: Array(own), dropped: proof.dropped, root: proof.root)
    }
  }

  /// Holds the chain behind the file that was read last against what the next one names.
  mutating func compareChain() {
    if let expected, expected != chain { isProven = false }
  }

  /// What the output says of `part`, and the entries that it keeps.
  mutating func reduce(
    _ part: Part, isFirst: Bool, keeps: (LogEntry) -> Bool
  ) -> (proof: SegmentProof, kept: [LogEntry]) {
    var hasher = ChainHasher()
    var kept: [LogEntry] = []
    var leaves: [(hash: SHA256Digest, isKept: Bool)] = []
    for entry in part.entries {
      let isKept = keeps(entry)
      if isKept { kept.append(entry) }
      leaves.append(
        (hasher.leaf(number: entry.number, kind: entry.kind, bytes: entry.bytes), isKept))
    }
    let tree = PartialTree(dropped: part.dropped, leaves: leaves, hasher: &hasher)
    let root = tree?.root(hasher: &hasher) ?? .zero
    if tree == nil || part.root.map({ $0 != root }) ?? false { isProven = false }
    let proof = SegmentProof(
      ordinal: part.ordinal, firstNumber: part.firstNumber, lastNumber: part.lastNumber,
      before: isFirst ? chain : nil, root: root, dropped: tree?.dropped ?? [])
    chain = hasher.value(of: proof.link(logID: logID, stream: stream, before: chain))
    return (proof, kept)
  }
}

extension SegmentSequence {
  /// Goes on with `file`, one that serves. Returns its header; `nil` if that can't be read.
  mutating func begin(at file: StreamFile) throws(LogError) -> SegmentHeader? {
    guard let place = files.firstIndex(of: file), let header = try directory.header(of: file.file)
    else { return nil }
    index = place
    nextOrdinal = file.first
    nextNumber = header.firstNumber
    return header
  }

  /// The chain value that the next file's header names as that before it; `nil` if there is no such
  /// file, or one whose writer knew no chains.
  func followingChain() throws(LogError) -> ChainValue? {
    guard index < files.count, let header = try directory.header(of: files[index].file),
      let chain = header.predecessor?.chain, !chain.isZero
    else { return nil }
    return chain
  }
}
