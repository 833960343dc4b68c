import DaybookFormat
import DaybookLog
import Foundation
import Testing

/// Logs of format version 1, committed once and never changed, with what the tools say of them.
///
/// Each case is a folder `Fixtures/format-1/CASE` with the log in `log`, the last lines of `daybook
/// dump --json` in `dump.jsonl` and of `daybook verify --json` in `verify.jsonl`. A new case is
/// written by running this suite once with `DAYBOOK_NEW_GOLDENS=1`; one that is there is left
/// alone.
@Suite struct GoldenTests {
  enum Case: String, CaseIterable {
    /// A device's log, closed: operations, settlements, a departure, changes, cursors.
    case device
    /// A server's log, closed.
    case server
    /// A frame that is compressed.
    case compressed
    /// A second life: the first segment closed, the next one too.
    case secondLife = "second-life"
    /// A copy of a frame fails its checks; its echo stands in.
    case healed
    /// A frame and its echo fail their checks.
    case damaged
    /// A write that did not finish.
    case torn
    /// The same, settled by the segment of a second life.
    case settled

    var exitStatus: Int32 {
      switch self {
      case .device, .server, .compressed, .secondLife, .settled: return 0
      case .torn: return 10
      case .healed, .damaged: return 12
      }
    }
  }

  private static let folder = URL(filePath: #filePath)
    .appending(path: "../../../../Fixtures/format-1").standardizedFileURL
  private static let outbox = "outbox/00000001.g0.dbs"
  private static let files = [
    "FORMAT", "HEAD", outbox, "outbox/00000002.g0.dbs", "feed/00000001.g0.dbs",
    "feed/00000002.g0.dbs",
    "changes/00000001.g0.dbs",
  ]

  @Test(arguments: Case.allCases)
  func `a golden log reads as it did, and writing it again gives the same bytes`(
    _ golden: Case
  ) async throws {
    let directory = try TemporaryDirectory()
    let made = directory.path("log")
    try make(golden, at: made, directory)
    let kept = Self.folder.appending(path: golden.rawValue)
    let isNew = !FileManager.default.fileExists(atPath: kept.path)
    if isNew {
      try #require(
        ProcessInfo.processInfo.environment["DAYBOOK_NEW_GOLDENS"] != nil,
        "\(golden.rawValue) is missing")
      try keep(made, in: kept.appending(path: "log"))
    }
    for name in Self.files {
      let there = try? Data(contentsOf: kept.appending(path: "log/\(name)"))
      let again = try? Data(contentsOf: URL(filePath: "\(made)/\(name)"))
      #expect(there == again, "\(name) of \(golden.rawValue)")
    }
    for command in ["dump", "verify"] {
      let run = try await CommandRun([command, "log", "--json"], in: kept.path).outcome()
      #expect(run.status == golden.exitStatus, "\(command): \(run.errors)")
      let file = kept.appending(path: "\(command).jsonl")
      if isNew { try Data(run.output.utf8).write(to: file) }
      #expect(try String(contentsOf: file, encoding: .utf8) == run.output, "\(command)")
    }
  }

  /// Copies the files of a case, without `LOCK`, which names a process.
  private func keep(_ made: String, in folder: URL) throws {
    for name in Self.files {
      let from = URL(filePath: "\(made)/\(name)")
      guard FileManager.default.fileExists(atPath: from.path) else { continue }
      let to = folder.appending(path: name)
      try FileManager.default.createDirectory(
        at: to.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: from, to: to)
    }
  }

  private func make(_ golden: Case, at path: String, _ directory: TemporaryDirectory) throws {
    switch golden {
    case .device: try SampleDay.openDevice(at: path).close()
    case .server: try server(path, SampleDay.serverEntries)
    case .compressed:
      let note = String(repeating: "the same words again, ", count: 200)
      let long = SampleDay.change(
        101, 3, Version(number: 3, mark: 3), seen: 2, made: SampleDay.time(12, 0),
        taken: SampleDay.time(12, 0), action: .patch, extent: .delta, by: "office", on: "desk-1",
        fields: ["note": .text(note)])
      try server(
        path, SampleDay.serverEntries + [("changes", SampleDay.time(12, 0), [.change(long)])])
    case .secondLife:
      try SampleDay.openDevice(at: path).close()
      try SampleDay.openDevice(at: path, [SampleDay.deviceEntries[10]]).close()
    case .healed, .damaged:
      try SampleDay.openDevice(at: path).close()
      let file = LogFile(path: "\(path)/\(Self.outbox)")
      try file.flip(8_192 + 100, bit: 3)
      if golden == .damaged { try file.flip(12_288 + 100, bit: 3) }
    case .torn: try tear(path, directory)
    case .settled:
      try tear(path, directory)
      try SampleDay.openDevice(at: path, [SampleDay.deviceEntries[10]]).close()
    }
  }

  private func server(
    _ path: String, _ entries: [(stream: String, time: Timestamp, entries: [Entry])]
  ) throws {
    try SampleDay.write(entries, to: path, streams: [.changes], account: "").close()
  }

  /// The device's log as a crash leaves it in the middle of its last write, without the zeros
  /// behind.
  private func tear(_ path: String, _ directory: TemporaryDirectory) throws {
    let log = try SampleDay.openDevice(at: directory.path("alive"))
    try FileManager.default.copyItem(atPath: directory.path("alive"), toPath: path)
    try log.close()
    for name in [Self.outbox, "feed/00000001.g0.dbs"] {
      let file = LogFile(path: "\(path)/\(name)")
      let frames = SegmentScan(try file.bytes).frames
      let last = try #require(frames.last { $0.header.kind == .batch })
      let end = name == Self.outbox ? last.offset + 150 : last.end
      try file.write(Array(try file.bytes.prefix(end)))
    }
  }
}
