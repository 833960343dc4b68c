import DaybookLog

/// A bug around a disk, to see that a torture run finds it.
package enum PlantedBug: String, Sendable, Hashable, CaseIterable {
  /// Syncs return and store nothing.
  case lyingSync = "lying-sync"

  /// `disk` with the bug.
  func disk(_ disk: any FileSystem) -> any FileSystem {
    switch self {
    case .lyingSync: AlteredDisk(disk, sync: { _ throws(FileError) in })
    }
  }
}
