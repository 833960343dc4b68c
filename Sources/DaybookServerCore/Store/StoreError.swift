package import DaybookFormat

/// Why a server's data can't be opened, or why nothing more can be written.
package enum StoreError: Error, Sendable, Equatable {
  /// The frame or header at byte `offset` of `file` is damaged.
  case damaged(file: String, offset: UInt64)
  /// The entry `number` of the stream can't be read, although its checksum holds.
  case unreadable(number: UInt64, EntryError)
  /// The change at `sequence` of `scope` does not continue the one before it.
  case discontinuous(scope: String, sequence: UInt64)
  /// A newer version of the format wrote `file`.
  case newerFormat(file: String)
  /// Another process serves this directory.
  case locked
  /// The path holds something else than a log.
  case notALog(path: String)
  /// The log is whole, but not a server's: its first entry names no history.
  case notAServer
  /// This user may not read or write `path`.
  case notPermitted(path: String)
  /// The disk is full.
  case diskFull
  /// The system call on `path` failed with this `errno`.
  case systemCall(name: String, errno: Int32, path: String)
  /// The store was closed.
  case closed
}
