import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// An outbox of which a compaction made one file, with its inputs beside it.
struct CompactedLog {
  let disk: SimulatedDisk
  /// What the compaction made of which files.
  let outcome: Compactor.Outcome
  /// The numbers that the compaction kept.
  let kept: Set<UInt64>
  /// The numbers in each input.
  let inputs: [StreamFile: Set<UInt64>]
  /// All numbers of the outbox, those behind the compaction included.
  let all: Set<UInt64>

  /// Writes `groups` groups and compacts what is closed of the outbox, keeping the numbers that
  /// `keeps` says.
  init(groups: Int = 28, keeping keeps: (UInt64) -> Bool = { $0 % 3 == 0 }) throws {
    disk = SimulatedDisk(seed: 1)
    let log = try SmallLog.open(disk).log
    for group in 0..<groups {
      let filling = String(repeating: "-", count: 3_000)
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("a\(group)\(filling)")]])
      _ = try log.appendAndWait("outbox", [[SmallLog.entry("b\(group)")]])
    }
    try log.close()
    let directory = try LogDirectory(SmallLog.directory, fileSystem: disk)
    var inputs: [StreamFile: Set<UInt64>] = [:]
    for report in try SmallLog.reports(disk) where report.stream == "outbox" {
      let file = StreamFile(
        stream: "outbox", first: report.ordinal, last: report.ordinal, generation: 0)
      inputs[file] = Set(report.frames.flatMap { report.entries(of: $0) }.map(\.number))
    }
    var random = SplitMix64(seed: 9)
    let files = try directory.closedFiles(of: "outbox").map(\.file)
    let made = try Compactor(directory, random: { random.next() }).compact(
      "outbox", files, isEchoed: true, isCompressed: false
    ) { keeps($0.number) }
    outcome = try #require(made)
    all = inputs.values.reduce(into: []) { $0.formUnion($1) }
    self.inputs = inputs.filter { files.contains($0.key) }
    let covered = self.inputs.values.reduce(into: Set<UInt64>()) { $0.formUnion($1) }
    kept = covered.filter(keeps)
  }

  private init(_ other: CompactedLog, _ disk: SimulatedDisk) {
    self.disk = disk
    outcome = other.outcome
    kept = other.kept
    inputs = other.inputs
    all = other.all
  }

  /// The same on a disk of its own.
  func copied() -> CompactedLog {
    CompactedLog(self, disk.crashed(.persisted, seed: 1))
  }

  func path(_ file: StreamFile) -> String { "\(SmallLog.directory)/\(file.file)" }

  /// The path of what the compaction made.
  var output: String { path(outcome.output) }

  /// The size of what the compaction made.
  var outputByteCount: Int { disk.content(of: output)?.count ?? 0 }

  func zero(_ path: String, page: Int) {
    disk.damage(path, at: page * 4_096, [UInt8](repeating: 0, count: 4_096))
  }

  /// The numbers of the outbox that a replay gives, in its order, and what is wrong.
  func read() throws -> (numbers: [UInt64], findings: [LogFinding]) {
    var numbers: [UInt64] = []
    var replay = try LogReplay(
      LogDirectory(SmallLog.directory, fileSystem: disk), streams: ["feed", "outbox"])
    try replay.run { entry throws(LogError) in numbers.append(entry.number) }
    return (numbers, replay.findings)
  }

  /// Reads the log, of which the inputs `there` are whole, and holds that nothing is given twice,
  /// nothing that is there is lost, and nothing that was kept is lost untold.
  func check(_ there: [StreamFile], _ comment: Comment) throws {
    let (numbers, findings) = try read()
    let given = Set(numbers)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<), comment)
    let lost = findings.filter(\.isLoss).compactMap(\.lost)
    for file in there {
      let numbers = inputs[file] ?? []
      #expect(given.isSuperset(of: numbers.intersection(kept)), comment)
      #expect(!lost.contains { numbers.contains(where: $0.contains) }, comment)
    }
    for number in given { #expect(!lost.contains { $0.contains(number) }, comment) }
    let behind = all.filter { $0 > inputs.values.joined().max() ?? 0 }
    #expect(given.isSuperset(of: behind), comment)
    for number in kept where !given.contains(number) {
      #expect(lost.contains { $0.contains(number) }, comment)
    }
  }
}
