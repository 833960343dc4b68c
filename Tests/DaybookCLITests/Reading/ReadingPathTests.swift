import Foundation
import Testing

/// What the reading commands say of paths that lead to no log.
@Suite struct ReadingPathTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
    let manager = FileManager.default
    try manager.createDirectory(
      atPath: directory.path("empty"), withIntermediateDirectories: false)
    try manager.createDirectory(
      atPath: directory.path("other/pictures"), withIntermediateDirectories: true)
    try Data("hello".utf8).write(to: URL(filePath: directory.path("other/notes.txt")))
    try Data("hello".utf8).write(to: URL(filePath: directory.path("file")))
  }

  /// The words of each command, with DIR for the path.
  static let commands = [
    ["dump", "DIR"], ["dump", "DIR", "--record", "orders/1001"], ["outbox", "DIR"],
    ["history", "DIR", "orders/1001"], ["stat", "DIR", "--json"], ["verify", "DIR"],
  ]

  private func run(_ words: [String], _ path: String) async throws -> CommandRun.Outcome {
    try await CommandRun(words.map { $0 == "DIR" ? path : $0 }, in: directory.path).outcome()
  }

  @Test(arguments: commands)
  func `a path that leads to no log is status 14 and a remedy`(words: [String]) async throws {
    let messages = [
      "nowhere": "there is nothing at nowhere", "empty": "empty holds no log",
      "other": "other holds no log", "file": "file is a file, and a log is a directory",
      "file/inside": "file/inside is a file, and a log is a directory",
    ]
    for (path, message) in messages where path != "file/inside" {
      let run = try await run(words, path)
      #expect(run.status == 14, "\(words) \(path): \(run.errors)")
      #expect(run.output == "")
      #expect(run.errorLines.first == "daybook: \(message)")
      #expect(run.errorLines.count == 2)
    }
    #expect(try await run(words, "file/inside").status == 14)
  }

  @Test(arguments: commands)
  func `a newer format is status 11`(words: [String]) async throws {
    let path = directory.path("day/reps/07/FORMAT")
    try Data("daybook 2\n".utf8).write(to: URL(filePath: path))
    for stream in ["outbox", "feed"] {
      let segment = directory.path("day/reps/07/\(stream)/00000001.g0.dbs")
      try FileManager.default.removeItem(atPath: segment)
    }
    #expect(try await run(words, "day/reps/07").status == 11)
  }

  @Test(arguments: commands)
  func `damage is told on standard error and by status 12`(words: [String]) async throws {
    let file = LogFile(path: directory.path("day/reps/07/feed/00000001.g0.dbs"))
    try file.flip(8_300, bit: 1)
    let run = try await run(words, "day/reps/07")
    #expect(run.status == 12)
    let text = words[0] == "verify" ? run.output : run.errors
    #expect(text.contains("feed/00000001.g0.dbs, byte 8192: an acknowledged frame fails"))
    // Nothing of a record's contents is in an error.
    #expect(!run.errors.contains("cancelled"))
  }

  @Test(.enabled(if: getuid() != 0), arguments: commands)
  func `a log that may not be read is status 15`(words: [String]) async throws {
    let path = directory.path("day/reps/07")
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    let run = try await run(words, "day/reps/07")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    #expect(run.status == 15)
  }

  @Test func `bad arguments are status 2 and a sentence`() async throws {
    let refusals = [
      ["verify"]: "`DIR` is missing",
      ["history", "day/server"]: "`COLLECTION/ID` is missing",
      ["history", "day/server", "orders"]:
        "`COLLECTION/ID` needs a record as `COLLECTION/ID`, not `orders`",
      ["dump", "day/server", "--stream", "inbox"]:
        "`--stream` needs one of `outbox`, `feed`, `changes`, not `inbox`",
      ["dump", "day/reps/07", "--stream", "changes"]:
        "the log at day/reps/07 has no stream `changes`, but `outbox` and `feed`",
    ]
    for (words, message) in refusals {
      let run = try await run(words, "")
      #expect(run.status == 2, "\(words)")
      #expect(run.errorLines.first == "daybook: \(message)")
      #expect(run.output == "")
    }
  }

  @Test func `a server's log has no outbox, and the sentence says so`() async throws {
    let run = try await run(["outbox", "DIR"], "day/server")
    #expect(run.status == 14)
    #expect(
      run.errorLines.first == "daybook: day/server is a server's log, which has no outbox")
  }
}
