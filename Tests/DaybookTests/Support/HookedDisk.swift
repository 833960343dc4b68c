import DaybookLog
import Synchronization

/// The real disk, on which a test is asked before each sync of a file.
final class HookedDisk: FileSystem {
  /// Called on the log's own thread with the file's path; may block, or throw in its place.
  typealias Hook = @Sendable (String) throws(FileError) -> Void

  /// A closure that is itself what a lock holds is wrapped once more by each look at it, until a
  /// call needs more than a thread's stack.
  private struct Held {
    var hook: Hook
  }

  private let base = SystemFileSystem()
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
  func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
  func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }
  func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
  func rename(_ path: String, to newPath: String) throws(FileError) {
    try base.rename(path, to: newPath)
  }
  func remove(_ path: String) throws(FileError) { try base.remove(path) }
  func attributes(of path: String) throws(FileError) -> FileAttributes? {
    try base.attributes(of: path)
  }
  func lock(_ path: String) throws(FileError) -> any FileLock { try base.lock(path) }
  func isLocked(_ path: String) -> Bool { base.isLocked(path) }
}

private final class HookedFile: OpenFile {
  let base: any OpenFile
  let path: String
  let disk: HookedDisk

  init(_ base: any OpenFile, _ path: String, _ disk: HookedDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try base.read(at: offset, count: count)
  }
  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try base.write(bytes, at: offset)
  }
  func truncate(to byteCount: UInt64) throws(FileError) { try base.truncate(to: byteCount) }
  func sync() throws(FileError) {
    try disk.beforeSync(path)
    try base.sync()
  }
  func reserve(_ byteCount: UInt64) throws(FileError) { try base.reserve(byteCount) }
  func dropCache() { base.dropCache() }
  func byteCount() throws(FileError) -> UInt64 { try base.byteCount() }
  func close() { base.close() }
}
