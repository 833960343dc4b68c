import DaybookFormat
import DaybookLog
import DaybookTestKit

/// A short life of a log, and what was said of each entry.
struct Workload {
  enum Step {
    case open, idle, close
    case append(String, [[String]], isSynced: Bool = true)
    /// What goes wrong from here on.
    case fault(SimulatedDisk.Fault)
    /// How many bytes the disk holds from here on.
    case capacity(Int?)
  }

  /// Texts in the order in which they were handed over, by stream.
  private(set) var attempted: [String: [String]] = ["outbox": [], "feed": []]
  /// Texts that were acknowledged as durable.
  private(set) var acknowledged: Set<String> = []
  /// Texts that were said not to be in the log.
  private(set) var refused: Set<String> = []
  /// Everything that failed.
  private(set) var errors: [LogError] = []
  private(set) var damage: [LogFinding] = []
  /// What the last opening showed.
  private(set) var shown: [String: [String]] = [:]

  static func long(_ text: String, _ count: Int = 3_000) -> String {
    text + String(repeating: "-", count: count)
  }

  /// Every kind of thing that a log does, a roll of both streams included.
  static let everything: [Step] = [
    .open, .append("outbox", [["a1"], ["a2", "a3"]]), .append("feed", [["f1"], ["f2"]]),
    .idle, .append("outbox", [[long("b1", 5_000)]]), .append("feed", [["g1"]], isSynced: false),
    .append("feed", [[long("g2")]]), .idle, .append("outbox", [["c1"]]),
    .append("outbox", [[long("c2", 9_000)]]), .append("feed", [[noise("h1")]]),
    .append("feed", [[noise("h2")]]), .append("outbox", [["d1"]]), .idle, .close,
    .open, .append("outbox", [["e1"]]), .append("feed", [["i1"]]), .idle,
    .append("outbox", [["e2"], [long("e3")]]), .append("feed", [["i2"]], isSynced: false),
    .append("feed", [[noise("j1"), "j2"]], isSynced: false), .append("feed", [["j3"]]),
    .append("outbox", [[long("k1", 5_000), long("k2", 5_000)]]),
  ]

  /// Text that does not compress.
  static func noise(_ text: String) -> String {
    var random = SplitMix64(seed: UInt64(text.utf8.first ?? 0))
    return text + "-" + (0..<300).map { _ in String(random.next(), radix: 36) }.joined()
  }

  /// Does `steps` on `disk`, as far as it goes; a log that is left open is given up.
  mutating func run(_ steps: [Step], on disk: SimulatedDisk, seed: UInt64 = 1) {
    var log: Log?
    for step in steps {
      do throws(LogError) {
        switch step {
        case .open:
          unsynced = []
          let opened = try SmallLog.open(disk, seed: seed)
          log = opened.log
          shown = opened.found.texts
          damage += opened.found.damage
        case .idle: try log?.markIdle()
        case .close: try log?.close()
        case .fault(let fault): disk.set(fault)
        case .capacity(let byteCount): disk.setCapacity(byteCount)
        case .append(let stream, let transactions, let isSynced):
          guard let log else { continue }
          try append(stream, transactions, isSynced: isSynced, to: log)
        }
      } catch {
        errors.append(error)
      }
    }
    disk.abandon()
    try? log?.close()
  }

  private mutating func append(
    _ stream: String, _ transactions: [[String]], isSynced: Bool, to log: Log
  ) throws(LogError) {
    let texts = transactions.flatMap { $0 }
    attempted[stream]? += texts
    do throws(LogError) {
      _ = try log.appendAndWait(
        stream, transactions.map { $0.map(SmallLog.entry) }, isSynced: isSynced)
      if isSynced || stream == "outbox" {
        acknowledged.formUnion(texts)
        // A sync covers what was handed over before, also what an error took away meanwhile.
        if let all = attempted[stream] { acknowledged.formUnion(all.filter(unsynced.contains)) }
      } else {
        unsynced.formUnion(texts)
      }
    } catch {
      switch error {
      case .notWritten, .diskFull, .notPermitted, .inputOutput, .writtenByOther:
        refused.formUnion(texts)
      default: break
      }
      throw error
    }
  }

  private var unsynced: Set<String> = []

  /// What is wrong with what was found after a crash; `nil` if nothing is.
  func complaint(_ found: SmallLog.Found) -> String? {
    if !found.isGapless { return "a gap in the numbers" }
    if let first = found.damage.first { return "false alarm: \(first.message)" }
    for stream in ["outbox", "feed"] {
      let texts = found.texts[stream] ?? []
      let present = Set(texts)
      if present.count != texts.count { return "\(stream): an entry is there twice" }
      let known = attempted[stream] ?? []
      if known.filter(present.contains) != texts { return "\(stream): strange or out of order" }
      if let lost = known.first(where: { acknowledged.contains($0) && !present.contains($0) }) {
        return "\(stream): \(lost.prefix(8)) was acknowledged and is lost"
      }
      if let back = texts.first(where: refused.contains) {
        return "\(stream): \(back.prefix(8)) was refused and is there"
      }
    }
    return nil
  }
}
