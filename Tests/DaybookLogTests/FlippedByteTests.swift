import DaybookFormat
import DaybookLog
import Foundation
import Testing

/// A small closed log on the real disk, hurt in one place at a time.
@Suite(.timeLimit(.minutes(3))) struct FlippedByteTests {
  private func makeLog(_ directory: String) throws {
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = 32 << 10
    let configuration = LogConfiguration(
      streams: [.feed, outbox], account: "rep-7", random: { 0x0123_4567_89AB_CDEF },
      clock: { HybridTime(Timestamp(milliseconds: 1)) }, idleMarkDelay: nil)
    let log = try Log.open(directory, configuration) { _, _ throws(LogError) in }
    _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: Array("first".utf8))]])
    _ = try log.appendAndWait("feed", [[NewEntry(kind: 16, bytes: Array("pulled".utf8))]])
    try log.markIdle()
    _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: Array("second".utf8))]])
    try log.close()
  }

  /// What reading finds, and the entries of both streams.
  private func read(
    _ directory: String
  ) throws -> (findings: [LogFinding], outbox: [String], feed: [String]) {
    var outbox: [String] = []
    var feed: [String] = []
    let found = try LogDirectory(directory, fileSystem: SystemFileSystem())
    var replay = try LogReplay(found, streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in
      let text = String(decoding: entry.bytes, as: UTF8.self)
      if entry.stream == "outbox" { outbox.append(text) } else { feed.append(text) }
    }
    return (replay.findings, outbox, feed)
  }

  @Test func `a flipped bit is told with its file, and costs the outbox nothing`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/flip-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try makeLog(directory)
    let whole = try read(directory)
    #expect(whole.findings == [] && whole.outbox == ["first", "second"])
    for name in ["outbox/00000001.g0.dbs", "feed/00000001.g0.dbs"] {
      let file = URL(fileURLWithPath: "\(directory)/\(name)")
      let bytes = try Data(contentsOf: file)
      for offset in bytes.indices where bytes[offset] != 0 || offset.isMultiple(of: 61) {
        var hurt = bytes
        hurt[offset] ^= 1 << UInt8(offset % 8)
        try hurt.write(to: file)
        let result = try? read(directory)
        let isTold = result?.findings.contains { $0.file == name && $0.kind != .tornTail }
        #expect(isTold == true, "byte \(offset) of \(name)")
        #expect(result?.outbox == ["first", "second"], "byte \(offset) of \(name)")
      }
      try bytes.write(to: file)
    }
  }

  @Test func `a closed log cut at any length is told, or has lost no entry`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/cut-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try makeLog(directory)
    for name in ["outbox/00000001.g0.dbs", "feed/00000001.g0.dbs"] {
      let file = URL(fileURLWithPath: "\(directory)/\(name)")
      let bytes = try Data(contentsOf: file)
      for count in stride(from: 0, to: bytes.count, by: 37) {
        try bytes.prefix(count).write(to: file)
        let result = try? read(directory)
        let isTold = result?.findings.contains { $0.kind != .tornTail }
        let isWhole = result?.outbox == ["first", "second"] && result?.feed == ["pulled"]
        #expect(isTold == true || isWhole, "\(name) cut at \(count)")
      }
      try bytes.write(to: file)
    }
  }
}
