import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What a compaction made and what it was made of, both damaged: what is in either is given.
@Suite struct DamagedOutputTests {
  private let whole: CompactedLog

  init() throws { whole = try CompactedLog() }

  private var files: [StreamFile] { whole.outcome.inputs }

  private func lost(_ findings: [LogFinding]) -> [ClosedRange<UInt64>] {
    findings.filter(\.isLoss).compactMap(\.lost)
  }

  @Test func `inputs that are left give all that a cut output does not`() throws {
    #expect(files.count > 3)
    for missing in files {
      for part in 1..<6 {
        let log = whole.copied()
        let bytes = try #require(log.disk.content(of: log.output))
        log.disk.put(Array(bytes.prefix(bytes.count * part / 6)), at: log.output)
        log.disk.drop(log.path(missing))
        try log.check(files.filter { $0 != missing }, "\(missing.file) \(part)")
      }
    }
  }

  @Test func `a zeroed page of an output loses nothing, whatever input is gone or damaged`() throws
  {
    for page in 0..<(whole.outputByteCount + 4_095) / 4_096 {
      for (place, input) in files.enumerated() where place % 2 == page % 2 {
        let log = whole.copied()
        log.zero(log.output, page: page)
        if page % 4 < 2 {
          log.disk.drop(log.path(input))
        } else {
          log.disk.put(Array(repeating: 7, count: 20_000), at: log.path(input))
        }
        let (numbers, findings) = try log.read()
        #expect(lost(findings) == [], "\(page) \(input.file)")
        #expect(Set(numbers).isSuperset(of: log.kept), "\(page) \(input.file)")
        try log.check(files.filter { $0 != input }, "\(page) \(input.file)")
      }
    }
  }

  @Test func `an output that is gone but for its header is what its inputs are`() throws {
    for damaged in files {
      let log = whole.copied()
      let bytes = try #require(log.disk.content(of: log.output))
      log.disk.put(Array(bytes.prefix(8_192)), at: log.output)
      let input = log.path(damaged)
      log.disk.put(try #require(log.disk.content(of: input)).dropLast(9_000), at: input)
      try log.check(files.filter { $0 != damaged }, "\(damaged.file)")
      let (_, findings) = try log.read()
      #expect(findings.contains { $0.kind == .standIn && $0.file == log.outcome.output.file })
    }
  }

  @Test func `what an output and all its inputs have lost is named, and no more`() throws {
    let log = whole.copied()
    let bytes = try #require(log.disk.content(of: log.output))
    log.disk.put(Array(bytes.prefix(8_192)), at: log.output)
    let gone = files[1]
    log.disk.drop(log.path(gone))
    let (_, findings) = try log.read()
    let numbers = try #require(log.inputs[gone])
    #expect(lost(findings) == [try #require(numbers.min())...(try #require(numbers.max()))])
  }

  @Test(arguments: [0, 4_096, 30_000])
  func `a file without a header hides nothing, whatever its name covers`(count: Int) throws {
    let disk = SimulatedDisk(seed: 2)
    let log = try SmallLog.open(disk).log
    for group in 0..<24 {
      _ = try log.appendAndWait(
        "outbox", [[SmallLog.entry("a\(group)" + String(repeating: "-", count: 3_000))]])
    }
    try log.close()
    let before = try SmallLog.inspect(disk)
    #expect(before.damage == [])
    let name = "outbox/00000001-00000099.g1.dbs"
    disk.put([UInt8](repeating: 5, count: count), at: "\(SmallLog.directory)/\(name)")
    let found = try SmallLog.inspect(disk)
    #expect(found.texts == before.texts)
    #expect(found.damage.map { "\($0.kind) \($0.file)" } == ["standIn \(name)"])
    // The damage is known from now on, and new segments follow the old ones.
    for round in 0..<3 {
      let (again, opened) = try SmallLog.open(disk, seed: UInt64(round) + 5)
      #expect(opened.texts["outbox"]?.prefix(24) == before.texts["outbox"]?.prefix(24))
      #expect(opened.texts["outbox"]?.count == 24 + round)
      #expect(again.damage.found.count == (round == 0 ? 1 : 0))
      _ = try again.appendAndWait("outbox", [[SmallLog.entry("more\(round)")]])
      try again.close()
    }
    #expect(!disk.paths.contains { $0.contains("/00000100") })
  }

  @Test func `a lost proof costs no entry, and is told in one line`() throws {
    let log = try CompactedLog { _ in false }
    #expect(log.kept.isEmpty)
    for file in log.outcome.inputs { log.disk.drop(log.path(file)) }
    for page in 2..<(log.outputByteCount + 4_095) / 4_096 {
      let damaged = log.copied()
      damaged.zero(damaged.output, page: page)
      let (_, findings) = try damaged.read()
      #expect(lost(findings) == [], "\(page)")
      #expect(findings.count == 1, "\(page): \(findings.map(\.message))")
    }
  }
}
