import DaybookFormat
import DaybookLog
import DaybookTestKit
import Foundation
import Testing

/// What only the machine's own file system can show.
@Suite struct RealDiskTests {
  private func inFolder(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/real-\(UUID())"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func open(_ path: String) throws(LogError) -> (log: Log, found: SmallLog.Found) {
    var found = SmallLog.Found()
    let log = try Log.open(path, SmallLog.configuration(SystemFileSystem(), seed: 3)) {
      _, entry throws(LogError) in found.add(entry)
    }
    found.findings = log.findings
    return (log, found)
  }

  @Test func `offsets beyond 4 GiB are what they say`() throws {
    try inFolder { folder in
      let disk = SystemFileSystem()
      let file = try disk.create(folder + "/sparse")
      defer { file.close() }
      let far: UInt64 = 5 << 30
      try file.write([1, 2, 3], at: 7)
      try file.write([4, 5, 6], at: far + 7)
      try file.sync()
      #expect(try file.byteCount() == far + 10)
      #expect(try disk.attributes(of: folder + "/sparse")?.byteCount == far + 10)
      // An offset cut to 32 bits would lead to the first bytes.
      #expect(try file.read(at: 7, count: 3) == [1, 2, 3])
      #expect(try file.read(at: far + 7, count: 9) == [4, 5, 6])
      #expect(try file.read(at: 1 << 32, count: 2) == [0, 0])
      try file.truncate(to: far + 8)
      #expect(try file.read(at: far + 7, count: 9) == [4])
      try file.truncate(to: (1 << 32) + 1)
      #expect(try file.byteCount() == (1 << 32) + 1)
    }
  }

  @Test func `of a segment of 5 GiB all is read that can be ours, and its size is told`() throws {
    try inFolder { folder in
      let path = folder + "/log"
      let first = try open(path).log
      _ = try first.appendAndWait("outbox", [[SmallLog.entry("one")]])
      try first.close()
      let name = LogDirectory.file(of: "outbox", ordinal: 1)
      let file = try SystemFileSystem().open(path + "/" + name, writable: true)
      try file.truncate(to: 5 << 30)
      file.close()
      let (log, found) = try open(path)
      #expect(found.texts["outbox"] == ["one"])
      #expect(found.findings.contains { $0.kind == .fileSize && $0.file == name })
      try log.close()
    }
  }

  /// A small disk of its own for `body`; needs the right to mount one.
  private func onSmallDisk(_ byteCount: Int, _ body: (String) throws -> Void) throws {
    try inFolder { folder in
      func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
      }
      let options = ["-t", "tmpfs", "-o", "size=\(byteCount)", "tmpfs", folder]
      guard getuid() == 0, (try? run("/usr/bin/mount", options)) == 0 else {
        print("Skipped: a disk of \(byteCount) bytes can't be mounted here.")
        return
      }
      defer { _ = try? run("/usr/bin/umount", [folder]) }
      try body(folder)
    }
  }

  // F58, S68; a write that stores a part and then finds no room is short first.
  @Test func `a real disk that fills up loses nothing, and is written to again when it has room`()
    throws
  {
    try onSmallDisk(512 << 10) { folder in
      let ballast = folder + "/ballast"
      let (log, _) = try open(folder + "/log")
      var acknowledged: [String] = []
      var refusals = 0
      for round in 0..<4 {
        _ = FileManager.default.createFile(
          atPath: ballast, contents: Data(repeating: 1, count: 64 << 10))
        for index in 0..<40 {
          let text = Workload.long("\(round).\(index) ", 4_000)
          do throws(LogError) {
            _ = try log.appendAndWait("outbox", [[SmallLog.entry(text)]])
            acknowledged.append(text)
          } catch {
            refusals += 1
            switch error {
            case .diskFull: break
            case .notWritten(let cause): #expect(cause.reason == .diskFull)
            default: Issue.record(error)
            }
          }
        }
        try FileManager.default.removeItem(atPath: ballast)
      }
      #expect(refusals > 20)
      let text = Workload.long("last ", 4_000)
      _ = try log.appendAndWait("outbox", [[SmallLog.entry(text)]])
      acknowledged.append(text)
      try? log.close()
      let (again, found) = try open(folder + "/log")
      #expect(found.texts["outbox"] == acknowledged)
      #expect(found.findings == [])
      try? again.close()
    }
  }
}
