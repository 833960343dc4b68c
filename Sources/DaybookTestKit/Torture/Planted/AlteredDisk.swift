import DaybookLog

/// A disk of which single calls do something else.
final class AlteredDisk: FileSystem {
  typealias Sync = @Sendable (any OpenFile) throws(FileError) -> Void

  let disk: any FileSystem
  let sync: Sync

  init(_ disk: any FileSystem, sync: @escaping Sync = { file throws(FileError) in try file.sync() })
  {
    self.disk = disk
    self.sync = sync
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    AlteredFile(try disk.open(path, writable: writable), self)
  }

  func create(_ path: String) throws(FileError) -> any OpenFile {
    AlteredFile(try disk.create(path), self)
  }

  func list(_ directory: String) throws(FileError) -> [String] { try disk.list(directory) }
  func makeDirectory(_ path: String) throws(FileError) { try disk.makeDirectory(path) }
  func syncDirectory(_ path: String) throws(FileError) { try disk.syncDirectory(path) }
  func rename(_ path: String, to newPath: String) throws(FileError) {
    try disk.rename(path, to: newPath)
  }
  func remove(_ path: String) throws(FileError) { try disk.remove(path) }
  func attributes(of path: String) throws(FileError) -> FileAttributes? {
    try disk.attributes(of: path)
  }
  func lock(_ path: String) throws(FileError) -> any FileLock { try disk.lock(path) }
  func isLocked(_ path: String) -> Bool { disk.isLocked(path) }
}

private final class AlteredFile: OpenFile {
  private let file: any OpenFile
  private let disk: AlteredDisk

  init(_ file: any OpenFile, _ disk: AlteredDisk) {
    self.file = file
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }
  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try file.write(bytes, at: offset)
  }
  func truncate(to byteCount: UInt64) throws(FileError) { try file.truncate(to: byteCount) }
  func sync() throws(FileError) { try disk.sync(file) }
  func reserve(_ byteCount: UInt64) throws(FileError) { try file.reserve(byteCount) }
  func dropCache() { file.dropCache() }
  func byteCount() throws(FileError) -> UInt64 { try file.byteCount() }
  func close() { file.close() }
}
