import DaybookLog
import DaybookTestKit
import Synchronization

/// The machine's disk, which fails for good after a number of calls that change it.
final class FailingDisk: ForwardingDisk {
  let base: any FileSystem = SystemFileSystem()
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
    FailingFile(try base.open(path, writable: writable), path, self)
  }

  func create(_ path: String) throws(FileError) -> any OpenFile {
    try count(.create, path)
    return FailingFile(try base.create(path), path, self)
  }

  func makeDirectory(_ path: String) throws(FileError) {
    try count(.makeDirectory, path)
    try base.makeDirectory(path)
  }

  func syncDirectory(_ path: String) throws(FileError) {
    try count(.syncDirectory, path)
    try base.syncDirectory(path)
  }

  func rename(_ path: String, to newPath: String) throws(FileError) {
    try count(.rename, path)
    try base.rename(path, to: newPath)
  }

  func remove(_ path: String) throws(FileError) {
    try count(.remove, path)
    try base.remove(path)
  }
}

private final class FailingFile: ForwardingFile {
  let base: any OpenFile
  private let path: String
  private let disk: FailingDisk

  init(_ base: any OpenFile, _ path: String, _ disk: FailingDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try disk.count(.write, path)
    try base.write(bytes, at: offset)
  }

  func truncate(to byteCount: UInt64) throws(FileError) {
    try disk.count(.truncate, path)
    try base.truncate(to: byteCount)
  }

  func sync() throws(FileError) {
    try disk.count(.sync, path)
    try base.sync()
  }

  func reserve(_ byteCount: UInt64) throws(FileError) {
    try disk.count(.reserve, path)
    try base.reserve(byteCount)
  }
}
