import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// Logs that may be read and not written to.
@Suite struct ReadOnlyTests {
  /// A log of two lives, the second one killed.
  private func written() throws -> SimulatedDisk {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("one")]])
    _ = try log.appendAndWait("feed", [[SmallLog.entry("page")]])
    try log.close()
    let (second, _) = try SmallLog.open(disk, seed: 2)
    _ = try second.appendAndWait("outbox", [[SmallLog.entry("two")]])
    let after = disk.crashed(.killed, seed: 1)
    disk.abandon()
    return after
  }

  private static let changes: Set<FileError.Call> = [
    .lock, .create, .write, .truncate, .remove, .rename, .makeDirectory, .reserve,
  ]
  private static let syncs: Set<FileError.Call> = [.sync, .syncDirectory]

  private static let causes: [SimulatedDisk.Fault] = [
    .refuse(changes, .readOnly), .refuse(changes.union(syncs), .readOnly),
    .refuse(changes, .permission), .refuse(changes.union(syncs), .permission),
    // Only the lock, or all but the lock.
    .refuse([.lock], .permission), .refuse(changes.subtracting([.lock]), .readOnly),
  ]

  // F51
  @Test(arguments: 0..<causes.count)
  func `a log that can't be written to opens for reading and says why`(cause: Int) throws {
    let disk = try written()
    // Something that opening would make again.
    disk.drop("\(SmallLog.directory)/FORMAT")
    let paths = disk.paths
    let size = disk.usedByteCount
    disk.set(Self.causes[cause])
    let (log, found) = try SmallLog.open(disk, seed: 3)
    #expect(found.texts == ["outbox": ["one", "two"], "feed": ["page"]])
    #expect(found.findings == [])
    let refusal = try #require(log.refusal)
    guard case .notPermitted = refusal else {
      Issue.record(refusal)
      return
    }
    #expect(throws: refusal) {
      try log.appendAndWait("outbox", [[SmallLog.entry("three")]])
    }
    try log.suspend()
    try log.resume()
    try log.close()
    #expect(disk.paths == paths)
    #expect(disk.usedByteCount == size)
    disk.set(.none)
    let (again, later) = try SmallLog.open(disk, seed: 4)
    #expect(later.texts == found.texts)
    _ = try again.appendAndWait("outbox", [[SmallLog.entry("three")]])
    try again.close()
  }

  @Test func `where there is no log to read, not being able to make one is an error`() throws {
    let disk = SimulatedDisk(seed: 1, fault: .refuse(Self.changes, .readOnly))
    #expect(throws: LogError.notPermitted(path: SmallLog.directory)) { try SmallLog.open(disk) }
    let empty = SimulatedDisk(seed: 1)
    try empty.makeDirectory(SmallLog.directory)
    empty.set(.refuse(Self.changes, .permission))
    #expect(throws: LogError.notPermitted(path: "\(SmallLog.directory)/LOCK")) {
      try SmallLog.open(empty)
    }
  }

  @Test func `a full disk keeps no log from opening, and none from writing later`() throws {
    for isWhole in [true, false] {
      let disk = try written()
      if !isWhole {
        for name in ["FORMAT", "HEAD", "LOCK"] { disk.drop("\(SmallLog.directory)/\(name)") }
      }
      disk.setCapacity(0)
      let (log, found) = try SmallLog.open(disk, seed: 3)
      #expect(found.texts == ["outbox": ["one", "two"], "feed": ["page"]])
      #expect(throws: LogError.self) {
        try log.appendAndWait("outbox", [[SmallLog.entry("three")]])
      }
      disk.setCapacity(nil)
      // Without a lock nothing may ever be written; with it, room is all that was missing.
      #expect(log.isReadOnly == !isWhole)
      if isWhole { _ = try log.appendAndWait("outbox", [[SmallLog.entry("three")]]) }
      try? log.close()
    }
  }

  @Test func `a disk that fails to say what is durable is not read`() throws {
    let disk = try written()
    disk.set(.refuse([.sync], .other(5)))
    #expect(throws: LogError.self) { try SmallLog.open(disk, seed: 3) }
  }
}
