package import DaybookFormat
package import DaybookLog
import Dispatch

extension EmbeddedStore {
  /// How a server's data is opened.
  package struct Options: Sendable {
    /// The door to the disk.
    package var fileSystem: any FileSystem
    /// Evenly drawn 64-bit numbers: who the server is, at its first start, and the log's salts.
    package var random: @Sendable () -> UInt64
    /// The server's clock.
    package var now: @Sendable () -> Timestamp
    /// How the stream `changes` is written.
    package var stream = StreamOptions.changes
    /// How long after the last frame the log states what is durable.
    package var idleMarkDelay: Duration? = .milliseconds(50)

    /// Options with the log's defaults.
    package init(
      fileSystem: any FileSystem = SystemFileSystem(),
      random: @escaping @Sendable () -> UInt64, now: @escaping @Sendable () -> Timestamp
    ) {
      self.fileSystem = fileSystem
      self.random = random
      self.now = now
    }
  }

  /// Opens the server's data in `directory`, which is made if it is not there (its parent is not),
  /// and replays all of it. A new one gets its identity, durable on return.
  ///
  /// Nothing is served from a damaged directory, and nothing in it is changed.
  /// - Throws: the log's reasons; `notAServer` for the log of a device.
  package static func open(
    _ directory: String, _ options: Options
  ) async throws(StoreError) -> EmbeddedStore {
    // It reads and syncs files, which must not block Swift's cooperative pool.
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<EmbeddedStore, StoreError>, Never>) in
      DispatchQueue.global().async {
        continuation.resume(
          returning: Result { () throws(StoreError) in try openNow(directory, options) })
      }
    }
    return try result.get()
  }

  private static func openNow(
    _ directory: String, _ options: Options
  ) throws(StoreError) -> EmbeddedStore {
    try refuseDevice(directory, options.fileSystem)
    let configuration = LogConfiguration(
      streams: [options.stream], account: "", fileSystem: options.fileSystem,
      random: options.random, clock: { HybridTime(options.now()) },
      idleMarkDelay: options.idleMarkDelay)
    let state = ServerState()
    let log: Log
    do throws(LogError) {
      log = try Log.open(directory, configuration) { _, found throws(LogError) in
        guard state.takes(found) else {
          throw .unreadableEntry(
            file: found.file, offset: found.frameOffset, stream: found.stream,
            number: found.number)
        }
      }
    } catch {
      throw .log(error)
    }
    do throws(StoreError) {
      if log.isReadOnly { throw .log(readOnlyReason(of: log)) }
      if state.history == nil { try begin(state, log, options.random) }
      guard let history = state.history else { throw .notAServer(path: directory) }
      return EmbeddedStore(
        history: history, state: state, log: ChangesLog(log: log),
        notes: log.notes + log.findings.map(\.message))
    } catch {
      try? log.close()
      throw error
    }
  }

  /// Refuses a device's log: its streams are whole without ours, so that opening would begin ours
  /// beside them.
  private static func refuseDevice(
    _ directory: String, _ fileSystem: any FileSystem
  ) throws(StoreError) {
    do throws(LogError) {
      let found = try LogDirectory(directory, fileSystem: fileSystem)
      let isDevice = found.streams.contains {
        $0.name != StreamOptions.changes.name && !$0.segments.isEmpty
      }
      if isDevice { throw LogError.otherAccount(path: directory, found: "") }
    } catch {
      if case .notFound = error { return }
      throw .log(error)
    }
  }

  private static func readOnlyReason(of log: Log) -> LogError {
    guard let finding = log.findings.first(where: \.isLoss) else {
      return .readOnlyFormat(file: StreamOptions.changes.name)
    }
    return .damaged(finding)
  }

  /// Writes who the server is as the first entry.
  private static func begin(
    _ state: ServerState, _ log: Log, _ random: @Sendable () -> UInt64
  ) throws(StoreError) {
    let history = Entry.history(
      HistoryIdentity(
        serverID: Identifier(high: random(), low: random()),
        epoch: Identifier(high: random(), low: random())))
    do throws(LogError) {
      _ = try log.appendAndWait(
        StreamOptions.changes.name, [[NewEntry(kind: history.kind.rawValue, bytes: history.bytes)]])
    } catch {
      throw .log(error)
    }
    try state.fold([history])
  }
}

extension ServerState {
  /// Folds an entry of the log, if it can be read and continues what is there. Entries of a kind
  /// that this version may skip are skipped.
  fileprivate func takes(_ found: LogEntry) -> Bool {
    do {
      guard let entry = try Entry(kind: found.kind, bytes: found.bytes) else { return true }
      // All else hangs on the identity: without it, running hashes can't be told.
      if history == nil, entry.kind != .history { return false }
      try fold([entry])
      return true
    } catch {
      return false
    }
  }
}
