import DaybookFormat

/// What the chain value behind the last segment of a stream is made of. Hashing waits until it is
/// asked for, since only a writer needs it.
struct ChainTail {
  private let logID: Identifier
  /// The last segment with a header.
  private var whole: SegmentReport?
  /// Segments behind it: without a header they count as empty.
  private var empty: [SegmentReport] = []
  /// The last file, if it was made ahead: it counts only if another one follows.
  private var spare: SegmentReport?

  /// The tail of a stream of which no segment has been met.
  init(logID: Identifier) { self.logID = logID }

  /// The next segment of the stream.
  mutating func add(_ report: SegmentReport) {
    if report.isReplaced { return }
    if let spare { empty.append(spare) }
    spare = report.isSpare ? report : nil
    if report.isSpare { return }
    if report.header == nil || report.isMisplaced {
      empty.append(report)
    } else {
      whole = report
      empty = []
    }
  }

  /// The last segment with a header, if it ends in entries that are to be written again.
  var loneReport: SegmentReport? { whole?.lone == nil ? nil : whole }

  /// The link of the last segment; `nil` if there is none. O(*n*) in its bytes.
  var link: ChainLink? { link(through: .max) }

  /// The link of the last segment with its entries up to `number` alone; `nil` if there is none.
  func link(through number: UInt64) -> ChainLink? {
    var hasher = ChainHasher()
    var link =
      whole?.sealed?.links.last
      ?? whole?.link(
        logID: logID, before: whole?.namedChain ?? .zero, through: number, hasher: &hasher)
    for report in empty {
      let before = link.map { hasher.value(of: $0) } ?? .zero
      link = report.link(logID: logID, before: before, hasher: &hasher)
    }
    return link
  }
}

extension SegmentReport {
  /// The chain value that the header names of the segment before.
  var namedChain: ChainValue { header?.predecessor?.chain ?? .zero }

  /// The header is another segment's, or another log's.
  var isMisplaced: Bool {
    findings.contains { $0.kind == .foreign || ($0.kind == .header && header != nil) }
  }

  /// The hashes of the entries up to `last` that count, in the order of their numbers.
  func leaves(through last: UInt64 = .max, hasher: inout ChainHasher) -> [SHA256Digest] {
    var leaves: [SHA256Digest] = []
    for frame in frames {
      for (place, part) in frame.parts.enumerated() {
        let number = frame.header.firstNumber + UInt64(place)
        if number > last { return leaves }
        leaves.append(hasher.leaf(number: number, kind: part.kind, bytes: part.bytes))
      }
    }
    return leaves
  }

  /// The segment's link behind the chain value `before`: its entries up to `number` that count,
  /// whatever was written once. O(*n*) in its bytes.
  func link(
    logID: Identifier, before: ChainValue, through number: UInt64 = .max,
    hasher: inout ChainHasher
  ) -> ChainLink {
    let end = frames.last.map { $0.nextNumber - 1 } ?? (firstNumber - 1)
    let last = max(min(end, number), firstNumber - 1)
    return ChainLink(
      logID: logID, stream: stream, ordinal: ordinal, firstNumber: firstNumber, lastNumber: last,
      root: MerkleTree.root(of: leaves(through: last, hasher: &hasher), hasher: &hasher),
      before: before)
  }
}
