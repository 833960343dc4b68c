import DaybookLog

/// Random work on a log, with crashes, failing calls and damage, compared with a small model after
/// every opening. Everything follows from the seed.
///
/// A step is one action of ``TortureActions``, in the middle of which the machine may stop or a
/// call may fail. Source: `Docs/Testing.md`, section "Torture".
package enum Torture {
  /// Runs `steps` steps, or up to the first violation; with `planted`, on a disk with that bug.
  ///
  /// With `tellsTrail` a violation names the steps before it and has the files. `goesOn` hears of
  /// the steps done at the end of each chapter, and may end the run. Blocks: not to be called on
  /// Swift's cooperative pool.
  package static func run(
    seed: UInt64, steps: Int, planted: PlantedBug? = nil, tellsTrail: Bool = false,
    goesOn: (Int) -> Bool = { _ in true }
  ) -> TortureReport {
    var chapters = SplitMix64(seed: seed)
    var report = TortureReport(seed: seed)
    while report.steps < steps, report.violation == nil, goesOn(report.steps) {
      let world = TortureWorld(
        seed: chapters.next(), report: report, planted: planted,
        tellsTrail: tellsTrail)
      run(world, steps: steps)
      report = world.report
    }
    return report
  }

  /// The names of all actions.
  package static var actionNames: [String] { TortureActions.all.map(\.name) }

  private static func run(_ world: TortureWorld, steps: Int) {
    let last = min(steps, world.report.steps + world.chapter.stepCount)
    while world.report.steps < last, world.report.violation == nil, !world.isOver {
      world.report.steps += 1
      step(world)
    }
    finish(world)
  }

  private static func step(_ world: TortureWorld) {
    let possible = TortureActions.all.filter { $0.isPossible(in: world) }
    var ticket = world.draw(below: possible.reduce(0) { $0 + $1.weight })
    let action = possible.first { action in
      ticket -= action.weight
      return ticket < 0
    }
    guard let action else { return }
    world.report.actions[action.name, default: 0] += 1
    if world.chapter.hasClockJumps, world.isOnce(in: 20) {
      world.now = (1_600_000_000_000 + UInt64(world.draw(below: 200_000_000_000))) << 16
    }
    world.now += 1 << 16
    let trouble = TortureTrouble(world, for: action)
    world.place = "\(action.name), \(trouble)"
    world.disk.set(trouble.fault(after: world.disk.callCount))
    if case .call = trouble { world.report.faults += 1 }
    action.run(world, mayFail: trouble.isAny)
    if case .stop(_, let mode) = trouble {
      world.crash(mode)
      world.tell("crashed")
    } else {
      world.disk.set(.none)
    }
  }

  /// Brings the chapter to an end: what is there is checked once more, and ends whole.
  private static func finish(_ world: TortureWorld) {
    guard world.report.violation == nil, !world.isOver else { return }
    world.place = "the end of a chapter"
    world.close()
    world.open(mayFail: false)
    guard world.report.violation == nil, !world.isOver else { return }
    world.close()
    let findings = world.verify()
    let isHurt = !world.damagedFiles.isEmpty
    for finding in findings where !world.damagedFiles.contains(finding.file) {
      let isLink = [.seal, .chain].contains(finding.kind)
      world.check(
        isLink ? .chained : .crashIsNoDamage, isLink && isHurt, finding.message)
    }
    world.open(mayFail: false)
    world.close()
  }
}

/// What goes wrong in the middle of one step.
enum TortureTrouble: CustomStringConvertible {
  case nothing
  /// The machine stops at this call, and the disk forgets in this way.
  case stop(at: Int, SimulatedDisk.Crash)
  /// Calls fail, from this one on.
  case call(at: Int, Kind)

  enum Kind: CaseIterable {
    case failure, fullDisk, shortWrite, failedSync, twice, allWrites, readOnly, fullFromNowOn
  }

  init(_ world: TortureWorld, for action: any TortureAction) {
    let odds = world.draw(below: 100)
    let reach = action.isOpening ? world.openingCallCount + 6 : 14
    if odds < 12 {
      let mode = world.pick(SimulatedDisk.Crash.allCases) ?? .dropped
      self = .stop(at: 1 + world.draw(below: reach), mode)
    } else if odds < 24, world.chapter.hasFaults {
      self = .call(at: 1 + world.draw(below: reach), world.pick(Kind.allCases) ?? .failure)
    } else {
      self = .nothing
    }
  }

  var isAny: Bool {
    if case .nothing = self { return false }
    return true
  }

  /// The disk's fault, when `count` calls were made before.
  func fault(after count: Int) -> SimulatedDisk.Fault {
    switch self {
    case .nothing: .none
    case .stop(let call, _): .stop(at: count + call)
    case .call(let call, .failure): .fail(at: count + call, .other(5))
    case .call(let call, .fullDisk): .fail(at: count + call, .diskFull)
    case .call(let call, .shortWrite): .shortWrite(at: count + call)
    case .call(let call, .failedSync): .failedSync(at: count + call)
    case .call(_, .allWrites): .refuse([.write, .sync], .other(5))
    case .call(_, .readOnly):
      .refuse(
        [.write, .sync, .create, .remove, .rename, .truncate, .makeDirectory, .syncDirectory],
        .readOnly)
    case .call(_, .fullFromNowOn): .refuse([.write, .create, .makeDirectory], .diskFull)
    case .call(let call, .twice): .failTwice(at: count + call, distance: 1 + call % 4, .other(5))
    }
  }

  var description: String {
    switch self {
    case .nothing: "nothing else"
    case .stop(let call, let mode): "stopped at call \(call), then \(mode)"
    case .call(let call, let kind): "\(kind) at call \(call)"
    }
  }
}
