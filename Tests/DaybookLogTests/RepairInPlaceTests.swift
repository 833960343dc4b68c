import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

/// `--apply`: a log is repaired where it is.
@Suite struct `a repair in place` {
  private static let file = "outbox/00000002.g0.dbs"

  /// A backed-up log of which the middle of a file is gone, with what it gives still.
  private func damaged() throws -> (rig: CopyRig, whole: [String], left: [String]) {
    let rig = CopyRig()
    try rig.write(3).close()
    _ = try rig.backup()
    let whole = try rig.read(SmallLog.directory).entries
    let path = "\(SmallLog.directory)/\(Self.file)"
    var bytes = try #require(rig.disk.content(of: path))
    for index in 8_192..<24_576 { bytes[index] = 0 }
    rig.disk.put(bytes, at: path)
    let left = try rig.read(SmallLog.directory).entries
    #expect(left.count < whole.count)
    return (rig, whole, left)
  }

  private func apply(_ disk: SimulatedDisk, from copy: String? = CopyRig.copy) throws(CopyError) {
    let repair = try LogRepair(of: SmallLog.directory, from: copy, fileSystem: disk)
    let random = Mutex(SplitMix64(seed: 9))
    _ = try repair.apply(
      try repair.plan(), random: { random.withLock { $0.next() } },
      clock: { HybridTime(rawValue: 1 << 40) })
  }

  @Test func `that is cut short at any call loses nothing, and the next one ends it`() throws {
    let (first, whole, _) = try damaged()
    let harmed = try #require(first.disk.content(of: "\(SmallLog.directory)/\(Self.file)"))
    let start = first.disk.callCount
    try apply(first.disk)
    let calls = first.disk.callCount - start
    #expect(try first.read(SmallLog.directory).entries == whole)
    var changeCount = -1
    for call in 1...calls {
      let (rig, _, left) = try damaged()
      rig.disk.set(.stop(at: rig.disk.callCount + call))
      try? apply(rig.disk)
      // Calls that only look change nothing.
      if rig.disk.changeCount == changeCount { continue }
      changeCount = rig.disk.changeCount
      for mode in [SimulatedDisk.Crash.killed, .dropped, .persisted, .tornPages] {
        let place = "\(mode) at call \(call)"
        let after = CopyRig(disk: rig.disk.crashed(mode, seed: UInt64(call)))
        let entries = try after.read(SmallLog.directory).entries
        #expect(Set(entries).isSuperset(of: left), "\(place)")
        let there = after.files(SmallLog.directory)
        #expect(
          there.contains { $0.value == harmed && !$0.key.hasSuffix(".tmp") },
          "\(place): the damaged bytes are evidence")
        let opened = try SmallLog.open(after.disk.crashed(.killed, seed: 1), seed: 5)
        #expect(opened.log.refusal == nil, "\(place)")
        #expect(opened.found.texts["outbox"]?.count ?? 0 >= left.count { $0.hasPrefix("o") })
        try opened.log.close()
        try apply(after.disk)
        let ended = try after.read(SmallLog.directory).entries
        #expect(Set(ended).isSuperset(of: whole), "\(place)")
      }
    }
  }

  @Test func `of a log that somebody has open, or that may not be written, changes nothing`()
    throws
  {
    let (rig, _, _) = try damaged()
    let before = rig.files(SmallLog.directory)
    let path = "\(SmallLog.directory)/LOCK"
    let lock = try rig.disk.lock(path)
    #expect(throws: CopyError.log(.locked(path: SmallLog.directory, by: nil))) {
      try apply(rig.disk)
    }
    lock.release()
    rig.disk.set(.refuse([.lock, .create, .write, .rename, .makeDirectory], .permission))
    #expect(throws: CopyError.log(.notPermitted(path: path))) { try apply(rig.disk) }
    rig.disk.set(.none)
    #expect(rig.files(SmallLog.directory) == before)
  }

  @Test func `or beside it keeps what stands in for a damaged output`() throws {
    for isBeside in [false, true] {
      let rig = CopyRig()
      let output = try rig.writeCompacted()
      let entries = try rig.read(SmallLog.directory).entries
      try rig.spoil(output.file)
      var place = SmallLog.directory
      if isBeside {
        place = SimulatedDisk.root + "/repaired"
        let repair = try LogRepair(of: SmallLog.directory, from: nil, fileSystem: rig.disk)
        _ = try repair.write(
          try repair.plan(), to: place, random: { 7 }, clock: { HybridTime(rawValue: 1 << 40) })
      } else {
        try apply(rig.disk, from: nil)
      }
      let after = try rig.read(place)
      #expect(Set(after.entries).isSuperset(of: entries))
      #expect(after.findings.filter(\.isLoss).isEmpty)
    }
  }
}
