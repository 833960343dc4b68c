package import DaybookFormat
package import DaybookLog
import DaybookSync

/// Keeps a device's log small: snapshots of the base, and files of which only what is needed is
/// left. It works on files alone, while the log is in use or not; whoever runs it holds the lock.
///
/// One round looks at the sizes in the directory, does what they make worth doing, one step after
/// the other, each durable by itself, and removes behind each step what is superseded beyond a
/// limit. What is written meanwhile is for the next round, so every round ends. Source:
/// `Docs/Format.md`, section "Compaction".
package struct LogUpkeep {
  /// What a round did.
  package struct Outcome: Sendable, Hashable {
    /// The snapshots made.
    package var snapshots: [SnapshotFile] = []
    /// The files made of others.
    package var compactions: [Compactor.Outcome] = []
    /// The files removed, from the log's directory on.
    package var removed: [String] = []
    /// Files that are damaged or can't be read, and were left alone, from the directory on.
    package var unfit: [String] = []
    /// The bytes of the newest snapshot and of the files made of others, as they serve now.
    package var keptByteCount: UInt64 = 0

    /// Nothing was worth doing.
    package var isEmpty: Bool { snapshots.isEmpty && compactions.isEmpty && removed.isEmpty }
  }

  let path: String
  let fileSystem: any FileSystem
  let schema: Schema
  let limits: MaintenanceLimits
  /// How long accepted operations are kept, in milliseconds of the server's time.
  let horizonMilliseconds: Int64
  let random: () -> UInt64
  let clock: () -> HybridTime
  let isStopped: () -> Bool
  private(set) var outcome = Outcome()
  private var unfit: [String: Set<StreamFile>] = [:]
  private var latestServerTime: Timestamp?

  /// The upkeep of the log at `path`. Its `schema` says how long history is kept; accepted
  /// operations are kept for `horizonMilliseconds` behind the latest server time in the log. Once
  /// `isStopped` says so it ends at the next step.
  package init(
    _ path: String, fileSystem: any FileSystem, schema: Schema, limits: MaintenanceLimits,
    horizonMilliseconds: Int64, random: @escaping () -> UInt64,
    clock: @escaping () -> HybridTime, isStopped: @escaping () -> Bool = { false }
  ) {
    self.path = path
    self.fileSystem = fileSystem
    self.schema = schema
    self.limits = limits
    self.horizonMilliseconds = horizonMilliseconds
    self.random = random
    self.clock = clock
    self.isStopped = isStopped
  }

  /// `days` in milliseconds: at least none, at most a hundred years.
  package static func milliseconds(days: Int) -> Int64 {
    Int64(min(max(0, days), 36_525)) * 86_400_000
  }

  /// Does one round. A `thorough` one also looks into outputs for what may go by now.
  /// - Throws: ``LogError``: why a step failed. Those before it are done; nothing is lost.
  package mutating func run(thorough: Bool) throws(LogError) -> Outcome {
    outcome = Outcome()
    unfit = [:]
    let made = try takeSnapshot(thorough: thorough)
    try removeOldSnapshots()
    try compactFeed()
    try compactOutbox(thorough: thorough || made)
    for stream in try look().streams.map(\.name) { try removeSuperseded(of: stream) }
    outcome.keptByteCount = try keptByteCount()
    outcome.unfit = unfit.values.flatMap { $0.map(\.file) }.sorted()
    return outcome
  }

  private func look() throws(LogError) -> LogDirectory {
    try LogDirectory(path, fileSystem: fileSystem)
  }

  // MARK: - Snapshots

  /// Makes a snapshot if the feed behind the newest one has grown enough, or, in a `thorough`
  /// round, if that one is not whole.
  private mutating func takeSnapshot(thorough: Bool) throws(LogError) -> Bool {
    let directory = try look()
    var isDamaged = false
    var newest = directory.snapshots.last
    if thorough {
      newest = try directory.newestSnapshot { _ in isDamaged = true }?.file
    }
    let size = try newest.map { file throws(LogError) in
      try directory.byteCount(of: file.file)
    }
    let closed = try directory.closedFeed(after: newest?.feedNumber ?? 0)
    let growth = min((size ?? 0) / 2, limits.snapshotGrowthLimit)
    let isWorthIt =
      isDamaged && closed.lastNumber > 0
      || closed.byteCount >= max(limits.snapshotByteLimit, growth)
    guard isWorthIt, !isStopped(),
      let header = try directory.newestHeader(),
      let fold = try fold(directory, through: closed.lastNumber, header)
    else { return false }
    latestServerTime = fold.latestServerTime
    let identity = LogIdentity(
      logID: header.logID, incarnation: header.incarnation, account: header.account)
    var writer = try SnapshotWriter(
      directory, identity: identity,
      extent: Seal.Extent(
        feedNumber: closed.lastNumber, outboxNumber: fold.outboxNumber, feedChain: .zero,
        outboxChain: .zero), clock: clock(), random: random)
    do throws(LogError) {
      try fold.export { entry throws(LogError) in
        if isStopped() { throw .closed }
        try writer.append(kind: entry.kind.rawValue, bytes: entry.bytes)
      }
    } catch {
      writer.abandon()
      if case .closed = error { return false }
      throw error
    }
    outcome.snapshots.append(try writer.finish())
    return true
  }

  /// The fold of the feed up to `number`; `nil` if it was stopped or if not all of it can be read:
  /// a later version may, and must find it then.
  private func fold(
    _ directory: LogDirectory, through number: UInt64, _ header: SegmentHeader
  ) throws(LogError) -> SnapshotFold? {
    var replay = try LogReplay(
      directory, streams: [SnapshotFile.stream, LogUpkeep.outbox], upkeepThrough: number)
    var fold = SnapshotFold(incarnation: header.incarnation)
    do throws(LogError) {
      try replay.run { found throws(LogError) in
        if isStopped() { throw .closed }
        if let entry = try decode(found) { fold.add(entry, position: found.number) }
      }
    } catch {
      if case .closed = error { return nil }
      throw error
    }
    // What was recorded is settled, and the entries that count are these.
    return replay.findings.contains { $0.isLoss && $0.record == nil } ? nil : fold
  }

  private func decode(_ found: LogEntry) throws(LogError) -> Entry? {
    do throws(EntryError) {
      return try Entry(kind: found.kind, bytes: found.bytes)
    } catch {
      throw .unreadableEntry(
        file: found.file, offset: found.frameOffset, stream: found.stream, number: found.number)
    }
  }

  // MARK: - Compaction

  /// Compacts what the older snapshot stands for.
  private mutating func compactFeed() throws(LogError) {
    let retention = FeedRetention(schema: schema, latest: latestServerTime)
    while !isStopped() {
      let directory = try look()
      guard directory.snapshots.count >= 2 else { return }
      let older = directory.snapshots[directory.snapshots.count - 2]
      let files = try directory.closedFiles(of: SnapshotFile.stream, through: older.feedNumber)
      let known = unfit[SnapshotFile.stream] ?? []
      guard let next = StreamPlan(limits: limits).next(files, damaged: known) else { return }
      // From now on the base stands in these two alone.
      for file in directory.snapshots.suffix(2) {
        guard try directory.readSnapshot(file) != nil else { return }
      }
      try directory.syncFolder(SnapshotFile.folder)
      let isDone = try compact(
        SnapshotFile.stream, next, directory, isEchoed: false, isCompressed: true
      ) { found in retention.contains(try? Entry(kind: found.kind, bytes: found.bytes)) }
      if isDone { return }
    }
  }

  /// Compacts the outbox down to what only this device has.
  private mutating func compactOutbox(thorough: Bool) throws(LogError) {
    let plan = StreamPlan(limits: limits)
    var directory = try look()
    var files = try directory.closedFiles(of: Self.outbox)
    let outputs = files.filter(\.file.isCompacted).reduce(0) { $0 + $1.byteCount }
    guard plan.next(files) != nil || thorough && outputs >= limits.garbageByteLimit, !isStopped(),
      var need = try OutboxNeed(directory, self)
    else { return }
    files = try directory.closedFiles(of: Self.outbox, through: need.lastNumber)
    while !isStopped() {
      let known = unfit[Self.outbox] ?? []
      let garbage = { (file: StreamFile) in need.garbage[file.file] }
      guard let next = plan.next(files, damaged: known, garbage: garbage) else { return }
      let range = try OutboxRange(next, directory)
      let count = outcome.compactions.count
      let isDone = try compact(
        Self.outbox, next, directory, isEchoed: true, isCompressed: false
      ) { found in need.contains(found, compacting: range) }
      if isDone { return }
      if outcome.compactions.count > count { need.note(compacted: range) }
      directory = try look()
      files = try directory.closedFiles(of: Self.outbox, through: need.lastNumber)
    }
  }

  static let outbox = "outbox"

  /// Makes one file of `range`; `true` if it was stopped.
  private mutating func compact(
    _ stream: String, _ range: [StreamFile], _ directory: LogDirectory, isEchoed: Bool,
    isCompressed: Bool, keeps: (LogEntry) -> Bool
  ) throws(LogError) -> Bool {
    let compactor = Compactor(directory, random: random, isStopped: isStopped)
    var found: [StreamFile] = []
    let made = try compactor.compact(
      stream, range, isEchoed: isEchoed, isCompressed: isCompressed,
      unfit: { found.append($0) }, keeps: keeps)
    unfit[stream, default: []].formUnion(found)
    if let made {
      outcome.compactions.append(made)
      try removeSuperseded(of: stream)
    }
    return made == nil && found.isEmpty
  }

  // MARK: - Removing

  /// Removes superseded files of `stream` beyond the limit, the oldest first.
  private mutating func removeSuperseded(of stream: String) throws(LogError) {
    if isStopped() { return }
    let compactor = Compactor(try look(), random: random)
    outcome.removed += try compactor.removeSuperseded(
      of: stream, limit: limits.supersededByteLimit
    ).map(\.file)
  }

  private mutating func removeOldSnapshots() throws(LogError) {
    if isStopped() { return }
    let compactor = Compactor(try look(), random: random)
    outcome.removed += try compactor.removeOldSnapshots().map(\.file)
  }

  private func keptByteCount() throws(LogError) -> UInt64 {
    let directory = try look()
    let outputs = directory.streams.flatMap(\.serving).filter(\.isCompacted)
    var sum = try directory.sized(outputs).reduce(0) { $0 + $1.byteCount }
    if let newest = directory.snapshots.last { sum += try directory.byteCount(of: newest.file) }
    return sum
  }
}
