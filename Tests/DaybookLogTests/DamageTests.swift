import DaybookLog
import DaybookTestKit
import Testing

/// Single faults in every place of a small log, closed and as a crash leaves it.
@Suite struct DamageTests {
  static let steps: [Workload.Step] = [
    .open, .append("outbox", [["a1"]]), .append("feed", [["f1"], ["f2"]]), .idle,
    .append("outbox", [["b1"], ["b2"]]), .append("feed", [["g1"]]),
  ]

  static func log(_ steps: [Workload.Step]) -> (disk: SimulatedDisk, workload: Workload) {
    let disk = SimulatedDisk()
    var workload = Workload()
    workload.run(steps, on: disk)
    return (disk.crashed(.persisted, seed: 1), workload)
  }

  /// Debug builds look at every third place where that is enough to see a rule broken.
  #if DEBUG
    static let step = 3
  #else
    static let step = 1
  #endif

  private let closed = DamageTests.log(steps + [.close])
  private let unclosed = DamageTests.log(steps)
  private let marked = DamageTests.log(steps + [.idle])

  private func segments(_ disk: SimulatedDisk) -> [String] {
    disk.paths.filter { $0.hasSuffix(".dbs") }
  }

  private func name(_ path: String) -> String {
    String(path.dropFirst(SmallLog.directory.count + 1))
  }

  /// The bits that are flipped: all; in debug builds, of a run of zeros, one of each 32 bytes.
  private func bits(of bytes: [UInt8]) -> [Int] {
    #if DEBUG
      bytes.indices.flatMap { index in
        let around = bytes[max(0, index - 2)...min(bytes.count - 1, index + 2)]
        let isUsed = around.contains { $0 != 0 }
        if isUsed { return Array(index * 8..<index * 8 + 8) }
        return index % 32 == 0 ? [index * 8 + index / 32 % 8] : []
      }
    #else
      Array(0..<bytes.count * 8)
    #endif
  }

  /// Nothing strange, nothing of the outbox lost, nothing of the feed lost in silence.
  private func complaint(_ found: SmallLog.Found, _ workload: Workload) -> String? {
    if found.texts["outbox"] != workload.attempted["outbox"] { return "the outbox changed" }
    let feed = found.texts["feed"] ?? []
    let written = workload.attempted["feed"] ?? []
    if !written.starts(with: feed) { return "the feed changed" }
    if feed.count < written.count, found.findings.isEmpty { return "lost in silence" }
    return nil
  }

  private func flip(
    _ log: (disk: SimulatedDisk, workload: Workload), mustBeTold: Bool
  ) throws {
    let disk = log.disk.crashed(.killed, seed: 0)
    for path in segments(disk) {
      let bytes = try #require(disk.content(of: path))
      for bit in bits(of: bytes) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << (bit % 8)
        disk.put(flipped, at: path)
        let found = try SmallLog.inspect(disk)
        if let complaint = complaint(found, log.workload) {
          Issue.record("\(name(path)), bit \(bit): \(complaint) \(found.findings)")
        }
        if mustBeTold, !found.damage.contains(where: { $0.file == name(path) }) {
          Issue.record("\(name(path)), bit \(bit) is not told: \(found.findings)")
        }
      }
      disk.put(bytes, at: path)
    }
  }

  @Test func `every flipped bit of a closed log is told and costs the outbox nothing`() throws {
    #expect(try SmallLog.inspect(closed.disk).findings == [])
    try flip(closed, mustBeTold: true)
  }

  @Test func `every flipped bit of a log that was not closed costs the outbox nothing`() throws {
    try flip(unclosed, mustBeTold: false)
    try flip(marked, mustBeTold: false)
  }

  @Test func `a log with a flipped bit opens, and goes on`() throws {
    for path in segments(closed.disk) {
      let bytes = try #require(closed.disk.content(of: path))
      for offset in bytes.indices where bytes[offset] != 0 && offset % Self.step == 0 {
        let disk = closed.disk.crashed(.killed, seed: 0)
        var flipped = bytes
        flipped[offset] ^= 1 << (offset % 8)
        disk.put(flipped, at: path)
        let (log, found) = try SmallLog.open(disk, seed: 5)
        #expect(complaint(found, closed.workload) == nil, "\(name(path)), byte \(offset)")
        #expect(found.damage.contains { $0.file == name(path) })
        _ = try log.appendAndWait("outbox", [[SmallLog.entry("more")]])
        try log.close()
        #expect(disk.content(of: path) == flipped)
      }
    }
  }

  // F43, promise 3
  @Test func `every page of zeros costs the outbox nothing`() throws {
    for log in [closed, unclosed, marked] {
      let disk = log.disk.crashed(.killed, seed: 0)
      for path in segments(disk) {
        let bytes = try #require(disk.content(of: path))
        for page in stride(from: 0, to: bytes.count, by: 4_096) {
          var zeroed = bytes
          for offset in page..<min(page + 4_096, bytes.count) { zeroed[offset] = 0 }
          disk.put(zeroed, at: path)
          let found = try SmallLog.inspect(disk)
          #expect(complaint(found, log.workload) == nil, "\(name(path)), page \(page)")
        }
        disk.put(bytes, at: path)
      }
    }
  }

  @Test func `a closed log cut at any length is told, or whole`() throws {
    let disk = closed.disk.crashed(.killed, seed: 0)
    for path in segments(disk) {
      let bytes = try #require(disk.content(of: path))
      for count in bytes.indices where count % Self.step == 0 || bytes[count] != 0 {
        disk.put(Array(bytes.prefix(count)), at: path)
        let found = try SmallLog.inspect(disk)
        let isTold = found.damage.contains { $0.file == name(path) }
        if !isTold { Issue.record("\(name(path)), \(count) bytes: \(found.findings)") }
      }
      disk.put(bytes, at: path)
    }
  }
}
