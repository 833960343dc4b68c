import DaybookFormat
import DaybookLog
import DaybookSync

/// What of the outbox is still needed, as the files tell it.
struct OutboxNeed {
  private let keep: OutboxKeep
  /// The last entry that was looked at; later ones are all needed.
  let lastNumber: UInt64
  /// The bytes of each output that could go, by file.
  private(set) var garbage: [String: UInt64] = [:]
  /// The numbers of the operations that are in serving files.
  private var written: [Identifier: UInt64] = [:]

  /// Reads the whole outbox, and of the feed what tells how far it has come. `nil` if it was
  /// stopped or if a loss makes what is needed uncertain.
  init?(_ directory: LogDirectory, _ upkeep: LogUpkeep) throws(LogError) {
    guard let header = try directory.newestHeader() else { return nil }
    var replay = try LogReplay(
      directory, streams: [SnapshotFile.stream, LogUpkeep.outbox], upkeepThrough: .max)
    var state = ClientState(
      schema: Schema(name: "", collections: []), incarnation: header.incarnation)
    var retention = OutboxRetention()
    var latest: Timestamp?
    var written: [Identifier: UInt64] = [:]
    var last: UInt64 = 0
    var kept: [(file: String, number: UInt64, byteCount: Int, entry: Entry)] = []
    // What is not durable yet may be taken back, and then nothing may have been dropped for it.
    let durable = try directory.durableNumbers()
    let outputs = Set(
      directory.streams.first { $0.name == LogUpkeep.outbox }?.serving
        .filter(\.isCompacted).map(\.file) ?? [])
    do throws(LogError) {
      try replay.run { found throws(LogError) in
        if upkeep.isStopped() { throw .closed }
        if let limit = durable[found.stream], found.number > limit { return }
        guard let entry = try? Entry(kind: found.kind, bytes: found.bytes) else { return }
        state.apply(entry, position: found.number)
        if case .change(let change) = entry {
          latest = latest.map { max($0, change.serverTime) } ?? change.serverTime
        }
        guard found.stream == LogUpkeep.outbox else { return }
        retention.add(entry, number: found.number)
        if case .operation(let operation) = entry { written[operation.id] = found.number }
        last = max(last, found.number)
        if outputs.contains(found.file) {
          // In an output each entry stands twice, with its number before it.
          let byteCount =
            2 * (found.bytes.count + LogLayout.entryHeaderByteCount + KeptEntry.prefixByteCount)
          kept.append((found.file, found.number, byteCount, entry))
        }
      }
    } catch {
      if case .closed = error { return nil }
      throw error
    }
    if replay.findings.contains(where: { $0.isLoss && $0.record == nil }) { return nil }
    state.endReplay()
    let keep = retention.keep(
      in: state, horizonMilliseconds: upkeep.horizonMilliseconds, serverTime: latest)
    for one in kept where !keep.contains(one.entry, number: one.number) {
      garbage[one.file, default: 0] += UInt64(one.byteCount)
    }
    self.written = written
    self.keep = keep
    lastNumber = last
  }

  /// Whether a compaction of `range` must keep an entry of it; one that can't be read it must.
  ///
  /// What was said of an operation goes with it or after it, never before: not while a serving file
  /// outside of the range has the operation, nor while a superseded one might, which could come
  /// back where what covers it is damaged or was not copied.
  func contains(_ found: LogEntry, compacting range: OutboxRange) -> Bool {
    guard found.number <= lastNumber,
      let entry = try? Entry(kind: found.kind, bytes: found.bytes)
    else { return true }
    if keep.contains(entry, number: found.number) { return true }
    return keep.subjects(of: entry).contains { id in
      guard let number = written[id] else { return range.lowestBeside < found.number }
      return !range.numbers.contains(number)
    }
  }

  /// Takes note that `range` was compacted: what was dropped is in no serving file any more.
  mutating func note(compacted range: OutboxRange) {
    written = written.filter { id, number in
      keep.operations.contains(id) || !range.numbers.contains(number)
    }
  }
}

/// A range of the outbox that becomes one file.
struct OutboxRange {
  /// The numbers of its entries.
  let numbers: Range<UInt64>
  /// The lowest number in a superseded file that the range does not cover.
  let lowestBeside: UInt64

  init(_ files: [StreamFile], _ directory: LogDirectory) throws(LogError) {
    guard let first = files.first, let last = files.last,
      let stream = directory.streams.first(where: { $0.name == LogUpkeep.outbox }),
      let lowest = try directory.firstNumber(of: first)
    else {
      numbers = 0..<0
      lowestBeside = 0
      return
    }
    let behind = stream.serving.first { $0.first > last.last }
    var end = UInt64.max
    if let behind, let number = try directory.firstNumber(of: behind) { end = number }
    numbers = lowest..<max(lowest, end)
    var beside = UInt64.max
    for old in stream.superseded where old.first > last.last || old.last < first.first {
      beside = min(beside, try directory.firstNumber(of: old) ?? 0)
    }
    lowestBeside = beside
  }
}
