import DaybookFormat
import DaybookLog
import Foundation
import Testing

/// The lock of the real file system.
@Suite struct LockTests {
  /// A folder of the test's own, gone when `body` has ended.
  private func inFolder(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/lock-\(UUID())"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  private func open(_ path: String) throws(LogError) -> Log {
    let configuration = LogConfiguration(
      streams: [.feed, .outbox], account: "rep-7", random: { .random(in: .min ... .max) },
      clock: { HybridTime(rawValue: 1 << 16) }, idleMarkDelay: nil)
    return try Log.open(path, configuration) { _, _ in }
  }

  /// The process that holds the lock, as the error of opening `path` names it.
  private func holder(_ path: String) -> Int32? {
    do throws(LogError) {
      try open(path).close()
    } catch {
      if case .locked(_, let process) = error { return process ?? 0 }
    }
    return nil
  }

  @Test func `letting go twice does not give up the next holder's lock`() throws {
    try inFolder { folder in
      let path = folder + "/LOCK"
      let disk = SystemFileSystem()
      let first = try disk.lock(path)
      first.release()
      let second = try disk.lock(path)
      first.release()
      #expect(disk.isLocked(path))
      #expect(throws: FileError.self) { try disk.lock(path) }
      second.release()
      #expect(!disk.isLocked(path))
    }
  }

  @Test func `one process opens a log once, by whatever path`() throws {
    try inFolder { folder in
      let link = folder + "/link"
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: folder + "/log")
      let log = try open(folder + "/log")
      #expect(holder(folder + "/log") == getpid())
      #expect(holder(link) == getpid())
      #expect(holder(folder + "/./log") == getpid())
      try log.close()
      let again = try open(link)
      #expect(holder(folder + "/log") == getpid())
      try again.close()
      #expect(holder(link) == nil)
    }
  }

  @Test func `a lock file that is removed or replaced lets nobody in`() throws {
    try inFolder { folder in
      let log = try open(folder + "/log")
      _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [1])]])
      try FileManager.default.removeItem(atPath: folder + "/log/LOCK")
      #expect(holder(folder + "/log") == 0)
      try Data().write(to: URL(fileURLWithPath: folder + "/log/LOCK"))
      #expect(holder(folder + "/log") == 0)
      _ = try log.appendAndWait("outbox", [[NewEntry(kind: 1, bytes: [2])]])
      try log.close()
      #expect(holder(folder + "/log") == nil)
    }
  }
}
