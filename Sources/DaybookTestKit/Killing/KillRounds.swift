import DaybookLog
package import Foundation

/// Ends a real process on the real disk with SIGKILL while it writes, again and again, and checks
/// after each round what it had acknowledged.
///
/// Every round: the writer must lock others out while it lives, its lock must be free when it is
/// dead, the log must open for writing without a finding, and each thread's entries must be there
/// once, in order and without a gap, up to the last one acknowledged at least. What a round left is
/// checked again in all later ones.
package struct KillRounds {
  /// What the rounds did.
  package struct Report: Sendable {
    /// Rounds done.
    package var rounds = 0
    /// Writers that were killed; the others had ended by themselves.
    package var kills = 0
    /// Writers killed before they had opened the log.
    package var killsInOpening = 0
    /// Entries acknowledged as durable.
    package var acknowledged = 0
    /// Segment files left by the rounds.
    package var segments = 0
    /// Things that were checked.
    package var checks = 0
    /// The first thing that did not hold, in words.
    package var violation: String?
  }

  /// Rounds on one directory before a new one begins: reading all of it again takes its time.
  static let roundsOfDirectory = 12
  /// Lines of a writer after which it is killed, at most.
  static let lineLimit: UInt64 = 160

  private let program: URL
  private let folder: String
  private var random: SplitMix64
  private var report = Report()
  /// The last counter that was there after the round, by `ROUND.THREAD`.
  private var settled: [String: Int] = [:]
  private var directory = ""

  /// Rounds in `folder`, which exists, with the writer's process being `program kill-writer`.
  package init(program: URL, folder: String, seed: UInt64) {
    self.program = program
    self.folder = folder
    random = SplitMix64(seed: seed)
  }

  /// Does `count` rounds, or ends at the first violation, whose directory stays, or once
  /// `progress`, which hears of each round, says `false`. Blocks.
  package mutating func run(_ count: Int, progress: (Int) -> Bool = { _ in true }) throws -> Report
  {
    for round in 1...max(1, count) {
      if round % KillRounds.roundsOfDirectory == 1 { try beginDirectory(round) }
      let (acknowledged, wasKilled, hadOpened) = try write(round)
      report.rounds += 1
      report.kills += wasKilled ? 1 : 0
      report.killsInOpening += hadOpened ? 0 : 1
      check(round, acknowledged)
      if report.violation != nil { return report }
      if !progress(round) { break }
    }
    try endDirectory()
    return report
  }

  private mutating func beginDirectory(_ round: Int) throws {
    try endDirectory()
    directory = "\(folder)/log-\(round)"
    settled = [:]
  }

  private mutating func endDirectory() throws {
    guard !directory.isEmpty else { return }
    let found = try LogDirectory(directory, fileSystem: SystemFileSystem())
    report.segments += found.streams.reduce(0) { $0 + $1.segments.count }
    try FileManager.default.removeItem(atPath: directory)
  }

  // MARK: - Writing

  /// Runs a writer and kills it at a random place. Returns what it acknowledged.
  private mutating func write(
    _ round: Int
  ) throws -> (acknowledged: [String: Int], wasKilled: Bool, hadOpened: Bool) {
    let process = Process()
    process.executableURL = program
    process.arguments = [
      "kill-writer", "--dir", directory, "--round", String(round), "--seed",
      String(random.next() >> 33),
    ]
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    // One round in four is killed while it starts or opens; the others by how far they are.
    let lines = random.next() % 4 == 0 ? 0 : Int(random.next() % KillRounds.lineLimit) + 1
    let microseconds = UInt32(random.next() % (lines == 0 ? 40_000 : 3_000))
    try process.run()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    var text: [UInt8] = []
    var lineCount = 0
    var wasKilled = false
    if lines == 0 {
      usleep(microseconds)
      wasKilled = kill(process.processIdentifier, SIGKILL) == 0
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == -1, errno == EINTR { continue }
      guard count > 0 else { break }
      text += buffer[..<count]
      lineCount += buffer[..<count].count { $0 == UInt8(ascii: "\n") }
      if lineCount >= lines, !wasKilled {
        checkLock(process.processIdentifier)
        usleep(microseconds)
        wasKilled = kill(process.processIdentifier, SIGKILL) == 0
      }
    }
    process.waitUntilExit()
    let said = String(decoding: text, as: UTF8.self).split(separator: "\n")
    var acknowledged: [String: Int] = [:]
    for line in said {
      let words = line.split(separator: " ")
      if words[0] == "failed" { fail(round, "the writer said: \(line)") }
      if words.count == 2, let counter = Int(words[1]) {
        acknowledged[String(words[0])] = counter
      }
    }
    return (
      acknowledged, wasKilled && process.terminationReason == .uncaughtSignal, !said.isEmpty
    )
  }

  /// While the writer lives, nobody else gets in.
  private mutating func checkLock(_ writer: Int32) {
    report.checks += 1
    do throws(LogError) {
      try Log.open(directory, KilledWriter.configuration(seed: 1)) { _, _ in }.close()
      // It may have ended, or be suspended, just then.
    } catch {
      guard case .locked(_, let process) = error, process == nil || process == writer else {
        report.violation = "a second opener was told \(error)"
        return
      }
    }
  }

  // MARK: - Checking

  private mutating func check(_ round: Int, _ acknowledged: [String: Int]) {
    var counters: [String: Int] = [:]
    var disorder: String?
    do throws(LogError) {
      let log = try Log.open(directory, KilledWriter.configuration(seed: random.next() >> 33)) {
        _, entry throws(LogError) in
        let words = entry.bytes.prefix(24).split(separator: UInt8(ascii: " "))
        let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let counter = words.dropFirst().first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        let last = counters[name] ?? 0
        if counter != last + 1, disorder == nil {
          disorder = "\(name) \(counter ?? 0) stands behind \(last)"
        }
        counters[name] = last + 1
      }
      if let refusal = log.refusal { fail(round, "the log is read-only: \(refusal)") }
      if let finding = log.findings.first { fail(round, finding.message) }
      try log.close()
    } catch {
      fail(round, "the log does not open: \(error)")
    }
    if let disorder { fail(round, disorder) }
    for (name, counter) in acknowledged {
      report.checks += 1
      report.acknowledged += counter
      if counters[name] ?? 0 < counter {
        fail(round, "\(name) \(counter) was acknowledged; \(counters[name] ?? 0) entries are there")
      }
    }
    for (name, count) in settled where counters[name] != count {
      fail(round, "\(name) had \(count) entries and has \(counters[name] ?? 0)")
    }
    report.checks += settled.count + counters.count
    settled = counters
  }

  private mutating func fail(_ round: Int, _ what: String) {
    if report.violation == nil { report.violation = "round \(round): \(what) (\(directory))" }
  }
}
