package import DaybookFormat

/// Tells whether a stream's history up to an anchor's place was only extended.
package struct AnchorCheck: ~Copyable {
  /// What can be told of a stream.
  package enum Verdict: Sendable, Hashable {
    /// Everything up to the place is as it was.
    case extended
    /// Everything up to the number before the place's segment is as it was. Of the segment a
    /// compaction dropped entries since, and with them what told its entries up to the place from
    /// those behind.
    case compacted(boundary: UInt64)
    /// Entries up to the place are not those that were there.
    case rewritten
    /// The stream ends before the place.
    case shorter(last: UInt64)
    /// What stands up to the place is damaged or forged, as a look without an anchor tells too.
    case damaged
  }

  private let place: Anchor.Place
  private var hasher = ChainHasher()
  private var found: Verdict?
  /// What stands up to the place is not what was written, damaged or forged: seals and links say so
  /// already, and what is left makes no root.
  private var isDamaged = false
  private var last: UInt64 = 0

  /// A check against `place`.
  package init(_ place: Anchor.Place) { self.place = place }

  /// Looks at the next segment, and at its links as ``ChainCheck`` made them.
  package mutating func look(_ report: SegmentReport, _ links: [ChainLink]) {
    if report.isSpare || report.isReplaced { return }
    let isBefore = report.ordinal <= place.ordinal
    // What a link names as the value before is believed by no one: all before must hold together.
    // What an opening has recorded is told by entries that the chain holds in turn.
    let isLoss = report.findings.contains { $0.isLoss && $0.record == nil }
    if isBefore, isLoss || report.isPieced {
      isDamaged = true
    }
    last = max(last, links.last?.lastNumber ?? 0)
    guard let link = links.first(where: { $0.ordinal == place.ordinal }) else { return }
    if report.sealed == nil, link.lastNumber > place.number, link.firstNumber <= place.number + 1 {
      found = verdict(of: prefix(of: report, link))
    } else {
      found = verdict(of: link)
    }
    if found == .rewritten, report.findings.contains(where: \.isLoss) { isDamaged = true }
  }

  private mutating func prefix(of report: SegmentReport, _ whole: ChainLink) -> ChainLink {
    var link = whole
    link.lastNumber = place.number
    let leaves = report.leaves(through: place.number, hasher: &hasher)
    link.root = MerkleTree.root(of: leaves, hasher: &hasher)
    return link
  }

  private mutating func verdict(of link: ChainLink) -> Verdict {
    if link.lastNumber == place.number, hasher.value(of: link) == place.chain { return .extended }
    guard link.firstNumber == place.firstNumber, link.before == place.boundary else {
      return .rewritten
    }
    if link.lastNumber < place.number { return .shorter(last: link.lastNumber) }
    return link.lastNumber > place.number ? .compacted(boundary: place.firstNumber - 1) : .rewritten
  }

  /// What can be told, once all segments were looked at.
  package func verdict() -> Verdict {
    isDamaged ? .damaged : found ?? .shorter(last: last)
  }
}

extension LogDirectory {
  /// An anchor at the end of what is known to be durable. Reads all segments; a log may be in use.
  ///
  /// - Throws: `damaged` if entries are lost that no opening has recorded yet.
  package func anchor() throws(LogError) -> Anchor {
    let logID = try logID() ?? .zero
    let witnesses = try witnesses()
    var places: [Anchor.Place] = []
    for stream in streams {
      var segments = try segments(of: stream.name, witnesses: witnesses)
      var tail = ChainTail(logID: logID)
      var durable = witnesses[stream.name] ?? 0
      while let report = try segments.next() {
        let loss = report.findings.first { $0.isLoss && $0.record == nil }
        if let loss { throw .damaged(loss) }
        durable = max(durable, report.frames.map(\.header.durableNumber).max() ?? 0)
        if report.isClosed { durable = max(durable, report.nextNumber - 1) }
        // A later segment is begun when all before is synced.
        durable = max(durable, report.firstNumber - 1)
        tail.add(report)
      }
      if let link = tail.link(through: durable) { places.append(Anchor.Place(link)) }
    }
    return Anchor(logID: logID, places: places)
  }
}
