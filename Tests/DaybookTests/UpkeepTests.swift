import Daybook
import DaybookFormat
import DaybookLog
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

@Suite struct `keeping a log small` {
  /// The calls of `count` that are looked at: some that begin with `first`, or all of them.
  private static func calls(_ count: Int, from first: Int) -> [Int] {
    let isFull = ProcessInfo.processInfo.environment["DAYBOOK_FULL"] != nil
    return Array(stride(from: isFull ? 1 : first, through: count, by: isFull ? 1 : count / 3))
  }

  @Test(arguments: UInt64(1)...3)
  func `whatever upkeep did, opening gives the state that was there`(seed: UInt64) throws {
    let device = try LoggedDevice(SimulatedDisk(seed: seed), seed: seed)
    var snapshots = 0
    var compactions = 0
    for round in 0..<6 {
      try device.work(60)
      let outcome = try LoggedDevice.upkeep(device.disk, seed: seed + UInt64(round))
      snapshots += outcome.snapshots.count
      compactions += outcome.compactions.count
      #expect(outcome.unfit == [])
      let live = device.state.canonicalBytes
      if round % 2 == 1 { try device.reopen(seed: seed + UInt64(round)) }
      #expect(device.state.canonicalBytes == live, "seed \(seed), round \(round)")
    }
    #expect(snapshots >= 2 && compactions >= 4, "\(snapshots), \(compactions)")
    try device.close()
    #expect(try LoggedDevice.replayed(device.disk).canonicalBytes == device.state.canonicalBytes)
    let directory = try LogDirectory(LoggedDevice.directory, fileSystem: device.disk)
    #expect(directory.snapshots.count == 2)
    #expect(try directory.findings() == [])
  }

  /// A log at rest with something of everything to do.
  private static func busyDisk(seed: UInt64) throws -> (SimulatedDisk, ClientState) {
    let device = try LoggedDevice(SimulatedDisk(seed: seed), seed: seed)
    for round in 0..<3 {
      try device.work(70)
      if round < 2 { try LoggedDevice.upkeep(device.disk, seed: seed + UInt64(round)) }
    }
    try device.close()
    return (device.disk, device.state)
  }

  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `a crash at any call of upkeep loses nothing`(_ mode: SimulatedDisk.Crash) throws {
    let (disk, state) = try Self.busyDisk(seed: 3)
    let expected = state.canonicalBytes
    let whole = disk.crashed(.killed, seed: 0)
    let before = whole.callCount
    let outcome = try LoggedDevice.upkeep(whole)
    #expect(!outcome.snapshots.isEmpty && !outcome.compactions.isEmpty && !outcome.removed.isEmpty)
    let count = whole.callCount - before
    // Each mode begins at another call.
    let first = 1 + (SimulatedDisk.Crash.allCases.firstIndex(of: mode) ?? 0) * count / 25
    for call in Self.calls(count, from: first) {
      let stopped = disk.crashed(.killed, seed: 0, fault: .stop(at: before + call))
      _ = try? LoggedDevice.upkeep(stopped)
      let after = stopped.crashed(mode, seed: UInt64(call))
      let place: Comment = "call \(call)"
      do {
        #expect(try LoggedDevice.replayed(after).canonicalBytes == expected, place)
        if call % 5 == 0 {
          try LoggedDevice.upkeep(after)
          #expect(try LoggedDevice.replayed(after).canonicalBytes == expected, place)
          let directory = try LogDirectory(LoggedDevice.directory, fileSystem: after)
          #expect(try directory.findings() == [], place)
        }
      } catch {
        Issue.record(error, place)
      }
    }
  }

  private static let faults: [@Sendable (Int) -> SimulatedDisk.Fault] = [
    { .fail(at: $0, .other(5)) }, { .fail(at: $0, .diskFull) }, { .shortWrite(at: $0) },
    { .failedSync(at: $0) },
  ]

  @Test(arguments: 0..<faults.count)
  func `a call that fails costs a round and nothing else`(_ kind: Int) throws {
    let (disk, state) = try Self.busyDisk(seed: 4)
    let expected = state.canonicalBytes
    let whole = disk.crashed(.killed, seed: 0)
    let before = whole.callCount
    try LoggedDevice.upkeep(whole)
    let count = whole.callCount - before
    for call in Self.calls(count, from: 1 + kind * count / 15) {
      let failing = disk.crashed(.killed, seed: 0, fault: Self.faults[kind](before + call))
      _ = try? LoggedDevice.upkeep(failing)
      failing.set(.none)
      let place: Comment = "call \(call)"
      #expect(try LoggedDevice.replayed(failing).canonicalBytes == expected, place)
      if call % 5 == 0 {
        try LoggedDevice.upkeep(failing)
        #expect(try LoggedDevice.replayed(failing).canonicalBytes == expected, place)
      }
    }
  }

  @Test(arguments: SimulatedDisk.Crash.allCases)
  func `nothing is removed for a file whose name may still go`(_ mode: SimulatedDisk.Crash) throws {
    let (disk, state) = try Self.busyDisk(seed: 7)
    disk.set(.refuse([.syncDirectory], .other(5)))
    for _ in 0..<4 { _ = try? LoggedDevice.upkeep(disk) }
    disk.set(.none)
    let whole = disk.crashed(.killed, seed: 0)
    let before = whole.callCount
    let outcome = try LoggedDevice.upkeep(whole)
    #expect(!outcome.removed.isEmpty)
    let count = whole.callCount - before
    // What is removed comes last.
    for call in stride(from: count, to: max(0, count - 40), by: -3) {
      let stopped = disk.crashed(.killed, seed: 0, fault: .stop(at: before + call))
      _ = try? LoggedDevice.upkeep(stopped)
      let after = stopped.crashed(mode, seed: UInt64(call))
      let found = try LoggedDevice.replayed(after)
      #expect(found.canonicalBytes == state.canonicalBytes, "call \(call)")
    }
  }

  @Test func `a disk that is full stops upkeep and not the log`() throws {
    let (disk, state) = try Self.busyDisk(seed: 5)
    disk.setCapacity(disk.usedByteCount + 6_000)
    #expect(throws: LogError.self) { _ = try LoggedDevice.upkeep(disk) }
    #expect(disk.paths.allSatisfy { !$0.hasSuffix(".tmp") })
    disk.setCapacity(nil)
    try LoggedDevice.upkeep(disk)
    #expect(try LoggedDevice.replayed(disk).canonicalBytes == state.canonicalBytes)
  }

  @Test func `a snapshot that is damaged gives way to the older one`() throws {
    let (disk, state) = try Self.busyDisk(seed: 6)
    try LoggedDevice.upkeep(disk)
    let directory = try LogDirectory(LoggedDevice.directory, fileSystem: disk)
    let newest = try #require(directory.snapshots.last)
    disk.damage("\(LoggedDevice.directory)/\(newest.file)", at: 8_220, [0xAA, 0x55])
    #expect(try LoggedDevice.replayed(disk).canonicalBytes == state.canonicalBytes)
    let again = try LogDirectory(LoggedDevice.directory, fileSystem: disk)
    #expect(try again.newestSnapshot()?.file == directory.snapshots.dropLast().last)
  }

  @Test func `an output that is damaged gives way to its inputs, or heals itself by its echoes`()
    throws
  {
    let (disk, state) = try Self.busyDisk(seed: 8)
    let made = try LoggedDevice.upkeep(disk).compactions.filter {
      $0.output.file.hasPrefix("outbox/") && $0.keptCount > 0
    }
    let output = try #require(made.last).output
    let path = "\(LoggedDevice.directory)/\(output.file)"
    let inputs = try #require(made.last).inputs.map { "\(LoggedDevice.directory)/\($0.file)" }
    for withInputs in [true, false] {
      let copy = disk.crashed(.killed, seed: 0)
      for input in inputs where !withInputs && copy.content(of: input) != nil {
        copy.drop(input)
      }
      copy.damage(path, at: 8_192 + 100, [0xAA, 0x55])
      let (log, replayed) = try LoggedDevice.open(copy, seed: 1)
      #expect(log.findings.filter(\.isLoss) == [])
      // Damage that was met is recorded, which leaves out a number.
      #expect(replayed.keptOperations == state.keptOperations, "with inputs: \(withInputs)")
    }
  }
}

extension LogDirectory {
  /// What verifying finds in any file that serves.
  func findings() throws -> [String] {
    var findings: [String] = []
    let witnesses = try witnesses()
    for stream in streams {
      var sequence = try segments(of: stream.name, witnesses: witnesses)
      sequence.isHashed = true
      var chain = ChainCheck(logID: try logID() ?? .zero)
      while var report = try sequence.next() {
        chain.check(&report)
        findings += report.findings.map(\.message)
      }
    }
    return findings
  }
}
