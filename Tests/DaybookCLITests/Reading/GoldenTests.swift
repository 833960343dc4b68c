import DaybookLog
import Foundation
import Testing

/// Logs of format version 1, committed once and never changed, with what the tools say of them.
/// All but ``Case/sealed`` and ``Case/entries`` are of writers before seals and the chain.
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
    /// Two lives, each segment sealed and chained to the one before.
    case sealed
    /// One of every kind of entry, with every kind of value.
    case entries

    var exitStatus: Int32 {
      switch self {
      case .device, .server, .compressed, .secondLife, .settled, .sealed, .entries: return 0
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
  ]

  @Test(arguments: Case.allCases)
  func `a golden log reads as it did, and one of today's writer is written so again`(
    _ golden: Case
  ) async throws {
    let kept = Self.folder.appending(path: golden.rawValue)
    let isNew = !FileManager.default.fileExists(atPath: kept.path)
    if golden == .sealed || golden == .entries {
      let directory = try TemporaryDirectory()
      let made = directory.path("log")
      if golden == .entries {
        try SampleDay.openDevice(at: made, SampleEntries.all).close()
      } else {
        try SampleDay.openDevice(at: made).close()
        try SampleDay.openDevice(at: made, [SampleDay.deviceEntries[10]]).close()
      }
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
}
