import DaybookFormat
import DaybookLog
import DaybookSync

/// What a log showed at a place in its history: the base with the own operations laid over it.
struct Projection {
  private(set) var state: ClientState
  /// The number of the last entry of each stream that counts.
  private(set) var ends: [String: UInt64] = [:]
  /// The clock of the last entry that counts.
  private(set) var clock: HybridTime?
  /// Whether an entry behind the place was met.
  private(set) var hasMore = false

  private init(incarnation: Identifier, _ place: Found) {
    state = ClientState(
      schema: Schema(name: "", collections: []), incarnation: incarnation)
    ends = place.ends
    clock = place.clock
    hasMore = place.hasMore
  }

  /// A place in a log, found.
  private struct Found {
    var ends: [String: UInt64] = [:]
    var clock: HybridTime?
    var hasMore = false
    private var reached: [String: UInt64] = [:]
    private let place: LogPlace

    init(_ place: LogPlace) { self.place = place }

    /// The other stream's end is what the entry had seen of it, also where a compaction has dropped
    /// its last entries.
    private mutating func reach(_ stored: LogEntry) {
      reached[stored.stream] = stored.number
      for (stream, number) in reached where stream != stored.stream && stored.otherNext > 0 {
        reached[stream] = max(number, stored.otherNext - 1)
      }
    }

    /// Takes the next entry, in the order of writing.
    mutating func add(_ stored: LogEntry) {
      switch place {
      case .position(let position):
        let end = ends[position.stream] ?? 0
        let isNext = stored.stream == position.stream && stored.number > position.number
        if isNext || (end == position.number && end > 0) { hasMore = true }
        if hasMore { return }
        reach(stored)
        ends = reached
        clock = stored.clock
      case .time(let time):
        // A clock may have jumped back: the last frames with a clock up to it, in their order.
        reach(stored)
        hasMore = stored.clock.time > time
        if hasMore { return }
        ends = reached
        clock = stored.clock
      }
    }
  }

  /// The log at `path` as it was at `place`.
  ///
  /// - Throws: `CopyError.compacted` if that is not kept any more, and what reading a log throws.
  static func read(
    _ path: String, at place: LogPlace, on output: Output
  ) throws -> LogFold.Folded<Projection> {
    let found = try LogFold.fold(
      path, on: output, history: true, from: { _ throws(LogError) in Found(place) }
    ) { found, stored, _ in found.add(stored) }.result
    let log = try OpenedLog(path)
    // At the end of the log there is nothing to leave out.
    guard try !found.hasMore || log.directory.past(found.ends) != nil else {
      throw CopyError.compacted(path: log.path)
    }
    var folded = try LogFold.fold(
      path, on: output, asOf: found.hasMore ? found.ends : nil,
      from: { log throws(LogError) in
        Projection(incarnation: log.header?.incarnation ?? .zero, found)
      }
    ) { projection, stored, entry in projection.add(stored, entry) }
    folded.result.state.endReplay()
    if found.hasMore {
      // What is lost behind the place is not missed there.
      folded.condition.findings.removeAll { finding in
        finding.lost.map { $0.lowerBound > found.ends[finding.stream] ?? 0 } ?? false
      }
    }
    return folded
  }

  private mutating func add(_ stored: LogEntry, _ entry: Entry?) {
    let isBeyond =
      hasMore && stored.stream != LogEntry.snapshotStream
      && stored.number > ends[stored.stream] ?? 0
    if let entry, !isBeyond { state.apply(entry, position: stored.number) }
  }

  /// The records shown, by collection and id, of `collection` alone if it is given, or one record.
  func records(of collection: String?, only key: RecordKey?) -> [ShownRecord] {
    var shown: [ShownRecord] = []
    for name in state.collections.keys.sorted(by: ByteOrder.precedes) {
      if let collection, name != collection { continue }
      if let key, name != key.collection { continue }
      for id in (state.collections[name]?.shownIDs ?? []).sorted(by: ByteOrder.precedes) {
        if let key, id != key.id { continue }
        if let record = state.shown(RecordKey(name, id)) { shown.append(record) }
      }
    }
    return shown
  }

  /// The operations laid over `key`, in outbox order.
  func pending(on key: RecordKey) -> [OutboxOperation] {
    (state.collections[key.collection]?.overlays[key.id] ?? []).compactMap(state.operation)
  }
}
