import DaybookLog

/// A bug around a disk, to see that a torture run finds it.
package enum PlantedBug: String, Sendable, Hashable, CaseIterable {
  /// Syncs of files return and store nothing.
  case lyingSync = "lying-sync"
  /// Syncs of directories return and store nothing.
  case forgottenEntries = "forgotten-entries"
  /// A sync returns at once and is done with the next call: the log acknowledges before it.
  case earlyAcknowledgement = "early-acknowledgement"
  /// A sync that failed is reported as fine.
  case hiddenSyncFailure = "hidden-sync-failure"
  /// A write that failed, or stored a part, is reported as fine.
  case hiddenWriteFailure = "hidden-write-failure"
  /// One write in forty lands eight bytes behind its place.
  case misplacedWrite = "misplaced-write"
  /// One read in sixty finds what was there before the last write.
  case staleRead = "stale-read"
  /// The second copy of a group of the outbox is never written.
  case missingEcho = "missing-echo"
  /// The second copy of a segment's header is never written.
  case missingHeaderCopy = "missing-header-copy"
  /// Files are never cut.
  case lostTruncation = "lost-truncation"
  /// The lock is given to everybody.
  case ignoredLock = "ignored-lock"
  /// Compaction drops one operation in three, whatever became of it.
  case droppedOperation = "dropped-operation"

  /// `disk` with the bug; one for the whole life of a chapter's machine.
  func disk(_ disk: any FileSystem) -> any FileSystem { BuggyDisk(disk, self) }
}
