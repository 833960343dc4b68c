import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// The chain through what a compaction made of segments, and anchors in it.
@Suite struct CompactedChainTests {
  static let echoes = [false, true]

  private func compacted(_ isEchoed: Bool, _ lie: Forger.Lie = .none) throws -> LogHarness {
    let harness = try ForgeryTests.written(isEchoed)
    let forger = Forger(harness.disk, harness.path, stream: "changes")
    forger.compact(1...2, lie) { $0 % 3 == 0 }
    return harness
  }

  private func problems(_ harness: LogHarness) throws -> [String] {
    try ChainOracle.reports(harness.path, harness.disk, streams: ["changes"])
      .flatMap(\.findings).map { "\($0.kind) \($0.file)" }
  }

  @Test(arguments: echoes)
  func `what a compaction left out is proven, and the chain goes on behind it`(
    isEchoed: Bool
  ) throws {
    let harness = try compacted(isEchoed)
    let reports = try ChainOracle.reports(harness.path, harness.disk, streams: ["changes"])
    #expect(reports.flatMap(\.findings) == [])
    #expect(reports.contains { $0.sealed?.links.map(\.ordinal) == [2, 3] })
    // The next segment is chained to the last one that is there.
    let log = try harness.open().log
    _ = try log.appendAndWait("changes", [[NewEntry(kind: 1, bytes: [1])]])
    try log.close()
    #expect(try problems(harness) == [])
  }

  @Test(arguments: echoes) func `a kept entry that is another one is seen`(isEchoed: Bool) throws {
    let output = "changes/00000002-00000003.g1.dbs"
    #expect(try problems(compacted(isEchoed, .entry)) == ["seal \(output)"])
    #expect(try problems(compacted(isEchoed, .proof)) == ["chain changes/00000004.g0.dbs"])
    let before = try problems(compacted(isEchoed, .before))
    #expect(before.contains("chain \(output)"), "\(before)")
  }

  @Test(arguments: echoes)
  func `an anchor holds through a compaction, or says how far it does`(isEchoed: Bool) throws {
    let harness = try ForgeryTests.written(isEchoed)
    var places: [(whole: Anchor.Place, inside: Anchor.Place)] = []
    for report in try ChainOracle.reports(harness.path, harness.disk, streams: ["changes"]) {
      let whole = try #require(try anchors(harness, at: report.ordinal, behind: 0))
      places.append((whole, try #require(try anchors(harness, at: report.ordinal, behind: 1))))
    }
    for (whole, inside) in places {
      #expect(try verdict(harness, whole) == .extended)
      #expect(try verdict(harness, inside) == .extended)
    }
    let forger = Forger(harness.disk, harness.path, stream: "changes")
    forger.compact(1...2) { $0 % 3 == 0 }
    for (place, (whole, inside)) in places.enumerated() {
      #expect(try verdict(harness, whole) == .extended)
      let isInside = place == 1 || place == 2
      let boundary = inside.firstNumber - 1
      #expect(
        try verdict(harness, inside) == (isInside ? .compacted(boundary: boundary) : .extended))
    }
  }

  /// The place of a segment's last entry, or of the one that stands `behind` numbers before it.
  private func anchors(
    _ harness: LogHarness, at ordinal: UInt64, behind: UInt64
  ) throws -> Anchor.Place? {
    var hasher = ChainHasher()
    let forger = Forger(harness.disk, harness.path, stream: "changes")
    let segment = forger.segments[Int(ordinal) - 1]
    let entries = segment.batches.flatMap { $0 }.dropLast(Int(behind))
    let first = segment.header.firstNumber
    let leaves = entries.enumerated().map { place, entry in
      hasher.leaf(number: first + UInt64(place), kind: entry.kind, bytes: entry.bytes)
    }
    return Anchor.Place(
      ChainLink(
        logID: segment.header.logID, stream: "changes", ordinal: ordinal, firstNumber: first,
        lastNumber: first + UInt64(leaves.count) - 1,
        root: MerkleTree.root(of: leaves, hasher: &hasher),
        before: segment.header.predecessor?.chain ?? .zero))
  }

  private func verdict(
    _ harness: LogHarness, _ place: Anchor.Place
  ) throws -> AnchorCheck.Verdict {
    let found = try LogDirectory(harness.path, fileSystem: harness.disk)
    var segments = try found.segments(of: "changes", witnesses: [:])
    segments.isHashed = true
    var chain = ChainCheck(logID: try found.logID() ?? .zero)
    var check = AnchorCheck(place)
    while var report = try segments.next() {
      chain.check(&report)
      check.look(report, chain.links)
    }
    return check.verdict()
  }
}
