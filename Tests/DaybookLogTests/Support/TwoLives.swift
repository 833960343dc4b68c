import DaybookLog
import DaybookTestKit

/// A short life of a log: groups in both streams, marks, rolls, an end and a new beginning.
///
/// Remembers what was acknowledged as durable, and what was tried at all.
final class TwoLives {
  private let harness: LogHarness
  /// Entries whose append returned, durable by then.
  private(set) var acknowledged: [String] = []
  /// Entries that may be in the log or not.
  private(set) var uncertain: Set<String> = []
  /// Entries that were refused as not written.
  private(set) var refused: Set<String> = []
  /// What opening found wrong.
  private(set) var damage: [LogFinding] = []
  private var written: [String] = []

  init(_ harness: LogHarness) { self.harness = harness }

  /// The whole of it; ends early at the first thing that fails, if `stopsAtError`.
  func run(stopsAtError: Bool = true) {
    for life in 0..<2 {
      guard let opened = try? harness.open() else {
        if stopsAtError { return }
        continue
      }
      damage += opened.log.findings.filter { $0.kind != .tornTail }
      let isWhole = run(opened.log, life, stopsAtError)
      let isClosed = (try? opened.log.close()) != nil
      if stopsAtError, !isWhole || !isClosed { return }
    }
  }

  private func run(_ log: Log, _ life: Int, _ stopsAtError: Bool) -> Bool {
    for round in 0..<2 {
      let name = "\(life).\(round)"
      var steps = append(log, "outbox", ["op \(name)"], 40, isSynced: true)
      steps = append(log, "feed", ["page \(name)", "more \(name)"], 900, isSynced: false) && steps
      if round == 1 { steps = (try? log.markIdle()) != nil && steps }
      steps = append(log, "feed", ["cursor \(name)"], 12, isSynced: true) && steps
      steps = append(log, "outbox", ["two \(name)", "of \(name)"], 5000, isSynced: true) && steps
      if stopsAtError, !steps { return false }
    }
    return true
  }

  private func append(
    _ log: Log, _ stream: String, _ names: [String], _ byteCount: Int, isSynced: Bool
  ) -> Bool {
    let entries = names.map { name in
      let filler = String(repeating: ".", count: max(0, byteCount - name.utf8.count))
      return NewEntry(kind: 1, bytes: Array((name + filler).utf8))
    }
    let keys = entries.map { entry in
      let text = String(decoding: entry.bytes.prefix(24), as: UTF8.self)
      return "\(stream) \(text) (\(entry.bytes.count))"
    }
    do throws(LogError) {
      _ = try log.appendAndWait(stream, [entries], isSynced: isSynced)
      if isSynced {
        // A stream's sync covers what was written to it before.
        let earlier = written.filter { $0.hasPrefix(stream) }
        written.removeAll { $0.hasPrefix(stream) }
        acknowledged += earlier + keys
        uncertain.subtract(earlier)
      } else {
        written += keys
        uncertain.formUnion(keys)
      }
      return true
    } catch {
      if case .notWritten = error {
        refused.formUnion(keys)
        // What was written before and not synced went with it.
        written.removeAll { $0.hasPrefix(stream) }
      } else {
        uncertain.formUnion(keys)
      }
      return false
    }
  }

  /// What is wrong with `entries`, replayed after a crash; `nil` if nothing is.
  func problem(with entries: [String]) -> String? {
    for stream in ["outbox", "feed"] {
      let found = entries.filter { $0.hasPrefix(stream + ":") }
      for (index, entry) in found.enumerated()
      where !entry.hasPrefix("\(stream):\(index + 1) ") {
        return "\(entry) stands at place \(index + 1)"
      }
      let keys = found.map { entry in
        stream + entry.dropFirst(entry.prefix { $0 != " " }.count)
      }
      if Set(keys).count != keys.count { return "an entry of \(stream) is there twice" }
      let wanted = acknowledged.filter { $0.hasPrefix(stream + " ") }
      let certain = Set(wanted)
      if keys.filter(certain.contains) != wanted {
        return "of \(wanted) there is \(keys)"
      }
      let strange = keys.first { !certain.contains($0) && !uncertain.contains($0) }
      if let strange { return "\(strange) is there, and was never written" }
    }
    return nil
  }
}
