import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What stands behind the last acknowledged entry, files that are none of the log, and `FORMAT`.
@Suite struct TailTests {
  /// The last outbox segment with `noise` where the next group would begin.
  private func torn(_ noise: [UInt8]) throws -> (log: WoundedLog, path: String) {
    let log = WoundedLog()
    let file = try #require(log.files("outbox").last)
    let end = LogLayout.align(
      try #require(try log.frames(file).map(\.end).max()), to: LogLayout.pageByteCount)
    var bytes = try log.content(file)
    bytes.replaceSubrange(end..<end + noise.count, with: noise)
    log.disk.put(bytes, at: WoundedLog.path(file))
    return (log, WoundedLog.path(file))
  }

  // F1, F2, F14, F15, F19
  @Test func `a torn tail is no damage, is kept aside once, and hides nothing that follows`()
    throws
  {
    let noise = SplitMix64.bytes(3_000, seed: 5)
    let (log, path) = try torn(noise)
    let content = log.disk.content(of: path)
    let (first, found) = try SmallLog.open(log.disk, seed: 2)
    #expect(found.places == WoundedLog.all)
    #expect(first.damage.found == [] && first.damage.known == [])
    #expect(first.damage.evidence.count == 2)
    let kept = try #require(log.quarantine.first { $0.hasSuffix(".bytes") })
    #expect(log.disk.content(of: kept) == noise)
    _ = try first.appendAndWait("outbox", [[SmallLog.entry("later")]])
    try first.close()
    #expect(log.disk.content(of: path) == content)
    let (second, again) = try SmallLog.open(log.disk, seed: 3)
    #expect(again.places == WoundedLog.all.union(["outbox:7 later"]))
    #expect(second.damage.evidence == [])
    try second.close()
  }

  // F9: zeros to the end are no tail; zeros and then data are one
  @Test func `data behind zeros is a tail`() throws {
    let (log, _) = try torn([UInt8](repeating: 0, count: 2_048) + [1, 2, 3])
    let (opened, found) = try SmallLog.open(log.disk, seed: 2)
    #expect(found.places == WoundedLog.all)
    #expect(opened.damage.evidence.count == 2)
    try opened.close()
  }

  // F11, F7, F8
  @Test func `empty files and zeros are a normal state, and nothing is kept of them`() throws {
    let log = WoundedLog()
    log.disk.put([], at: WoundedLog.path("feed/00000009.g0.dbs"))
    log.disk.put([UInt8](repeating: 0, count: 9_000), at: WoundedLog.path("outbox/00000009.g0.dbs"))
    for seed in UInt64(2)...4 {
      let (opened, found) = try SmallLog.open(log.disk, seed: seed)
      #expect(found.places.isSuperset(of: WoundedLog.all.filter { $0.hasPrefix("outbox") }))
      try opened.close()
    }
    #expect(!log.quarantine.contains { log.disk.content(of: $0) == [] })
  }

  // F55
  @Test func `a frame of a length beyond the file is a tail and never an error`() throws {
    let log = WoundedLog()
    let file = try #require(log.files("outbox").last)
    let frame = try #require(try log.frames(file).first)
    var header = try log.content(file)[frame.offset..<frame.offset + FrameHeader.byteCount]
    for offset in 12..<16 { header[frame.offset + offset] = 0xFF }
    let (damaged, _) = try torn(Array(header))
    let (opened, found) = try SmallLog.open(damaged.disk, seed: 2)
    #expect(found.places == WoundedLog.all)
    #expect(opened.damage.found == [])
    try opened.close()
  }

  // S66: a first segment that is empty or prepared anew hides none that follow
  @Test func `a segment that became zeros is missed, and those behind it count`() throws {
    let log = WoundedLog()
    let file = log.files("outbox")[0]
    log.disk.put(
      [UInt8](repeating: 0, count: try log.content(file).count), at: WoundedLog.path(file))
    let (opened, found) = try SmallLog.open(log.disk, seed: 2)
    #expect(opened.damage.lost["outbox"] == [1...4])
    #expect(found.places.isSuperset(of: ["outbox:5 o5", "outbox:6 o6"]))
    try opened.close()
  }

  @Test func `a segment of another log is told and counts for nothing`() throws {
    let log = WoundedLog()
    let disk = SimulatedDisk()
    var workload = Workload()
    workload.run(WoundedLog.steps, on: disk, seed: 77)
    let file = log.files("outbox")[0]
    let foreign = try #require(disk.content(of: WoundedLog.path(file)))
    log.disk.put(foreign, at: WoundedLog.path(file))
    let (opened, found) = try SmallLog.open(log.disk, seed: 2)
    #expect(opened.damage.found.map(\.kind) == [.foreign])
    #expect(opened.damage.lost["outbox"] == [1...4])
    #expect(found.places == WoundedLog.wounds[2].left)
    try opened.close()
  }

  @Test func `no flipped bit of FORMAT keeps a log from opening`() throws {
    let whole = WoundedLog()
    let path = WoundedLog.path("FORMAT")
    let bytes = try #require(whole.disk.content(of: path))
    for bit in 0..<bytes.count * 8 {
      let log = whole.copy
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      log.disk.put(flipped, at: path)
      let (opened, found) = try SmallLog.open(log.disk, seed: 2)
      #expect(found.places == WoundedLog.all, "bit \(bit)")
      #expect(opened.damage.found == [], "bit \(bit)")
      try opened.close()
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a file damaged in ten thousand places is judged in good time`() throws {
    let disk = SimulatedDisk()
    var configuration = SmallLog.configuration(disk)
    configuration.streams[0].segmentByteLimit = 8 << 20
    let log = try Log.open(SmallLog.directory, configuration) { _, _ in }
    for number in 0..<20_000 {
      _ = try log.appendAndWait("feed", [[SmallLog.entry("\(number)")]], isSynced: false)
    }
    try log.close()
    let path = WoundedLog.path("feed/00000001.g0.dbs")
    var bytes = try #require(disk.content(of: path))
    for frame in SegmentScan(bytes).frames where frame.header.frameNumber % 2 == 1 {
      bytes[frame.offset + 84] ^= 1
    }
    disk.put(bytes, at: path)
    let found = try SmallLog.inspect(disk)
    #expect(found.damage.count > 9_000)
    #expect(found.texts["feed"] == ["0"])
  }
}
