import DaybookLog
import Foundation
import Testing

/// `repair`, as it is typed.
@Suite struct RepairCommandTests {
  private let directory: TemporaryDirectory
  private let file = "outbox/00000001.g0.dbs"

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
  }

  private func spoil() throws -> [UInt8] {
    let file = LogFile(path: directory.path("day/reps/07/\(file)"))
    var bytes = try file.bytes
    for offset in 8_192..<bytes.count { bytes[offset] = 0x5A }
    try file.write(bytes)
    return bytes
  }

  @Test func `a whole log is left alone`() async throws {
    let run = try await directory.run("repair", "day/reps/07")
    #expect(run.lines == ["Nothing is damaged, so nothing was written."])
    #expect(!FileManager.default.fileExists(atPath: directory.path("day/reps/07.repaired")))
    let json = try await directory.run("repair", "day/reps/07", "--json")
    #expect(
      json.lines == [#"{"target":null,"damaged":0,"replaced":0,"actions":[],"whole":true}"#])
  }

  @Test func `a backup's file takes the place of a damaged one, beside the log or in it`()
    async throws
  {
    _ = try await directory.run("backup", "day/reps/07", "copy")
    let dump = try await directory.run("dump", "day/reps/07", "--at", "outbox:10").output
    let harmed = try spoil()
    let beside = try await directory.run("repair", "day/reps/07", "--from", "copy")
    #expect(beside.lines.contains("  taken from copy, where it is whole"))
    #expect(beside.lines.last?.hasSuffix("the damaged log is as it was.") == true)
    #expect(try LogFile(path: directory.path("day/reps/07/\(file)")).bytes == harmed)
    #expect(
      try await directory.run("dump", "day/reps/07.repaired", "--at", "outbox:10").output == dump)
    #expect(try await directory.run("verify", "day/reps/07.repaired").status == 0)

    _ = try await directory.run("repair", "day/reps/07", "--from", "copy", "--apply")
    #expect(try await directory.run("verify", "day/reps/07").status == 0)
    #expect(try await directory.run("dump", "day/reps/07", "--at", "outbox:10").output == dump)
  }

  @Test func `a misuse is told in a sentence`() async throws {
    _ = try spoil()
    let both = try await directory.run("repair", "day/reps/07", "--apply", "--to", "x", status: 2)
    #expect(both.errorLines.first?.contains("does not go with `--to`") == true)
    let full = try await directory.run("repair", "day/reps/07", "--to", "day", status: 2)
    #expect(full.errorLines.first?.contains("is not empty") == true)
    let none = try await directory.run("repair", "none", status: 14)
    #expect(none.errorLines.count == 2)
    let log = try SampleDay.openDevice(at: directory.path("used"))
    let used = try await directory.run("repair", "used", status: 13)
    #expect(used.errorLines.first?.contains("is open in") == true)
    try log.close()
  }
}
