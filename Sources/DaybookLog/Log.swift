package import DaybookFormat
import Foundation
import Synchronization

/// A log directory, open: streams of numbered entries in checksummed, append-only segments.
///
/// It knows nothing of what entries mean. One writer at a time has a directory open. A log that is
/// damaged, or that may not be written to, is open for reading only, and says why.
package final class Log: Sendable {
  /// Who the log is.
  package let identity: LogIdentity
  /// What is damaged, what it costs, and what opening did about it.
  package let damage: DamageReport
  /// What is damaged, known or not, in the order in which it was met.
  package let findings: [LogFinding]
  /// What was missing and not needed, in words.
  package let notes: [String]
  /// Why writes are refused as long as the log is open; `nil` if they are not.
  package let refusal: LogError?
  /// Whether writes are refused as long as the log is open.
  package var isReadOnly: Bool { refusal != nil }
  let directory: String
  let fileSystem: any FileSystem
  let streams: [String]
  let committer: Committer?
  private let chains: ChainBoard
  /// Held as long as a step of the log's life is under way: closing, suspending, resuming.
  let life: Mutex<Life>

  private init(
    _ found: LogDirectory, identity: LogIdentity, damage: DamageReport, findings: [LogFinding],
    notes: [String], streams: [String], chains: ChainBoard, committer: Committer?,
    refusal: LogError?,
    lock: (any FileLock)?
  ) {
    self.identity = identity
    self.damage = damage
    directory = found.path
    fileSystem = found.fileSystem
    self.findings = findings
    self.notes = notes
    self.streams = streams
    self.chains = chains
    self.committer = committer
    self.refusal = refusal
    life = Mutex(Life(lock: lock))
  }

  /// Opens the log at `directory`, which is made if it is not there (its parent is not), and gives
  /// every entry to `replay`, in the order in which they were written.
  ///
  /// What is replayed survives a power cut: the last segments are synced before they are read,
  /// where the disk is not read-only. If `replay` throws, so does this; but an `unreadableEntry` is
  /// kept aside as damage. A log that is there and may not be written to (permissions, a read-only
  /// disk, no room for what must be made first) is opened for reading, without its lock if that
  /// can't be taken: see ``refusal``.
  ///
  /// It does not fail for damage: see ``DamagePolicy``. What is damaged is copied to `quarantine`
  /// and recorded in the log, durable on return, and told in ``damage``. Nothing is changed or
  /// removed, and a crash at any point is made good by the next opening.
  /// - Throws: ``LogError``: `damaged` if strict, `locked`, `notALog`, `notADirectory`,
  ///   `newerFormat`, `otherAccount`, `inputOutput`, `notPermitted` and `diskFull` if there is no
  ///   log to read, and what `replay` throws.
  package static func open(
    _ directory: String, _ configuration: LogConfiguration,
    replay: (LogIdentity, LogEntry) throws(LogError) -> Void
  ) throws(LogError) -> Log {
    let fileSystem = configuration.fileSystem
    do throws(FileError) {
      if try fileSystem.attributes(of: directory) == nil {
        try fileSystem.makeDirectory(directory)
      }
    } catch {
      throw LogError(error)
    }
    // Looked at before the lock: a folder that is no log gets no file of ours, and a lost LOCK is
    // still to be seen.
    let before = try LogDirectory(directory, fileSystem: fileSystem)
    var lock: (any FileLock)?
    var refusal: LogError?
    do throws(FileError) {
      lock = try fileSystem.lock("\(directory)/\(LogDirectory.lockFile)")
    } catch {
      refusal = LogError(error)
      guard refusal?.allowsReading == true, !before.isNew else { throw LogError(error) }
    }
    do throws(LogError) {
      return try open(
        directory, configuration, lock: lock, refusal: refusal, notes: before.notes,
        replay: replay)
    } catch {
      lock?.release()
      throw error
    }
  }

  private static func open(
    _ directory: String, _ configuration: LogConfiguration, lock: (any FileLock)?,
    refusal: LogError?, notes: [String],
    replay body: (LogIdentity, LogEntry) throws(LogError) -> Void
  ) throws(LogError) -> Log {
    let found = try LogDirectory(directory, fileSystem: configuration.fileSystem)
    try settle(found, isReadOnly: refusal != nil)
    let identity = try identity(of: found, configuration)
    var replay = try LogReplay(
      found, streams: configuration.streams.map(\.name), isWriter: lock != nil,
      policies: Dictionary(
        configuration.streams.map { ($0.name, $0.onDamage) }, uniquingKeysWith: { $1 }))
    var refusal = refusal
    try replay.run(
      visit: { report throws(LogError) in
        if report.header?.readOnlyFeatures ?? 0 != 0, refusal == nil {
          refusal = .readOnlyFormat(file: report.file)
        }
      }
    ) { entry throws(LogError) in try body(identity, entry) }
    var recovery = Recovery(found, configuration, after: replay)
    if let loss = recovery.refusedLoss { refusal = .damaged(loss) }
    if configuration.isStrict, let loss = recovery.report.found.first(where: \.isLoss) {
      throw .damaged(loss)
    }
    let chains = ChainBoard()
    for stream in configuration.streams {
      let end = recovery.loneEnd(of: stream.name, in: replay)
      guard let link = replay.tails[stream.name]?.link(through: end ?? .max) else { continue }
      chains.set(ChainPosition(link: link))
    }
    var committer: Committer?
    var gaps: [LogEntry] = []
    if refusal == nil {
      do throws(LogError) {
        let writers = try makeWriters(found, identity, configuration, replay, chains)
        gaps = recovery.run(writers)
        try recovery.settleTails(writers, replay)
        committer = makeCommitter(writers, found, configuration)
      } catch {
        guard error.allowsReading, !found.isNew else { throw error }
        refusal = error
      }
    }
    for gap in gaps { try body(identity, gap) }
    // A write that never finished is no damage.
    let findings = replay.findings.filter { $0.kind != .tornTail }
    return Log(
      found, identity: identity, damage: recovery.report, findings: findings, notes: notes,
      streams: configuration.streams.map(\.name), chains: chains, committer: committer,
      refusal: refusal, lock: lock)
  }

  private static func makeWriters(
    _ found: LogDirectory, _ identity: LogIdentity, _ configuration: LogConfiguration,
    _ replay: LogReplay, _ chains: ChainBoard
  ) throws(LogError) -> [StreamWriter] {
    try prepare(found.path, found, identity, configuration)
    found.removeTemporaries()
    var writers: [StreamWriter] = []
    for options in configuration.streams {
      let last = try dropSpare(replay, options.name, found)
      writers.append(
        StreamWriter(
          options: options, directory: found.path, identity: identity,
          configuration: configuration, last: last,
          lowestNext: options.name == SnapshotFile.stream ? replay.snapshotEnd + 1 : 1,
          chains: chains))
    }
    return writers
  }

  private static func makeCommitter(
    _ writers: sending [StreamWriter], _ found: LogDirectory, _ configuration: LogConfiguration
  ) -> Committer {
    let head = HeadWriter(
      directory: found.path, fileSystem: configuration.fileSystem,
      sequence: found.head?.sequence ?? 0)
    return Committer(writers: writers, head: head, idleMarkDelay: configuration.idleMarkDelay)
  }

  /// Makes what the last segments hold durable before it is read, and has it read from the device:
  /// back to the newest one with a header, since all before it were synced when it was begun.
  ///
  /// A disk that is read-only holds nothing that is not durable, unless it became so by an error:
  /// then the next opening may show less.
  private static func settle(_ found: LogDirectory, isReadOnly: Bool) throws(LogError) {
    for stream in found.streams {
      do throws(LogError) {
        try found.syncTail(of: stream)
      } catch {
        guard isReadOnly, error.allowsReading else { throw error }
      }
    }
  }

  private static func identity(
    of found: LogDirectory, _ configuration: LogConfiguration
  ) throws(LogError) -> LogIdentity {
    let random = configuration.random
    let (logID, newest) = try found.identity()
    if let newest, newest.account != configuration.account {
      throw .otherAccount(path: found.path, found: newest.account)
    }
    return LogIdentity(
      logID: logID ?? Identifier(high: random(), low: random()),
      incarnation: configuration.newIncarnation ?? newest?.incarnation
        ?? Identifier(high: random(), low: random()),
      account: configuration.account)
  }

  /// Makes the folders and `FORMAT`, where they are missing.
  private static func prepare(
    _ directory: String, _ found: LogDirectory, _ identity: LogIdentity,
    _ configuration: LogConfiguration
  ) throws(LogError) {
    let fileSystem = configuration.fileSystem
    do throws(FileError) {
      for stream in configuration.streams {
        let folder = "\(directory)/\(stream.name)"
        if try fileSystem.attributes(of: folder) == nil { try fileSystem.makeDirectory(folder) }
      }
      if found.formatLogID != identity.logID {
        let path = "\(directory)/\(LogDirectory.formatFile)"
        let isThere = try fileSystem.attributes(of: path) != nil
        let file =
          isThere ? try fileSystem.open(path, writable: true) : try fileSystem.create(path)
        defer { file.close() }
        let text = "\(LogLayout.formatName) \(LogLayout.version)\n\(identity.logID)\n"
        try file.write(Array(text.utf8), at: 0)
        try file.truncate(to: UInt64(text.utf8.count))
        try file.sync()
      }
      try fileSystem.syncDirectory(directory)
      // An earlier opening may have ended between making the directory and this.
      if found.isNew { try fileSystem.syncDirectory(FilePath.parent(of: directory)) }
    } catch {
      throw LogError(error)
    }
  }

  /// Removes a file that was prepared and never used: no header, nothing but zeros.
  private static func dropSpare(
    _ replay: LogReplay, _ stream: String, _ found: LogDirectory
  ) throws(LogError) -> SegmentReport? {
    guard let last = replay.last[stream], last.isSpare else { return replay.last[stream] }
    do throws(FileError) {
      try found.fileSystem.remove("\(found.path)/\(last.file)")
      try found.fileSystem.syncDirectory("\(found.path)/\(stream)")
    } catch {
      throw LogError(error)
    }
    return replay.before[stream]
  }

  /// Where the history of every stream stands, as far as it is durable. May be asked on any thread,
  /// at any time; costs some microseconds.
  package var links: [ChainLink] { chains.links }

  /// The anchor at ``links``; `nil` if nothing has been written yet.
  package var anchor: Anchor? {
    let links = self.links
    if links.isEmpty { return nil }
    return Anchor(logID: identity.logID, places: links.map { Anchor.Place($0) })
  }

  // MARK: - Writing

  /// Appends `transactions` to `stream`, each atomic; `done` gets the number of the first entry, on
  /// the log's own thread, in the order of the calls.
  ///
  /// With `isSynced`, and always for an echoed stream, they survive a power cut when `done` is
  /// called. On failure none of them is in the log (`notWritten`), or the next opening tells
  /// (`outcomeUnknown`).
  package func append(
    _ stream: String, _ transactions: [[NewEntry]], isSynced: Bool = true,
    done: @escaping @Sendable (Result<UInt64, LogError>) -> Void
  ) {
    guard let index = streams.firstIndex(of: stream) else {
      done(.failure(.noSuchStream(stream)))
      return
    }
    guard let committer else {
      done(.failure(refusal ?? .closed))
      return
    }
    for transaction in transactions {
      let byteCount = GroupBuilder.byteCount(of: transaction)
      guard byteCount <= LogLayout.frameByteLimit else {
        done(.failure(.tooLarge(byteCount: byteCount, limit: LogLayout.frameByteLimit)))
        return
      }
    }
    committer.enqueue(
      .append(stream: index, transactions: transactions, isSynced: isSynced, done: done))
  }

  /// Appends `transactions` and waits; never to be called on Swift's cooperative pool.
  package func appendAndWait(
    _ stream: String, _ transactions: [[NewEntry]], isSynced: Bool = true
  ) throws(LogError) -> UInt64 {
    try wait { done in append(stream, transactions, isSynced: isSynced, done: done) }
  }

  /// Writes the idle marks and `HEAD` now.
  package func markIdle() throws(LogError) {
    guard let committer else { return }
    _ = try wait { done in committer.enqueue(.idle(done: done)) }
  }

  deinit {
    let lock = life.withLock { life in
      defer { life.isClosed = true }
      return life.isClosed ? nil : life.lock
    }
    guard let committer else {
      lock?.release()
      return
    }
    // The thread holds the lock until it has ended.
    committer.enqueue(.close { _ in lock?.release() })
  }

  func wait(
    _ start: (@escaping @Sendable (Result<UInt64, LogError>) -> Void) -> Void
  ) throws(LogError) -> UInt64 {
    let result = Mutex<Result<UInt64, LogError>>(.failure(.closed))
    let finished = DispatchSemaphore(value: 0)
    start { given in
      result.withLock { $0 = given }
      finished.signal()
    }
    finished.wait()
    return try result.withLock { $0 }.get()
  }
}
