import CDaybook
import Foundation
import Synchronization

/// The machine's own file system, through the calls of `CDaybook`.
package struct SystemFileSystem: FileSystem {
  /// The machine's file system.
  package init() {}

  /// Opens a file that is there.
  package func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    SystemFile(try descriptor(path, mode: writable ? 1 : 0, .open), path)
  }

  /// Makes a new file.
  package func create(_ path: String) throws(FileError) -> any OpenFile {
    SystemFile(try descriptor(path, mode: 1 | 2 | 4, .create), path)
  }

  /// The names in a directory.
  package func list(_ directory: String) throws(FileError) -> [String] {
    guard let stream = opendir(directory) else { throw FileError(errno: errno, .list, directory) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Makes a directory.
  package func makeDirectory(_ path: String) throws(FileError) {
    guard mkdir(path, 0o755) == 0 else { throw FileError(errno: errno, .makeDirectory, path) }
  }

  /// Makes the entries of a directory durable.
  package func syncDirectory(_ path: String) throws(FileError) {
    try check(Int64(daybook_sync_directory(path)), .syncDirectory, path)
  }

  /// Renames a file.
  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try check(Int64(daybook_rename_exclusive(path, newPath)), .rename, newPath)
  }

  /// Renames a file over another one.
  package func replace(_ path: String, over newPath: String) throws(FileError) {
    try check(Int64(daybook_rename_over(path, newPath)), .rename, newPath)
  }

  /// Removes a file.
  package func remove(_ path: String) throws(FileError) {
    guard unlink(path) == 0 else { throw FileError(errno: errno, .remove, path) }
  }

  /// What is at `path`.
  package func attributes(of path: String) throws(FileError) -> FileAttributes? {
    var kind: Int32 = 0
    var byteCount: UInt64 = 0
    let status = daybook_stat(path, &kind, &byteCount)
    if status == -ENOENT { return nil }
    try check(Int64(status), .stat, path)
    return FileAttributes(
      kind: kind == 1 ? .file : kind == 2 ? .directory : .other, byteCount: byteCount)
  }

  /// Takes the exclusive lock of the file at `path`, and of the directory it is in.
  package func lock(_ path: String) throws(FileError) -> any FileLock {
    try SystemLock(path)
  }

  /// Whether somebody holds the lock of the file at `path`; takes nothing.
  package func isLocked(_ path: String) -> Bool {
    let descriptor = daybook_open(path, 0)
    guard descriptor >= 0 else { return false }
    defer { _ = daybook_close(descriptor) }
    return daybook_is_locked(descriptor) == 1
  }

  func descriptor(
    _ path: String, mode: Int32, _ call: FileError.Call
  ) throws(FileError) -> Int32 {
    let descriptor = daybook_open(path, mode)
    try check(Int64(descriptor), call, path)
    return descriptor
  }
}

/// Throws what a negative status stands for.
private func check(
  _ status: Int64, _ call: FileError.Call, _ path: String
) throws(FileError) {
  if status < 0 { throw FileError(errno: Int32(clamping: -status), call, path) }
}

extension FileError {
  init(errno number: Int32, _ call: Call, _ path: String) {
    let reason: Reason
    switch number {
    case ENOSPC, EDQUOT: reason = .diskFull
    case EROFS: reason = .readOnly
    case EACCES, EPERM: reason = .permission
    case ENOENT: reason = .notFound
    case EEXIST: reason = .exists
    case ENOTDIR: reason = .notADirectory
    case EISDIR: reason = .isADirectory
    default: reason = .other(number)
    }
    self.init(reason, call, path)
  }
}

/// A file of the machine's file system.
final class SystemFile: OpenFile {
  private let descriptor: Int32
  private let path: String
  private let isOpen = Mutex(true)

  init(_ descriptor: Int32, _ path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close() }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes {
      daybook_read(descriptor, $0.baseAddress, count, offset)
    }
    try check(got, .read, path)
    bytes.removeLast(count - Int(got))
    return bytes
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    let put = bytes.withUnsafeBytes {
      daybook_write(descriptor, $0.baseAddress, $0.count, offset)
    }
    try check(put, .write, path)
  }

  func truncate(to byteCount: UInt64) throws(FileError) {
    try check(Int64(daybook_truncate(descriptor, byteCount)), .truncate, path)
  }

  func sync() throws(FileError) { try check(Int64(daybook_sync(descriptor)), .sync, path) }

  func reserve(_ byteCount: UInt64) throws(FileError) {
    let status = daybook_allocate(descriptor, byteCount)
    // Some file systems can't, and some say that the disk is full when it is not: growing will
    // tell.
    if status == -EIO { throw FileError(errno: EIO, .reserve, path) }
  }

  func dropCache() { _ = daybook_drop_cache(descriptor) }

  func byteCount() throws(FileError) -> UInt64 {
    var kind: Int32 = 0
    var byteCount: UInt64 = 0
    try check(Int64(daybook_stat(path, &kind, &byteCount)), .stat, path)
    return byteCount
  }

  func close() { _ = end(unlocking: false) }

  /// Closes the file once; a lock on it is let go first, so that a process that is being started
  /// and still shares the descriptor does not keep it. Returns whether this call did.
  func end(unlocking isLocked: Bool) -> Bool {
    let wasOpen = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    guard wasOpen else { return false }
    if isLocked { _ = daybook_unlock(descriptor) }
    _ = daybook_close(descriptor)
    return true
  }
}
