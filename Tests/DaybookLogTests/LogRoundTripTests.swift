import DaybookFormat
import DaybookLog
import Foundation
import Testing

@Suite struct LogRoundTripTests {
  @Test func `what was appended is replayed after closing and opening again`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/log-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let configuration = LogConfiguration(
      streams: [.feed, .outbox], account: "rep-7", random: { .random(in: .min ... .max) },
      clock: { HybridTime(Timestamp(milliseconds: 1)) })
    for round in 0..<3 {
      var found: [String] = []
      let log = try Log.open(directory, configuration) { _, entry throws(LogError) in
        found.append(
          "\(entry.stream):\(entry.number) \(String(decoding: entry.bytes, as: UTF8.self))")
      }
      #expect(log.findings == [])
      var expected: [String] = []
      for past in 0..<round {
        expected.append("outbox:\(past + 1) made \(past)")
        expected.append("feed:\(past + 1) pulled \(past)")
      }
      #expect(found == expected)
      let first = try log.appendAndWait(
        "outbox", [[NewEntry(kind: 1, bytes: Array("made \(round)".utf8))]])
      #expect(first == UInt64(round + 1))
      _ = try log.appendAndWait(
        "feed", [[NewEntry(kind: 16, bytes: Array("pulled \(round)".utf8))]])
      try log.close()
    }
  }
}
