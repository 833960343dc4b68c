/// The only door to the disk. A real one and a simulated one stand behind it.
///
/// Every call either does all of what it says or throws; none is retried by the log as if it were
/// fine. Calls on one file are made by one thread at a time.
package protocol FileSystem: Sendable {
  /// Opens a file that is there.
  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile
  /// Makes a new file; throws `exists` if there is something by that name. Its directory entry is
  /// durable only after `syncDirectory`.
  func create(_ path: String) throws(FileError) -> any OpenFile
  /// The names in a directory, in no order, without `.` and `..`.
  func list(_ directory: String) throws(FileError) -> [String]
  /// Makes a directory; throws `exists` if there is something by that name.
  func makeDirectory(_ path: String) throws(FileError)
  /// Makes the entries of a directory durable.
  func syncDirectory(_ path: String) throws(FileError)
  /// Renames a file; throws `exists` if there is something by the new name.
  func rename(_ path: String, to newPath: String) throws(FileError)
  /// Renames a file; one that is there by the new name is replaced, in one step where the system
  /// can.
  func replace(_ path: String, over newPath: String) throws(FileError)
  /// Removes a file.
  func remove(_ path: String) throws(FileError)
  /// What is at `path`; `nil` if nothing is.
  func attributes(of path: String) throws(FileError) -> FileAttributes?
  /// Takes the exclusive lock of the file at `path`, made if it is missing and never removed. It is
  /// held until the lock is released or the process ends; throws `locked` if somebody else has it.
  func lock(_ path: String) throws(FileError) -> any FileLock
  /// Whether somebody holds the lock of the file at `path`.
  func isLocked(_ path: String) -> Bool
}

extension FileSystem {
  /// Removes what is there, then renames.
  package func replace(_ path: String, over newPath: String) throws(FileError) {
    if try attributes(of: newPath) != nil { try remove(newPath) }
    try rename(path, to: newPath)
  }
}

/// A file that is open.
package protocol OpenFile: AnyObject, Sendable {
  /// Up to `count` bytes at `offset`; fewer only at the end of the file.
  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8]
  /// Writes all of `bytes` at `offset`. After a throw any part of them may have been written.
  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError)
  /// Sets the size.
  func truncate(to byteCount: UInt64) throws(FileError)
  /// Makes data and size durable: on return they survive a power cut. After a throw nothing is
  /// known of what was written since the last sync, and a later sync proves nothing.
  func sync() throws(FileError)
  /// Reserves space without changing the size; does nothing where that can't be had.
  func reserve(_ byteCount: UInt64) throws(FileError)
  /// Makes the next reads come from the device, as far as the system can.
  func dropCache()
  /// The size in bytes.
  func byteCount() throws(FileError) -> UInt64
  /// Lets go of the file.
  func close()
}

/// A lock that is held.
package protocol FileLock: AnyObject, Sendable {
  /// Lets go of the lock; the file stays.
  func release()
}

/// What is at a path.
package struct FileAttributes: Sendable, Hashable {
  /// The kinds of things at a path.
  package enum Kind: Sendable, Hashable {
    case file, directory, other
  }

  /// What it is.
  package let kind: Kind
  /// Its size in bytes.
  package let byteCount: UInt64

  /// A thing of this kind and size.
  package init(kind: Kind, byteCount: UInt64) {
    self.kind = kind
    self.byteCount = byteCount
  }
}

/// A call to the disk that failed.
package struct FileError: Error, Sendable, Hashable {
  /// What it means for the log.
  package enum Reason: Sendable, Hashable {
    case diskFull, readOnly, permission, notFound, exists, notADirectory, isADirectory
    /// Another process has the lock; its number, if it could be read.
    case locked(by: Int32?)
    /// Anything else, by the system's number.
    case other(Int32)
  }

  /// The calls of ``FileSystem`` and ``OpenFile``.
  package enum Call: String, Sendable, Hashable {
    case open, create, list, makeDirectory, syncDirectory, rename, remove, stat, lock
    case read, write, truncate, sync, reserve
  }

  /// What it means.
  package let reason: Reason
  /// The call.
  package let call: Call
  /// The file or directory.
  package let path: String

  /// The failure of `call` on `path`.
  package init(_ reason: Reason, _ call: Call, _ path: String) {
    self.reason = reason
    self.call = call
    self.path = path
  }
}
