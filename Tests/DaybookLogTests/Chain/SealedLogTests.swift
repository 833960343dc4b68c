import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What the writer says of a log in seals and headers.
@Suite struct SealedLogTests {
  private static func append(
    _ log: Log, _ stream: String, _ texts: [String], isSynced: Bool = true
  ) throws(LogError) {
    let entries = texts.map { NewEntry(kind: 1, bytes: Array($0.utf8)) }
    _ = try log.appendAndWait(stream, entries.map { [$0] }, isSynced: isSynced)
  }

  private static let long = String(repeating: "=", count: 7_000)

  /// Three lives: closed, given up with an idle mark, and closed; both streams roll.
  private func threeLives() throws -> LogHarness {
    let disk = SimulatedDisk(seed: 3)
    let harness = LogHarness(disk: disk)
    var log = try harness.open().log
    for round in 0..<5 {
      try Self.append(log, "outbox", ["op \(round)" + Self.long, "two"])
      try Self.append(log, "feed", ["page \(round)" + Self.long], isSynced: false)
      try log.markIdle()
      try Self.append(log, "feed", ["cursor \(round)"])
    }
    try log.close()
    log = try harness.open().log
    try Self.append(log, "outbox", ["unsent"])
    try Self.append(log, "feed", ["last"])
    try log.markIdle()
    disk.abandon()
    try? log.close()
    let after = LogHarness(disk: disk.crashed(.killed, seed: 1))
    log = try after.open().log
    try Self.append(log, "outbox", ["late"])
    try log.close()
    return after
  }

  /// The chain value behind a segment, by the words of the format alone.
  private func value(
    _ header: SegmentHeader, _ entries: [LogEntry], before: [UInt8]
  ) -> [UInt8] {
    let leaves = entries.map { entry in
      var bytes: [UInt8] = [0]
      withUnsafeBytes(of: entry.number.littleEndian) { bytes += $0 }
      return SHA256Digest.hash(bytes + [entry.kind] + entry.bytes)
    }
    func root(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
      if leaves.count < 2 { return leaves.first ?? SHA256Digest.hash([UInt8]()) }
      var left = 1
      while left * 2 < leaves.count { left *= 2 }
      return SHA256Digest.hash([1] + root(leaves.prefix(left)) + root(leaves.dropFirst(left)))
    }
    var bytes: [UInt8] = [2] + header.logID.bytes + Array(header.stream.utf8)
    bytes += [UInt8](repeating: 0, count: 16 - header.stream.utf8.count)
    let last = header.firstNumber + UInt64(entries.count) - 1
    for number in [header.ordinal, header.firstNumber, last] {
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
    return SHA256Digest.hash(bytes + root(leaves[...]) + before)
  }

  @Test func `each header names the chain value of all before, also of an earlier life`() throws {
    let harness = try threeLives()
    var isUnsealedMet = false
    for stream in ["feed", "outbox"] {
      var before = [UInt8](repeating: 0, count: 32)
      let reports = try ChainOracle.reports(harness.path, harness.disk, streams: [stream])
      #expect(reports.count >= 3)
      for report in reports {
        #expect(report.findings == [])
        let header = try #require(report.header)
        #expect((header.predecessor?.chain ?? .zero).digest.bytes == before, "\(report.file)")
        let entries = report.frames.flatMap { report.entries(of: $0) }
        before = value(header, entries, before: before)
        guard let frame = report.sealFrame else {
          isUnsealedMet = true
          continue
        }
        let seal = try Seal(bytes: frame.payload[...])
        #expect(seal.chain.digest.bytes == before)
        #expect(seal.count == UInt64(entries.count))
        #expect(seal.firstNumber == header.firstNumber)
        #expect(seal.lastNumber == entries.last?.number ?? header.firstNumber - 1)
        let bytes = harness.disk.content(of: "\(harness.path)/\(report.file)") ?? []
        #expect(seal.digest.bytes == SHA256Digest.hash(bytes[..<frame.offset]))
        let clock = entries.isEmpty ? 0 : LogHarness.clock
        #expect(seal.lowClock == clock && seal.highClock == clock)
        for place in seal.index {
          let found = report.frames.first { UInt64($0.offset) == place.offset }
          #expect(found?.header.firstNumber == place.number)
        }
        #expect(seal.index.first?.number == entries.first?.number)
      }
    }
    #expect(isUnsealedMet)
  }

  @Test func `a group that failed has no leaf`() throws {
    let disk = SimulatedDisk(seed: 4)
    let harness = LogHarness(disk: disk)
    let log = try harness.open().log
    try Self.append(log, "outbox", ["one"])
    try Self.append(log, "feed", ["a"])
    try Self.append(log, "feed", ["b"], isSynced: false)
    disk.set(.refuse([.sync], .other(5)))
    #expect(throws: LogError.self) { try Self.append(log, "outbox", ["refused"]) }
    #expect(throws: LogError.self) { try Self.append(log, "feed", ["refused"]) }
    disk.set(.none)
    try Self.append(log, "outbox", ["two"])
    try Self.append(log, "feed", ["c"])
    try log.close()
    #expect(try ChainOracle.problems(harness.path, disk) == [])
    #expect(try harness.replayed().map { String($0.suffix(5)) }.count == 5)
  }

  @Test(arguments: 1...3)
  func `files that were made and never written to are links of no entries`(count: Int) throws {
    let harness = try threeLives()
    for stream in ["feed", "outbox"] {
      let last = try #require(
        ChainOracle.reports(harness.path, harness.disk, streams: [stream]).last?.ordinal)
      for place in 1...UInt64(count) {
        let file = LogDirectory.file(of: stream, ordinal: last + place)
        harness.disk.put([], at: "\(harness.path)/\(file)")
      }
    }
    let log = try harness.open().log
    try Self.append(log, "outbox", ["behind"])
    try Self.append(log, "feed", ["behind"])
    try log.close()
    #expect(try ChainOracle.problems(harness.path, harness.disk) == [])
  }

  @Test func `a log says where its chains stand as far as they are durable`() throws {
    let harness = LogHarness(disk: SimulatedDisk(seed: 5))
    var log = try harness.open().log
    #expect(log.links == [])
    try Self.append(log, "feed", ["a"], isSynced: false)
    #expect(log.links == [])
    try Self.append(log, "feed", ["b"])
    let link = try #require(log.links.first)
    #expect(link.stream == "feed" && link.ordinal == 1)
    #expect(link.firstNumber == 1 && link.lastNumber == 2 && link.before == .zero)
    try Self.append(log, "feed", ["c"], isSynced: false)
    #expect(log.links == [link])
    try Self.append(log, "outbox", ["d"])
    #expect(log.links.map(\.lastNumber) == [2, 1])
    try log.markIdle()
    try log.close()
    let closed = log.links
    #expect(closed.map(\.lastNumber) == [3, 1])
    log = try harness.open().log
    #expect(log.links == closed)
    try Self.append(log, "feed", ["e"])
    #expect(log.links[0].before == closed[0].value)
    #expect(log.links[0].lastNumber == 4 && log.links[0].ordinal == 2)
    try log.close()
  }

  @Test func `a seal that is lost costs no entry, and its place is told`() throws {
    let harness = try threeLives()
    let reports = try ChainOracle.reports(harness.path, harness.disk, streams: ["outbox"])
    let sealed = try #require(reports.first { $0.sealFrame != nil })
    let frame = try #require(sealed.sealFrame)
    let path = "\(harness.path)/\(sealed.file)"
    var bytes = try #require(harness.disk.content(of: path))
    for offset in frame.offset..<frame.end { bytes[offset] = 0 }
    harness.disk.put(bytes, at: path)
    let after = try ChainOracle.reports(harness.path, harness.disk, streams: ["outbox"])
    let findings = after.flatMap(\.findings)
    #expect(findings.map(\.kind) == [.mark])
    #expect(findings.first?.message.contains("no entry is touched") == true)
    #expect(after.first { $0.file == sealed.file }?.verdict == .healed)
  }
}
