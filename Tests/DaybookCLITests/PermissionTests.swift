import Foundation
import Testing

/// A log of another user, seen by one who may not write to it. As root nothing is forbidden, so the
/// command runs as nobody.
@Suite struct PermissionTests {
  @Test func `a log that may only be read opens for reading, by a user without the right`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.path + "/foreign-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    guard getuid() == 0 else {
      print("Skipped: only root can run a command as somebody else.")
      return
    }
    let log = folder + "/log"
    let made = try await CommandRun("kill-writer", "--dir", log, "--round", "1", "--seed", "1")
      .outcome()
    #expect(made.lines.last == "closed")
    // The test's own program may be where nobody can go.
    let program = folder + "/daybook"
    try FileManager.default.copyItem(atPath: try CommandRun.executable().path, toPath: program)
    let size = try FileManager.default.subpathsOfDirectory(atPath: log).count
    let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", program]
    let (status, opened) = try await run(
      asNobody + ["kill-writer", "--dir", log, "--round", "2", "--seed", "2"])
    guard status != 126, status != 127 else {
      print("Skipped: setpriv or the program can't be run as nobody here.")
      return
    }
    #expect(opened.contains("opened"))
    #expect(opened.contains("failed notPermitted"))
    #expect(!opened.contains("2.0 "))
    let (verified, text) = try await run(asNobody + ["verify", log])
    let expected = try await CommandRun("verify", log).outcome()
    #expect(verified == expected.status)
    #expect(text.hasPrefix(expected.output))
    #expect(try FileManager.default.subpathsOfDirectory(atPath: log).count == size)

    // Nothing can be repaired there, and nothing is said to be.
    let file = LogFile(path: log + "/outbox/00000001.g0.dbs")
    var bytes = try file.bytes
    for offset in 8_192..<min(bytes.count, 24_576) { bytes[offset] = 0x5A }
    try file.write(bytes)
    let (refused, told) = try await run(asNobody + ["repair", log, "--apply"])
    #expect(refused == 15, "\(told)")
    #expect(told.contains("may not be read or written") && !told.contains("Repaired"), "\(told)")
    let (copied, words) = try await run(asNobody + ["backup", log, folder + "/copy"])
    #expect(copied == 15 && words.contains("may not be read or written"), "\(words)")
  }

  private func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    guard (try? process.run()) != nil else { return (127, "") }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }
}
