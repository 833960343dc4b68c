import DaybookLog
import DaybookTestKit
import Synchronization

/// The real disk, on which a test is asked before each sync of a file.
final class HookedDisk: ForwardingDisk {
  /// Called on the log's own thread with the file's path; may block, or throw in its place.
  typealias Hook = @Sendable (String) throws(FileError) -> Void

  /// A closure that is itself what a lock holds is wrapped once more by each look at it, until a
  /// call needs more than a thread's stack.
  private struct Held {
    var hook: Hook
  }

  let base: any FileSystem = SystemFileSystem()
  private let held = Mutex<Held?>(nil)
  private let count = Mutex(0)

  /// Decides from now on.
  func setHook(_ hook: Hook?) {
    held.withLock { $0 = hook.map { Held(hook: $0) } }
  }

  /// The syncs of files so far.
  var syncCount: Int { count.withLock { $0 } }

  fileprivate func beforeSync(_ path: String) throws(FileError) {
    count.withLock { $0 += 1 }
    try held.withLock { $0 }?.hook(path)
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    HookedFile(try base.open(path, writable: writable), path, self)
  }
  func create(_ path: String) throws(FileError) -> any OpenFile {
    HookedFile(try base.create(path), path, self)
  }
}

private final class HookedFile: ForwardingFile {
  let base: any OpenFile
  let path: String
  let disk: HookedDisk

  init(_ base: any OpenFile, _ path: String, _ disk: HookedDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func sync() throws(FileError) {
    try disk.beforeSync(path)
    try base.sync()
  }
}
