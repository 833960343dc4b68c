import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A disk that fails for a while, and then no more: writes stop with a typed error, nothing that
/// was acknowledged is lost, and writing goes on by itself.
@Suite struct MachineErrorTests {
  /// A life with a roll of both streams and groups that are not synced at once.
  private static let life: [Workload.Step] = [
    .open, .append("outbox", [["a1"], ["a2", "a3"]]), .append("feed", [["f1"]]), .idle,
    .append("feed", [["f2"]], isSynced: false), .append("outbox", [[Workload.long("b1", 5_000)]]),
    .append("feed", [[Workload.noise("g1")]], isSynced: false), .append("feed", [["g2"]]),
    .append("outbox", [[Workload.long("b2", 9_000)]]), .append("feed", [["h1"]], isSynced: false),
    .append("feed", [[Workload.noise("h2")]], isSynced: false), .append("outbox", [["c1"]]), .idle,
    .append("feed", [[Workload.noise("h3")]]), .append("outbox", [["c2"]]),
  ]
  /// What is written once the cause is gone.
  private static let later: [Workload.Step] = [
    .append("outbox", [["late"]]), .append("feed", [["late-f"]]),
  ]

  /// Runs `steps`, then what is written later, and checks what was said against what is there.
  private func check(_ steps: [Workload.Step], _ place: String, sourceLocation: SourceLocation)
    -> Workload
  {
    let disk = SimulatedDisk(seed: 7)
    var workload = Workload()
    workload.run(
      steps + [.fault(.none), .capacity(nil)] + Self.later, on: disk)
    #expect(
      workload.acknowledged.isSuperset(of: ["late", "late-f"]),
      "\(place): \(String(describing: workload.errors.last))", sourceLocation: sourceLocation)
    for mode in [SimulatedDisk.Crash.killed, .dropped, .garbagePages] {
      do {
        let after = disk.crashed(mode, seed: 3)
        let (log, found) = try SmallLog.open(after, seed: 2)
        #expect(workload.complaint(found) == nil, "\(place)", sourceLocation: sourceLocation)
        try log.close()
        let problems = try ChainOracle.problems(SmallLog.directory, after)
        #expect(problems == [], "\(place)", sourceLocation: sourceLocation)
      } catch {
        Issue.record(error, "\(place)", sourceLocation: sourceLocation)
      }
    }
    return workload
  }

  /// What fails for a while.
  private static let causes: [SimulatedDisk.Fault] = [
    // F51: the disk became read-only.
    .refuse([.write, .create, .truncate, .remove, .rename, .makeDirectory, .reserve], .readOnly),
    // F48: no room, for data or for a file.
    .refuse([.write, .create, .reserve], .diskFull), .refuse([.create], .diskFull),
    // F40, F41: what was written could not be made durable.
    .refuse([.sync], .other(5)), .refuse([.syncDirectory], .other(5)),
    .refuse([.write], .other(5)), .refuse([.create], .other(5)),
    .refuse([.write, .sync, .create, .syncDirectory, .truncate, .remove], .other(5)),
  ]

  @Test(arguments: 0..<causes.count)
  func `writing goes on by itself when the cause of an error is gone`(cause: Int) {
    for start in 1..<Self.life.count {
      for length in [1, 2, 4] where start + length <= Self.life.count {
        var steps = Self.life
        steps.insert(.fault(.none), at: start + length)
        steps.insert(.fault(Self.causes[cause]), at: start)
        let place = "\(Self.causes[cause]) at step \(start) for \(length)"
        _ = check(steps, place, sourceLocation: #_sourceLocation)
      }
    }
  }

  @Test func `a disk that is full at any byte costs nothing acknowledged`() {
    var refusals = 0
    for capacity in stride(from: 2_048, through: 140 << 10, by: 1_024) {
      var steps = Self.life
      steps.insert(.capacity(capacity), at: 1)
      let workload = check(steps, "\(capacity) bytes", sourceLocation: #_sourceLocation)
      refusals += workload.errors.count
      for error in workload.errors {
        switch error {
        // S68: the error says what is the matter.
        case .diskFull: break
        case .notWritten(let cause):
          #expect(cause.reason == .diskFull, "\(capacity) bytes")
        default: Issue.record(error, "\(capacity) bytes")
        }
      }
    }
    #expect(refusals > 500)
  }

  @Test func `the last free pages of a full disk take operations`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    // No room for a segment made ahead, but for a header and a few groups.
    disk.setCapacity(disk.usedByteCount + (26 << 10))
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("one")]])
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("two")]])
    #expect(throws: LogError.self) { try log.appendAndWait("outbox", [[SmallLog.entry("three")]]) }
    // S68: reads go on, and show what was acknowledged.
    #expect(try SmallLog.inspect(disk).texts["outbox"] == ["one", "two"])
    disk.setCapacity(nil)
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("four")]])
    try log.close()
    #expect(try SmallLog.inspect(disk).texts["outbox"] == ["one", "two", "four"])
  }

  // F58
  @Test func `space that can't be taken ahead keeps nobody from writing`() throws {
    let disk = SimulatedDisk(seed: 1, fault: .refuse([.reserve], .diskFull))
    let (log, _) = try SmallLog.open(disk)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("page")]])
    try log.close()
    #expect(try SmallLog.inspect(disk).texts["feed"] == ["page"])
  }

  // F42
  @Test func `groups that wait for a disk are few, and stand before what comes later`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try log.appendAndWait("feed", [[SmallLog.entry("first")]])
    _ = try log.appendAndWait("feed", [[SmallLog.entry("held")]], isSynced: false)
    disk.set(.refuse([.write, .create], .other(5)))
    for index in 0..<50 {
      // Nothing more is taken into memory for later: each is refused.
      #expect(throws: LogError.self) {
        try log.appendAndWait("feed", [[SmallLog.entry("refused \(index)")]], isSynced: false)
      }
    }
    #expect(throws: LogError.self) { try log.appendAndWait("feed", []) }
    disk.set(.none)
    let number = try log.appendAndWait("feed", [[SmallLog.entry("last")]])
    #expect(number == 3)
    try log.close()
    #expect(try SmallLog.inspect(disk).texts["feed"] == ["first", "held", "last"])
  }

  @Test func `a log that is closed while groups wait writes them or says that it can't`() throws {
    for canWrite in [false, true] {
      let disk = SimulatedDisk(seed: 1)
      let (log, _) = try SmallLog.open(disk)
      _ = try log.appendAndWait("feed", [[SmallLog.entry("first")]])
      _ = try log.appendAndWait("feed", [[SmallLog.entry("held")]], isSynced: false)
      disk.set(.refuse([.sync], .other(5)))
      #expect(throws: LogError.self) { try log.appendAndWait("feed", []) }
      if canWrite {
        disk.set(.none)
        try log.close()
        #expect(try SmallLog.inspect(disk).texts["feed"] == ["first", "held"])
      } else {
        #expect(throws: LogError.self) { try log.close() }
        disk.set(.none)
        #expect(try SmallLog.inspect(disk).texts["feed"]?.first == "first")
      }
    }
  }

  // F49, F72
  @Test func `a file that somebody else made is never written over`() throws {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("one")]])
    let path = "\(SmallLog.directory)/outbox/00000002.g0.dbs"
    disk.put([1, 2, 3], at: path)
    let long = [[SmallLog.entry(Workload.long("two", 20_000))]]
    #expect(throws: LogError.writtenByOther(path: path)) {
      try log.appendAndWait("outbox", long)
    }
    #expect(disk.content(of: path) == [1, 2, 3])
    disk.drop(path)
    _ = try log.appendAndWait("outbox", long)
    try log.close()
  }
}
