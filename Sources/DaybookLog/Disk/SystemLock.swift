import CDaybook
import Foundation
import Synchronization

/// The lock of a log on the machine's file system: of the file, and of the directory that it is in.
///
/// A lock file can be removed while it is locked, and whoever makes a new one would get that one's
/// lock. The directory's lock is still held then. Where a directory can't be locked, as on some
/// network disks, the file's alone must do. The file names the holder for the text of an error.
final class SystemLock: FileLock {
  /// The files that are locked in this process, by device and inode: locks of open files do not see
  /// each other on every system within one process.
  private static let held = Mutex<Set<String>>([])

  private let file: SystemFile
  /// Holds the directory's lock; negative where there is none.
  private let directory: Int32
  private let key: String

  init(_ path: String) throws(FileError) {
    directory = daybook_lock_directory(FilePath.parent(of: path))
    guard directory != -EAGAIN else { throw SystemLock.taken(path) }
    do throws(FileError) {
      (file, key) = try SystemLock.lock(path)
    } catch {
      if directory >= 0 { _ = daybook_unlock_directory(directory) }
      throw error
    }
    try? file.truncate(to: 0)
    try? file.write(Array("\(getpid())\n".utf8), at: 0)
  }

  deinit { release() }

  private static func lock(_ path: String) throws(FileError) -> (SystemFile, String) {
    let descriptor = try SystemFileSystem().descriptor(path, mode: 1 | 2, .lock)
    let file = SystemFile(descriptor, path)
    var device: UInt64 = 0
    var inode: UInt64 = 0
    var status = daybook_identity(descriptor, &device, &inode)
    let key = "\(device):\(inode)"
    if status == 0 {
      let isFree = held.withLock { $0.insert(key).inserted }
      status = isFree ? daybook_lock(descriptor) : -EAGAIN
      if isFree, status != 0 { held.withLock { _ = $0.remove(key) } }
    }
    guard status == 0 else {
      file.close()
      guard status == -EAGAIN else { throw FileError(errno: -status, .lock, path) }
      throw taken(path)
    }
    return (file, key)
  }

  /// Somebody has the lock: the process that the file names, if it can be read.
  private static func taken(_ path: String) -> FileError {
    let file = try? SystemFileSystem().open(path, writable: false)
    defer { file?.close() }
    let text = try? file.map { String(decoding: try $0.read(at: 0, count: 20), as: UTF8.self) }
    let process = text.flatMap { Int32($0.prefix { $0.isNumber }) }
    return FileError(.locked(by: process), .lock, path)
  }

  func release() {
    // Once: the next holder's place in the registry is not ours to give up.
    guard file.end(unlocking: true) else { return }
    SystemLock.held.withLock { _ = $0.remove(key) }
    if directory >= 0 { _ = daybook_unlock_directory(directory) }
  }
}
