package import DaybookLog

/// A disk that does what another one does, but for the calls that it has itself: what stands
/// between a log and its disk in a test.
package protocol ForwardingDisk: FileSystem {
  /// The disk that does the rest.
  var base: any FileSystem { get }
}

extension ForwardingDisk {
  /// The file as the other disk opens it.
  package func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    try base.open(path, writable: writable)
  }
  /// The file as the other disk makes it.
  package func create(_ path: String) throws(FileError) -> any OpenFile { try base.create(path) }
  /// What the other disk lists.
  package func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
  /// Makes it on the other disk.
  package func makeDirectory(_ path: String) throws(FileError) { try base.makeDirectory(path) }
  /// Syncs it on the other disk.
  package func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
  /// Renames it on the other disk.
  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try base.rename(path, to: newPath)
  }
  /// Removes it from the other disk.
  package func remove(_ path: String) throws(FileError) { try base.remove(path) }
  /// What the other disk says of it.
  package func attributes(of path: String) throws(FileError) -> FileAttributes? {
    try base.attributes(of: path)
  }
  /// The lock that the other disk gives.
  package func lock(_ path: String) throws(FileError) -> any FileLock { try base.lock(path) }
  /// Whether somebody holds the other disk's lock.
  package func isLocked(_ path: String) -> Bool { base.isLocked(path) }
}

/// A file that does what another one does, but for the calls that it has itself.
package protocol ForwardingFile: OpenFile {
  /// The file that does the rest.
  var base: any OpenFile { get }
}

extension ForwardingFile {
  /// The bytes of the other file.
  package func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try base.read(at: offset, count: count)
  }
  /// Writes them to the other file.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try base.write(bytes, at: offset)
  }
  /// Cuts the other file.
  package func truncate(to byteCount: UInt64) throws(FileError) {
    try base.truncate(to: byteCount)
  }
  /// Syncs the other file.
  package func sync() throws(FileError) { try base.sync() }
  /// Takes the space for the other file.
  package func reserve(_ byteCount: UInt64) throws(FileError) { try base.reserve(byteCount) }
  /// Has the other file read from the device.
  package func dropCache() { base.dropCache() }
  /// The size of the other file.
  package func byteCount() throws(FileError) -> UInt64 { try base.byteCount() }
  /// Closes the other file.
  package func close() { base.close() }
}
