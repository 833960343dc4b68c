import DaybookFormat
import DaybookLog
import DaybookTestKit
import Foundation
import Testing

/// A log whose process may be stopped at any point: no lock is held meanwhile (S67).
@Suite struct SuspensionTests {
  private func append(_ log: Log, _ stream: String, _ text: String) throws(LogError) -> UInt64 {
    try log.appendAndWait(stream, [[SmallLog.entry(text)]])
  }

  @Test func `a suspended log holds no lock and takes no write, and goes on when resumed`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try append(log, "outbox", "one")
    _ = try append(log, "feed", "page")
    try log.suspend()
    try log.suspend()
    #expect(!disk.isLocked("\(SmallLog.directory)/LOCK"))
    #expect(throws: LogError.suspended) { try append(log, "outbox", "no") }
    try log.markIdle()
    // What is there is whole, as if it had been closed.
    #expect(try SmallLog.inspect(disk).findings == [])
    let changes = disk.changeCount
    try log.markIdle()
    #expect(disk.changeCount == changes)
    try log.resume()
    try log.resume()
    #expect(disk.isLocked("\(SmallLog.directory)/LOCK"))
    #expect(try append(log, "outbox", "two") == 2)
    try log.close()
    let (again, found) = try SmallLog.open(disk, seed: 2)
    #expect(found.texts == ["outbox": ["one", "two"], "feed": ["page"]])
    #expect(found.findings == [])
    try again.close()
  }

  @Test func `groups that wait are written before a log is suspended`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("held")]], isSynced: false)
    try log.suspend()
    let after = disk.crashed(.dropped, seed: 1)
    #expect(try SmallLog.inspect(after).texts["feed"] == ["held"])
  }

  @Test func `a log can't be resumed once somebody else has written to it`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try append(log, "outbox", "one")
    try log.suspend()
    // Somebody looks and changes nothing.
    try SmallLog.open(disk, seed: 2).log.close()
    try log.resume()
    _ = try append(log, "outbox", "two")
    try log.suspend()
    let (other, found) = try SmallLog.open(disk, seed: 3)
    #expect(found.texts["outbox"] == ["one", "two"])
    #expect(throws: LogError.locked(path: "\(SmallLog.directory)/LOCK", by: nil)) {
      try log.resume()
    }
    _ = try append(other, "outbox", "theirs")
    try other.close()
    let size = disk.usedByteCount
    for _ in 0..<2 {
      #expect(throws: LogError.writtenByOther(path: SmallLog.directory)) { try log.resume() }
      #expect(throws: LogError.suspended) { try append(log, "outbox", "ours") }
    }
    #expect(disk.usedByteCount == size)
    #expect(!disk.isLocked("\(SmallLog.directory)/LOCK"))
    try log.close()
    #expect(disk.usedByteCount == size)
    let (again, last) = try SmallLog.open(disk, seed: 4)
    #expect(last.texts["outbox"] == ["one", "two", "theirs"])
    try again.close()
  }

  @Test func `a disk that fails while a log is suspended or resumed costs nothing`() throws {
    for kind in [SimulatedDisk.Fault.refuse([.sync], .other(5)), .refuse([.write], .diskFull)] {
      let disk = SimulatedDisk(seed: 1)
      let (log, _) = try SmallLog.open(disk)
      _ = try append(log, "outbox", "one")
      _ = try log.appendAndWait("feed", [[SmallLog.entry("held")]], isSynced: false)
      disk.set(kind)
      #expect(throws: LogError.self) { try log.suspend() }
      // The lock is let go whatever fails: a stopped process must not hold it.
      #expect(!disk.isLocked("\(SmallLog.directory)/LOCK"))
      disk.set(.refuse([.lock], .other(5)))
      #expect(throws: LogError.self) { try log.resume() }
      disk.set(.none)
      try log.resume()
      _ = try append(log, "feed", "page")
      _ = try append(log, "outbox", "two")
      try log.close()
      let (again, found) = try SmallLog.open(disk, seed: 2)
      #expect(found.texts == ["outbox": ["one", "two"], "feed": ["held", "page"]])
      #expect(found.findings == [])
      try again.close()
    }
  }

  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `a power cut while a log is suspended or after it loses nothing`(mode: SimulatedDisk.Crash)
    throws
  {
    for steps in 1...3 {
      let disk = SimulatedDisk(seed: 1)
      let (log, _) = try SmallLog.open(disk)
      _ = try append(log, "outbox", "one")
      try log.suspend()
      if steps > 1 { try log.resume() }
      if steps > 2 { _ = try append(log, "outbox", "two") }
      let (again, found) = try SmallLog.open(disk.crashed(mode, seed: 5), seed: 2)
      #expect(found.texts["outbox"] == (steps > 2 ? ["one", "two"] : ["one"]))
      #expect(found.findings == [])
      try again.close()
      try log.close()
    }
  }

  @Test func `a suspended log lets another process of the real system in`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/suspended-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let configuration = LogConfiguration(
      streams: [.feed, .outbox], account: "rep-7", random: { .random(in: .min ... .max) },
      clock: { HybridTime(rawValue: 1 << 16) }, idleMarkDelay: nil)
    let log = try Log.open(path, configuration) { _, _ in }
    _ = try append(log, "outbox", "one")
    #expect(throws: LogError.self) { try Log.open(path, configuration) { _, _ in } }
    try log.suspend()
    try Log.open(path, configuration) { _, _ in }.close()
    try log.resume()
    #expect(throws: LogError.self) { try Log.open(path, configuration) { _, _ in } }
    _ = try append(log, "outbox", "two")
    try log.close()
  }
}
