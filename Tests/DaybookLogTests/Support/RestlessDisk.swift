import DaybookLog
import DaybookTestKit
import Synchronization

/// A disk whose log is never read twice with the same bytes, as if it were written without a pause.
final class RestlessDisk: FileSystem {
  private let base: SimulatedDisk
  private let count = Mutex<UInt8>(0)

  init(_ base: SimulatedDisk) { self.base = base }

  /// Changes the end of what was read of a segment of the log.
  fileprivate func stir(_ bytes: [UInt8], _ path: String) -> [UInt8] {
    let isSegment = path.hasPrefix("\(SmallLog.directory)/outbox/")
    guard isSegment, bytes.count > 16_384 else { return bytes }
    var bytes = bytes
    bytes[bytes.count - 1] = count.withLock { count in
      count = count % 250 + 1
      return count
    }
    return bytes
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    RestlessFile(try base.open(path, writable: writable), path, self)
  }
  func create(_ path: String) throws(FileError) -> any OpenFile { try base.create(path) }
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

private final class RestlessFile: OpenFile {
  private let base: any OpenFile
  private let path: String
  private let disk: RestlessDisk

  init(_ base: any OpenFile, _ path: String, _ disk: RestlessDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    disk.stir(try base.read(at: offset, count: count), path)
  }
  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try base.write(bytes, at: offset)
  }
  func truncate(to byteCount: UInt64) throws(FileError) { try base.truncate(to: byteCount) }
  func sync() throws(FileError) { try base.sync() }
  func reserve(_ byteCount: UInt64) throws(FileError) { try base.reserve(byteCount) }
  func dropCache() { base.dropCache() }
  func byteCount() throws(FileError) -> UInt64 { try base.byteCount() }
  func close() { base.close() }
}
