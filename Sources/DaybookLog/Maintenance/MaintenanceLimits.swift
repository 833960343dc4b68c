/// When a log is tidied up, and how much is done at once. All in bytes of files, as the directory
/// tells them.
package struct MaintenanceLimits: Sendable, Hashable {
  /// A stream's segments as they were written, from this size on, become one file: 4 MiB, enough
  /// to be worth a file.
  package var rawByteLimit: UInt64 = 4 << 20
  /// The same by their number: each opening of a store begins one, however little it holds.
  package var rawFileLimit = 32
  /// The most bytes that one compaction reads: 16 MiB, so that its output, too, is soon past
  /// saving, and stopping never waits for long.
  package var inputByteLimit: UInt64 = 16 << 20
  /// From so many outputs that are together within ``inputByteLimit`` one is made.
  package var mergeFileLimit = 8
  /// An output of which more than half, and at least this much, could go is written anew: 1 MiB.
  package var garbageByteLimit: UInt64 = 1 << 20
  /// Closed segments of the feed behind the newest snapshot, from this size on, make a new one
  /// worth it: 3 MiB, which a full segment has, or half of the newest one.
  package var snapshotByteLimit: UInt64 = 3 << 20
  /// However large the newest snapshot is, so much makes a new one worth it: 7 MiB, which two full
  /// segments have, since two snapshots and the one being written are already three times what is
  /// live.
  package var snapshotGrowthLimit: UInt64 = 7 << 20
  /// Superseded files of a stream are kept up to this size, so that a copy of the directory that is
  /// under way stays whole: 8 MiB.
  package var supersededByteLimit: UInt64 = 8 << 20
  /// Whoever writes waits for upkeep when closed segments that it has not dealt with have more than
  /// this, and a quarter of what the last round kept: 8 MiB.
  package var aheadByteLimit: UInt64 = 8 << 20
  /// How long a write waits for upkeep at most, once for each segment: 1 s.
  package var waitLimit: Duration = .seconds(1)

  /// The usual limits.
  package init() {}
}
