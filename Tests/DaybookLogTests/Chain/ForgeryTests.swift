import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Changes to a log's history with every checksum made anew, and what verifying says of them.
@Suite struct ForgeryTests {
  static let echoes = [false, true]

  private static func harness(_ isEchoed: Bool) -> LogHarness {
    var options = StreamOptions(
      name: "changes", isEchoed: isEchoed, isCompressed: false, segmentByteLimit: 1 << 20,
      preparation: .reserved)
    options.segmentByteLimit = isEchoed ? 48 << 10 : 16 << 10
    return LogHarness(disk: SimulatedDisk(seed: 1), streams: [options])
  }

  /// A closed log of at least four segments.
  static func written(_ isEchoed: Bool, word: String = "entry") throws -> LogHarness {
    let harness = harness(isEchoed)
    let log = try harness.open().log
    for place in 0..<24 {
      let text = "\(word) \(place) " + String(repeating: "-", count: 1_500)
      _ = try log.appendAndWait("changes", [[NewEntry(kind: 1, bytes: Array(text.utf8))]])
    }
    try log.close()
    #expect(harness.segments.count >= 4)
    return harness
  }

  private func problems(_ harness: LogHarness) throws -> [String] {
    try ChainOracle.reports(harness.path, harness.disk, streams: ["changes"])
      .flatMap(\.findings).map { "\($0.kind) \($0.file.suffix(8)) \($0.offset)" }
  }

  private func forge(
    _ harness: LogHarness, _ effort: Forger.Effort, _ change: (inout [Forger.Segment]) -> Void
  ) throws -> [String] {
    let name = harness.streams[0].name
    var forger = Forger(harness.disk, harness.path, stream: name)
    change(&forger.segments)
    forger.write(effort)
    return try problems(harness)
  }

  @Test(arguments: echoes) func `a log that nobody forged is whole`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    #expect(try problems(harness) == [])
    // The forger changes nothing but the layout: the digests see that, and nothing else does.
    let touched = try forge(harness, .checksums) { _ in }
    #expect(touched.allSatisfy { $0.hasPrefix("seal") })
    #expect(try forge(harness, .seals) { _ in } == [])
  }

  @Test(arguments: echoes) func `an edited entry is seen at the seal`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    _ = try forge(harness, .seals) { _ in }
    let found = try forge(harness, .checksums) { segments in
      segments[1].batches[1][0] = NewEntry(kind: 1, bytes: Array("forged".utf8))
    }
    #expect(found.contains { $0.hasPrefix("seal 2.g0.dbs") })
    #expect(!found.contains { $0.hasPrefix("chain 2.g0.dbs") })
  }

  @Test(arguments: echoes)
  func `an edited entry under a new seal is seen at the next header`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    let found = try forge(harness, .seals) { segments in
      segments[1].batches[1][0] = NewEntry(kind: 1, bytes: Array("forged".utf8))
    }
    #expect(found == ["chain 3.g0.dbs 184"])
  }

  @Test(arguments: echoes) func `an edited kind of an entry is seen`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    let found = try forge(harness, .seals) { segments in
      let entry = segments[0].batches[0][0]
      segments[0].batches[0][0] = NewEntry(kind: 2, bytes: entry.bytes)
    }
    #expect(found == ["chain 2.g0.dbs 184"])
  }

  @Test(arguments: echoes) func `an entry taken out of the middle is seen`(isEchoed: Bool) throws {
    for effort in [Forger.Effort.checksums, .seals] {
      let harness = try Self.written(isEchoed)
      let found = try forge(harness, effort) { $0[1].batches.remove(at: 1) }
      #expect(found.contains { $0.hasPrefix(effort == .seals ? "chain 3" : "seal 2") }, "\(found)")
    }
  }

  @Test(arguments: echoes) func `a segment taken out of the middle is seen`(isEchoed: Bool) throws {
    for effort in [Forger.Effort.checksums, .seals] {
      let harness = try Self.written(isEchoed)
      let found = try forge(harness, effort) { $0.remove(at: 1) }
      #expect(found.contains("chain 2.g0.dbs 184"), "\(found)")
    }
  }

  @Test(arguments: echoes) func `the first segments taken away are seen`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    let found = try forge(harness, .seals) { $0.remove(at: 0) }
    #expect(found.contains("chain 2.g0.dbs 184"), "\(found)")
  }

  @Test(arguments: echoes) func `segments that changed places are seen`(isEchoed: Bool) throws {
    for effort in [Forger.Effort.checksums, .seals] {
      let harness = try Self.written(isEchoed)
      let found = try forge(harness, effort) { $0.swapAt(1, 2) }
      #expect(found.contains("chain 2.g0.dbs 184"), "\(found)")
    }
  }

  @Test(arguments: echoes) func `a segment of another log is seen`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    let donor = try Self.written(isEchoed, word: "other")
    let other = Forger(donor.disk, donor.path, stream: "changes").segments[1]
    var forger = Forger(harness.disk, harness.path, stream: "changes")
    let logID = Identifier(high: 1, low: 2)
    forger.segments[1] = other
    forger.segments[1].header.logID = logID
    forger.write(.seals)
    #expect(try problems(harness).contains("foreign 2.g0.dbs 40"))
    let opened = try harness.open()
    #expect(!opened.entries.contains { $0.contains("other") })
    #expect(opened.log.findings.contains { $0.kind == .foreign })
    try opened.log.close()
    // Under this log's name, too.
    forger.segments[1].header.logID = forger.segments[0].header.logID
    forger.write(.seals)
    #expect(try problems(harness).contains("chain 3.g0.dbs 184"))
  }

  @Test(arguments: echoes) func `a header that leaves the chain out is seen`(isEchoed: Bool) throws
  {
    let harness = try Self.written(isEchoed)
    let found = try forge(harness, .seals) { segments in
      segments[2].header.predecessor?.chain = .zero
    }
    #expect(found.contains("chain 3.g0.dbs 184"))
  }

  @Test(arguments: echoes)
  func `a changed clock, which no entry holds, is seen by the digest`(isEchoed: Bool) throws {
    let harness = try Self.written(isEchoed)
    _ = try forge(harness, .seals) { _ in }
    let found = try forge(harness, .checksums) { $0[1].clock += 1 << 16 }
    #expect(found.count == 1 && found[0].hasPrefix("seal 2.g0.dbs"), "\(found)")
  }

  @Test(arguments: echoes)
  func `a history that is rewritten from end to end is whole without an anchor`(
    isEchoed: Bool
  ) throws {
    let harness = try Self.written(isEchoed)
    let found = try forge(harness, .everything) { segments in
      segments[1].batches[1][0] = NewEntry(kind: 1, bytes: Array("forged".utf8))
    }
    #expect(found == [])
  }
}
