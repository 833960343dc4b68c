import DaybookLog
import Foundation
import Testing

/// What `backup`, `restore` and `repair` say where something is missing or can't be done.
@Suite struct CopySentenceTests {
  private let directory: TemporaryDirectory
  private let log = "day/reps/07"

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
  }

  private func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: directory.path("\(log)/\(name)"))
  }

  @Test func `a restore up to a place behind the end says where the log ends, as dump does`()
    async throws
  {
    let restored = try await directory.run("restore", log, "all", "--until", "outbox:999999")
    let dumped = try await directory.run("dump", log, "--at", "outbox:999999")
    #expect(restored.errorLines == ["The log ends at outbox:10."])
    #expect(restored.errorLines == dumped.errorLines)
    #expect(
      try await directory.run("restore", log, "end", "--until", "outbox:10").errorLines.isEmpty)
  }

  @Test func `a log without any segment is neither backed up nor restored`() async throws {
    for name in ["outbox/00000001.g0.dbs", "feed/00000001.g0.dbs", "HEAD"] { try remove(name) }
    for command in ["backup", "restore"] {
      let refused = try await directory.run(command, log, "copy", status: 12)
      #expect(refused.errorLines.first?.contains("has no segment") == true)
      #expect(refused.output.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: directory.path("copy")))
    }
  }

  @Test(arguments: [[], ["HEAD"]])
  func `a log that has lost its outbox is not called whole`(others: [String]) async throws {
    for name in ["outbox"] + others { try remove(name) }
    let backup = try await directory.run("backup", log, "copy", status: 12)
    #expect(backup.lines.last == "copy is not whole, like the log itself.")
    let restore = try await directory.run("restore", log, "again", status: 12)
    #expect(restore.errors.contains("acknowledged entries are missing"))
    #expect(restore.errorLines.last?.hasPrefix("What stands behind the damage") == true)
  }

  @Test func `a restore that leaves nothing out does not say that it does`() async throws {
    // One copy of the header: the other stands in.
    let file = LogFile(path: directory.path("\(log)/outbox/00000001.g0.dbs"))
    var bytes = try file.bytes
    for offset in 0..<512 { bytes[offset] = 0 }
    try file.write(bytes)
    let run = try await directory.run("restore", log, "again", status: 12)
    #expect(run.lines.first?.contains("up to outbox:10 and feed:6") == true)
    #expect(run.errorLines.last?.hasPrefix("Every entry that the copy gives is in it.") == true)
  }

  @Test func `a server's log that goes on refusing writes is not called repaired`() async throws {
    let file = LogFile(path: directory.path("day/server/changes/00000001.g0.dbs"))
    var bytes = try file.bytes
    for offset in 8_336..<8_400 { bytes[offset] = 0x5A }
    try file.write(bytes)
    let place = try await directory.run("repair", "day/server", "--apply", status: 12)
    #expect(!place.output.contains("Repaired"), "\(place.output)")
    #expect(place.errors.contains("was not repaired"), "\(place.errors)")
  }

  @Test func `a directory in the place of a file is named as such`() async throws {
    let anchor = try await directory.run("verify", "--anchor", "day", log, status: 2)
    #expect(anchor.errorLines.first?.hasSuffix("day is a directory, and a file is meant") == true)
    try FileManager.default.createDirectory(
      atPath: directory.path("copy/LOCK"), withIntermediateDirectories: true)
    let lock = try await directory.run("backup", log, "copy", status: 2)
    let words = "copy/LOCK is a directory, and a file is meant"
    #expect(lock.errorLines.first?.hasSuffix(words) == true)
  }
}
