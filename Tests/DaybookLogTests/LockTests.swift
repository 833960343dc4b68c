import DaybookLog
import Foundation
import Testing

/// The lock of the real file system.
@Suite struct LockTests {
  @Test func `letting go twice does not give up the next holder's lock`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/lock-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
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
