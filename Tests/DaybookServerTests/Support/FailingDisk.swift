import DaybookLog
import Synchronization

/// The machine's disk, which fails for good after a number of calls that change it.
final class FailingDisk: FileSystem {
  private let inner = SystemFileSystem()
  private let state: Mutex<(callsLeft: Int, calls: Int)>
  private let reason: FileError.Reason

  init(after callCount: Int = .max, reason: FileError.Reason = .other(5)) {
    state = Mutex((callCount, 0))
    self.reason = reason
  }

  /// Calls that changed something, or would have.
  var callCount: Int { state.withLock { $0.calls } }

  /// The next call fails, and all after it.
  func failNow() { state.withLock { $0.callsLeft = 0 } }

  fileprivate func count(_ call: FileError.Call, _ path: String) throws(FileError) {
    let isOver = state.withLock { state in
      state.calls += 1
      if state.callsLeft > 0 { state.callsLeft -= 1 } else { return true }
      return false
    }
    if isOver { throw FileError(reason, call, path) }
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    FailingFile(try inner.open(path, writable: writable), path, self)
  }

  func create(_ path: String) throws(FileError) -> any OpenFile {
    try count(.create, path)
    return FailingFile(try inner.create(path), path, self)
  }

  func list(_ directory: String) throws(FileError) -> [String] { try inner.list(directory) }

  func makeDirectory(_ path: String) throws(FileError) {
    try count(.makeDirectory, path)
    try inner.makeDirectory(path)
  }

  func syncDirectory(_ path: String) throws(FileError) {
    try count(.syncDirectory, path)
    try inner.syncDirectory(path)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try count(.rename, path)
    try inner.rename(path, to: newPath)
  }

  func remove(_ path: String) throws(FileError) {
    try count(.remove, path)
    try inner.remove(path)
  }

  func attributes(of path: String) throws(FileError) -> FileAttributes? {
    try inner.attributes(of: path)
  }

  func lock(_ path: String) throws(FileError) -> any FileLock { try inner.lock(path) }
  func isLocked(_ path: String) -> Bool { inner.isLocked(path) }
}

private final class FailingFile: OpenFile {
  private let inner: any OpenFile
  private let path: String
  private let disk: FailingDisk

  init(_ inner: any OpenFile, _ path: String, _ disk: FailingDisk) {
    self.inner = inner
    self.path = path
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try inner.read(at: offset, count: count)
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try disk.count(.write, path)
    try inner.write(bytes, at: offset)
  }

  func truncate(to byteCount: UInt64) throws(FileError) {
    try disk.count(.truncate, path)
    try inner.truncate(to: byteCount)
  }

  func sync() throws(FileError) {
    try disk.count(.sync, path)
    try inner.sync()
  }

  func reserve(_ byteCount: UInt64) throws(FileError) {
    try disk.count(.reserve, path)
    try inner.reserve(byteCount)
  }

  func dropCache() { inner.dropCache() }
  func byteCount() throws(FileError) -> UInt64 { try inner.byteCount() }
  func close() { inner.close() }
}
