import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What one wrong bit, or a file that is too short, does to a log that was closed.
@Suite struct SettledTailTests {
  /// A closed log with every kind of bytes: header copies, frames, compressed frames, echoes,
  /// padding, idle and closing marks, and in both streams a segment that a power cut left torn,
  /// settled by the next.
  private static func makeLog(seed: UInt64 = 0) throws -> (log: LogHarness, entries: [String]) {
    var harness = LogHarness(disk: SimulatedDisk(seed: 5))
    harness.streams[1].segmentByteLimit = 48 << 10
    let first = try harness.open()
    _ = try first.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: Array("one".utf8))]])
    _ = try first.log.appendAndWait(
      "feed", [[NewEntry(kind: 16, bytes: [UInt8](repeating: 7, count: 1500))]])
    try first.log.markIdle()
    _ = try first.log.appendAndWait("feed", [[NewEntry(kind: 16, bytes: Array("two".utf8))]])
    _ = try first.log.appendAndWait("outbox", [[NewEntry(kind: 2, bytes: Array("two".utf8))]])
    // A write that never finishes, in both streams.
    let torn = SplitMix64.bytes(900, seed: 2)
    harness.disk.set(.stop(at: harness.disk.callCount + 2))
    _ = try? first.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: torn)]])
    harness = LogHarness(
      disk: harness.disk.crashed(.tornSectors, seed: seed), streams: harness.streams)
    let second = try harness.open()
    _ = try second.log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: Array("six".utf8))]])
    try second.log.close()
    return (harness, try harness.replayed())
  }

  @Test(arguments: 0..<12)
  func `a closed log is whole, whatever a power cut left of its last write`(seed: Int) throws {
    let (harness, _) = try Self.makeLog(seed: UInt64(seed))
    let verdicts = Set(try harness.reports().map(\.verdict))
    #expect(verdicts.isSubset(of: [.clean, .settled]), "seed \(seed)")
  }

  @Test func `a closed log is whole`() throws {
    let (harness, entries) = try Self.makeLog()
    let verdicts = try harness.reports().map { "\($0.file) \($0.verdict)" }
    #expect(
      verdicts == [
        "feed/00000001.g0.dbs clean", "feed/00000002.g0.dbs clean",
        "outbox/00000001.g0.dbs settled", "outbox/00000002.g0.dbs clean",
      ])
    #expect(entries.count == 5)
  }

  @Test func `every flipped bit of a closed log is seen and loses nothing in silence`() throws {
    let (harness, entries) = try Self.makeLog()
    for path in harness.segments {
      let bytes = try #require(harness.disk.content(of: path))
      let file = String(path.dropFirst(LogHarness.directory.count + 1))
      for (offset, bit) in Self.flips(of: bytes) {
        var changed = bytes
        changed[offset] ^= 1 << bit
        harness.disk.put(changed, at: path)
        let place = "\(file), byte \(offset), bit \(bit)"
        let bad = try harness.reports().filter(\.isDamage)
        #expect(bad.contains { $0.file == file }, "\(place)")
        let isNear = bad.flatMap(\.findings).contains { finding in
          // What a later header settled has one checksum from its start to the file's end.
          finding.file == file && finding.offset <= UInt64(offset)
            && (finding.kind == .settledTail || UInt64(offset) - finding.offset < 8192)
        }
        #expect(isNear, "\(place): \(bad.flatMap(\.findings).map(\.message))")
      }
      harness.disk.put(bytes, at: path)
    }
    #expect(try harness.replayed() == entries)
  }

  /// One bit of every byte where there is something, all bits of every fourth, and a sample of the
  /// zeros, which are all alike.
  private static func flips(of bytes: [UInt8]) -> [(offset: Int, bit: Int)] {
    var flips: [(Int, Int)] = []
    for (offset, byte) in bytes.enumerated() {
      let isBusy = byte != 0 || (offset > 0 && bytes[offset - 1] != 0)
      if isBusy, offset % 4 == 0 { flips += (0..<8).map { (offset, $0) } }
      if isBusy || offset % 61 == 0 { flips.append((offset, offset % 8)) }
    }
    return flips
  }

  @Test func `opening after a flipped bit shows every entry or says which are lost`() throws {
    let (harness, entries) = try Self.makeLog()
    for path in harness.segments {
      let bytes = try #require(harness.disk.content(of: path))
      let isOutbox = path.contains("outbox")
      for (offset, bit) in Self.flips(of: bytes) where bit == offset % 8 {
        var changed = bytes
        changed[offset] ^= 1 << bit
        harness.disk.put(changed, at: path)
        let disk = harness.disk.crashed(.killed, seed: 1)
        let opened = try LogHarness(disk: disk, streams: harness.streams).open()
        let place = "\(path), byte \(offset), bit \(bit)"
        #expect(!opened.log.findings.isEmpty, "\(place)")
        if let cut = opened.log.damage.cut["feed"] {
          #expect(!isOutbox, "\(place): the second copy stands in")
          let whole = entries.filter { entry in
            !entry.hasPrefix("feed:")
              || (UInt64(entry.dropFirst(5).prefix { $0 != " " }) ?? 0) < cut
          }
          #expect(opened.entries.sorted() == whole.sorted(), "\(place)")
        } else {
          #expect(opened.entries == entries, "\(place)")
        }
        try opened.log.close()
      }
      harness.disk.put(bytes, at: path)
    }
  }

  @Test func `a closed file cut at any byte is seen`() throws {
    let (harness, entries) = try Self.makeLog()
    for path in harness.segments {
      let bytes = try #require(harness.disk.content(of: path))
      for end in bytes.indices {
        let isBusy = bytes[end] != 0 || (end > 0 && bytes[end - 1] != 0)
        guard isBusy || end % 61 == 0 else { continue }
        harness.disk.put(Array(bytes[..<end]), at: path)
        let bad = try harness.reports().filter(\.isDamage)
        #expect(!bad.isEmpty, "\(path) cut at \(end)")
      }
      harness.disk.put(bytes, at: path)
    }
    #expect(try harness.replayed() == entries)
  }

  @Test func `a segment that is gone is missed`() throws {
    let (harness, _) = try Self.makeLog()
    for path in harness.segments {
      let bytes = try #require(harness.disk.content(of: path))
      harness.disk.drop(path)
      let missing = try harness.reports().filter { $0.verdict == .missing }
      let file = String(path.dropFirst(LogHarness.directory.count + 1))
      #expect(missing.map(\.file) == [file])
      let disk = harness.disk.crashed(.killed, seed: 1)
      let opened = try LogHarness(disk: disk, streams: harness.streams).open()
      #expect(!opened.log.isReadOnly)
      #expect(opened.log.damage.found.map(\.file) == [file])
      try opened.log.close()
      harness.disk.put(bytes, at: path)
    }
  }

  @Test func `no zeroed page takes an acknowledged outbox entry`() throws {
    let (harness, entries) = try Self.makeLog()
    let wanted = entries.filter { $0.hasPrefix("outbox") }
    for path in harness.segments {
      let bytes = try #require(harness.disk.content(of: path))
      for page in stride(from: 0, to: bytes.count, by: 4096) {
        var changed = bytes
        for offset in page..<min(page + 4096, bytes.count) { changed[offset] = 0 }
        harness.disk.put(changed, at: path)
        let disk = harness.disk.crashed(.killed, seed: 1)
        let opened = try LogHarness(disk: disk, streams: harness.streams).open()
        let found = opened.entries.filter { $0.hasPrefix("outbox") }
        #expect(found == wanted, "\(path), page at \(page)")
        try opened.log.close()
      }
      harness.disk.put(bytes, at: path)
    }
  }
}
