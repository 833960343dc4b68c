import DaybookFormat
import DaybookLog
import DaybookSync
import Synchronization

/// A log, the disk it is on, and the model that it is compared with: what the actions act on.
final class TortureWorld {
  static let account = "rep-7"
  static let device = "phone-7"
  static let directory = SimulatedDisk.root + "/log"
  static let schema = Schema(
    name: "torture",
    collections: [
      CollectionSchema(
        name: TortureServer.collection,
        fields: Dictionary(
          uniqueKeysWithValues: fieldNames.map { ($0, FieldSchema(.int, isOptional: true)) }),
        scope: .constant(TortureServer.scope), indexes: ["a"])
    ])
  static let fieldNames = ["a", "b", "c", "d", "e"]

  var random: SplitMix64
  var report: TortureReport
  let planted: PlantedBug?
  /// Where the current chapter's limits and odds stand.
  let chapter: TortureChapter
  private(set) var disk: SimulatedDisk
  /// What the log sees of ``disk``: the disk itself, or a planted bug around it.
  private(set) var fileSystem: any FileSystem
  var log: Log?
  /// The state folded as the log went on.
  var state: ClientState?
  /// ``state`` holds exactly what the log does.
  var isStateKnown = true
  var outbox = TortureStream(.outbox)
  var feed = TortureStream(.feed)
  var server = TortureServer()
  /// Files that were damaged since the last opening.
  var freshDamage: [String: TortureDamage] = [:]
  /// Files that were damaged at all: a second fault could take a copy's twin.
  var damagedFiles: Set<String> = []
  /// The log was closed, and nothing has happened since.
  var isClosedWhole = false
  /// The chapter can't go on.
  var isOver = false
  /// The disk of the copy that is compared.
  var copy: SimulatedDisk?
  /// How many calls the last opening made.
  var openingCallCount = 40
  /// Steps are told in words, which costs time.
  let tellsTrail: Bool
  /// What is being done, for a violation's text.
  var place = ""
  private let clock: Mutex<UInt64>

  init(
    seed: UInt64, report: TortureReport, planted: PlantedBug?, tellsTrail: Bool
  ) {
    self.tellsTrail = tellsTrail
    random = SplitMix64(seed: seed)
    self.report = report
    self.planted = planted
    chapter = TortureChapter(&random)
    disk = SimulatedDisk(seed: random.next())
    fileSystem = planted?.disk(disk) ?? disk
    clock = Mutex(1_700_000_000_000 << 16)
  }

  func model(_ name: TortureStreamName) -> TortureStream { name == .outbox ? outbox : feed }

  /// What the model expects of the state, without what is not known.
  var expectation: TortureExpectation {
    expectation(outbox, feed, isCut: feed.hasLostEntries)
  }

  /// What the model expects of a state made of `outbox` and `feed`, which lacks its end if `isCut`.
  func expectation(
    _ outbox: TortureStream, _ feed: TortureStream, isCut: Bool
  ) -> TortureExpectation {
    // What took effect and was dropped is shown by the base alone: once that lost its end, not at
    // all until it is pulled again.
    TortureExpectation(
      outbox: outbox.entries, feed: feed.entries, server: server,
      dropped: isCut ? outbox.goneEntries : [])
  }

  var configuration: LogConfiguration {
    let random = Mutex(SplitMix64(seed: self.random.next()))
    let world = ClockBox(clock: clockReading)
    return LogConfiguration(
      streams: chapter.streams, account: TortureWorld.account, fileSystem: fileSystem,
      random: { random.withLock { $0.next() } }, clock: { world.clock() }, idleMarkDelay: nil)
  }

  private struct ClockBox: Sendable {
    let clock: @Sendable () -> HybridTime
  }

  private var clockReading: @Sendable () -> HybridTime {
    let ticks = Mutex(now)
    return {
      ticks.withLock { ticks in
        ticks += 1
        return HybridTime(rawValue: ticks)
      }
    }
  }

  /// The device's clock, which sometimes jumps.
  var now: UInt64 {
    get { clock.withLock { $0 } }
    set { clock.withLock { $0 = newValue } }
  }

  // MARK: - Drawing

  func draw(below limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }

  /// True once in `count` times.
  func isOnce(in count: Int) -> Bool { draw(below: count) == 0 }

  func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[draw(below: elements.count)]
  }

  /// Tells what happened in this step, for the trail of a violation.
  func tell(_ words: @autoclosure () -> String) {
    guard tellsTrail else { return }
    if report.trail.count == TortureReport.trailLimit { report.trail.removeFirst() }
    report.trail.append("\(report.steps) \(place): \(words())")
  }

  // MARK: - Checking

  /// Counts a check of `invariant`; `detail` is asked only if it does not hold.
  func check(_ invariant: TortureInvariant, _ holds: Bool, _ detail: @autoclosure () -> String) {
    guard let index = report.invariants.firstIndex(where: { $0.invariant == invariant }) else {
      return
    }
    report.invariants[index].checks += 1
    guard !holds else { return }
    report.invariants[index].violations += 1
    if report.violation == nil {
      report.violation = TortureReport.Violation(
        invariant: invariant, step: report.steps, detail: "\(place): \(detail())",
        trail: report.trail, files: tellsTrail ? files : [:])
    }
  }

  /// The files as programs see them, by their paths; those of a copy that is looked at in `copy`.
  private var files: [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (place, disk) in [("", disk)] + (copy.map { [("copy/", $0)] } ?? []) {
      for path in disk.paths {
        files[place + path.dropFirst(SimulatedDisk.root.count + 1)] = disk.content(of: path)
      }
    }
    return files
  }

  // MARK: - The disk

  /// The log's files on a disk that does not fail, and of which nobody counts the calls.
  var still: SimulatedDisk {
    let still = SimulatedDisk(seed: 0)
    for path in disk.paths where path.hasPrefix(TortureWorld.directory + "/") {
      still.put(disk.content(of: path) ?? [], at: path)
    }
    return still
  }

  /// Cuts the power, or kills the process: the log is gone, and the disk keeps what it may.
  func crash(_ mode: SimulatedDisk.Crash) {
    report.crashes += 1
    let survivor = disk.crashed(mode, seed: random.next())
    disk.abandon()
    // Ends the dead log's thread; its disk does nothing any more.
    try? log?.close()
    log = nil
    state = nil
    isStateKnown = true
    isClosedWhole = false
    disk = survivor
    fileSystem = planted?.disk(survivor) ?? survivor
  }

  /// Opens the same disk anew, as another process would after a close.
  func forgetLog() {
    log = nil
    state = nil
    isStateKnown = true
  }
}

/// What stays the same for some hundred steps: sizes, and what may happen at all.
struct TortureChapter {
  /// Steps until the chapter ends.
  let stepCount: Int
  let streams: [StreamOptions]
  /// Whether calls may fail on their own.
  let hasFaults: Bool
  /// Whether stored bytes may change.
  let hasDamage: Bool
  /// Whether the clock jumps.
  let hasClockJumps: Bool

  init(_ random: inout SplitMix64) {
    stepCount = 60 + Int(random.next() % 300)
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = (20 + 4 * Int(random.next() % 12)) << 10
    var feed = StreamOptions.feed
    feed.segmentByteLimit = (12 + 4 * Int(random.next() % 8)) << 10
    streams = [feed, outbox]
    hasFaults = random.next() % 4 != 0
    hasDamage = random.next() % 2 == 0
    hasClockJumps = random.next() % 3 == 0
  }
}
