import DaybookFormat
import DaybookLog
import DaybookSync
import Foundation

/// A client's log: the outbox and the feed of one account in one directory.
struct ClientLog: Sendable {
  private let log: Log
  private let upkeep: UpkeepThread

  /// What opening gives.
  struct Opened: Sendable {
    let log: ClientLog
    let state: ClientState
    let damage: DamageReport?
    let upkeep: UpkeepThread

    /// What `body` opens, on a thread of its own.
    static func onThread(
      _ body: @escaping @Sendable () throws(DaybookError) -> Opened
    ) async throws(DaybookError) -> Opened {
      let result = await withCheckedContinuation {
        (waiting: CheckedContinuation<Result<Opened, DaybookError>, Never>) in
        Thread.detachNewThread {
          do throws(DaybookError) {
            waiting.resume(returning: .success(try body()))
          } catch {
            waiting.resume(returning: .failure(error))
          }
        }
      }
      return try result.get()
    }
  }

  /// Opens the log and folds all of it. Blocks: never to be called on Swift's cooperative pool.
  static func open(
    directory: String, account: String, schema: Schema, options: DaybookOptions
  ) throws(DaybookError) -> Opened {
    let environment = options.environment
    let upkeep = UpkeepThread()
    var configuration = LogConfiguration(
      streams: options.streams, account: account, fileSystem: options.fileSystem,
      random: environment.random, clock: { HybridTime(environment.now()) })
    configuration.isStrict = options.isStrict
    configuration.segmentBegun = { upkeep.noteClosed(byteCount: $0) }
    var folded: ClientState?
    do throws(LogError) {
      let log = try Log.open(directory, configuration) { identity, found throws(LogError) in
        var state = folded ?? ClientState(schema: schema, incarnation: identity.incarnation)
        folded = nil
        do throws(EntryError) {
          if let entry = try Entry(kind: found.kind, bytes: found.bytes) {
            state.apply(entry, position: found.number)
          }
        } catch {
          // It is kept aside, and the fold goes on with the next one.
          folded = state
          throw .unreadableEntry(
            file: found.file, offset: found.frameOffset, stream: found.stream,
            number: found.number)
        }
        folded = state
      }
      var state =
        folded ?? ClientState(schema: schema, incarnation: log.identity.incarnation)
      state.endReplay()
      if options.keepsLogSmall, !log.isReadOnly {
        upkeep.start(directory, schema: schema, options: options)
      }
      return Opened(
        log: ClientLog(log: log, upkeep: upkeep), state: state, damage: DamageReport(log),
        upkeep: upkeep)
    } catch {
      throw DaybookError(error)
    }
  }

  /// Appends transactions to the outbox; durable on return. Returns the first entry's number.
  func appendOutbox(_ transactions: [[Entry]]) throws(DaybookError) -> UInt64 {
    try append("outbox", transactions)
  }

  /// Appends entries to the feed as one; durable on return. Returns the first entry's number.
  func appendFeed(_ entries: [Entry]) throws(DaybookError) -> UInt64 {
    try append("feed", [entries])
  }

  private func append(
    _ stream: String, _ transactions: [[Entry]]
  ) throws(DaybookError) -> UInt64 {
    let bytes = transactions.map { entries in
      entries.map { NewEntry(kind: $0.kind.rawValue, bytes: $0.bytes) }
    }
    upkeep.keepUp()
    do throws(LogError) {
      return try log.appendAndWait(stream, bytes)
    } catch {
      if case .inputOutput(let cause) = error {
        // Not even a file to write to could be had, so nothing has been written.
        throw DaybookError(LogError.notWritten(cause))
      }
      throw DaybookError(error)
    }
  }

  /// Why nothing can be written as long as the log is open.
  var refusal: DaybookError? { log.refusal.map { DaybookError($0) } }

  /// Closes the streams and lets go of the lock; appends fail until ``resume()``.
  func suspend() throws(DaybookError) {
    do throws(LogError) { try log.suspend() } catch { throw DaybookError(error) }
  }

  /// Takes the lock again, unless somebody else has it or has written to the log.
  func resume() throws(DaybookError) {
    do throws(LogError) { try log.resume() } catch { throw DaybookError(error) }
  }

  /// Where the log's history stands, as far as it is durable; `nil` if there is none.
  var anchor: Anchor? { log.anchor }

  /// Marks the log as closed and lets go of it.
  func close() throws(DaybookError) {
    do throws(LogError) { try log.close() } catch { throw DaybookError(error) }
  }
}

extension DaybookError {
  /// The app's view of a log's error, with a remedy.
  init(_ error: LogError) {
    switch error {
    case .notFound(let path):
      self.init(.notALog, "There is nothing at \(path). Check the path.", cause: error)
    case .notADirectory(let path):
      self.init(
        .notALog, "\(path) is not a folder. Give the log a folder of its own.",
        cause: error)
    case .notALog(let path):
      self.init(
        .notALog, "\(path) holds something else. Give the log an empty folder of its own.",
        cause: error)
    case .locked(let path, let process):
      let who = process.map { "process \($0)" } ?? "another process"
      self.init(
        .locked, "The log at \(path) is open in \(who). Close it there first.", cause: error)
    case .newerFormat(let file, let found, let supported):
      self.init(
        .newerFormat,
        "\(file) has format \(found); this version reads up to \(supported). Update the app.",
        cause: error)
    case .otherAccount(let path, let found):
      self.init(
        .otherAccount,
        "The log at \(path) belongs to the account \(found). Open it as that, or use another "
          + "folder.",
        cause: error)
    case .damaged(let finding):
      self.init(
        .damaged,
        "\(finding.message). Open it without `isStrict` to go on with all that is left, or run "
          + "daybook verify.",
        cause: error)
    case .readOnlyFormat(let file):
      self.init(
        .newerFormat, "\(file) has features that this version can't write. Update the app.",
        cause: error)
    case .unreadableEntry(let file, let offset, let stream, let number):
      self.init(
        .damaged,
        "Entry \(stream):\(number) in \(file), byte \(offset), can't be read. Run daybook verify.",
        cause: error)
    case .diskFull, .notPermitted, .tooLarge, .noSuchStream, .notWritten, .outcomeUnknown,
      .numbersUsedUp, .closed, .suspended, .writtenByOther, .inputOutput:
      self.init(writing: error)
    }
  }

  /// The app's view of an error of writing.
  private init(writing error: LogError) {
    switch error {
    case .diskFull(let path):
      self.init(
        .diskFull, "The disk of \(path) is full. Free some space; what was stored is safe.",
        cause: error)
    case .notPermitted(let path):
      self.init(
        .notPermitted, "\(path) can't be written. Check its permissions and the disk.",
        cause: error)
    case .tooLarge(let byteCount, let limit):
      self.init(.tooLarge, "The write has \(byteCount) bytes; at most \(limit).", cause: error)
    case .noSuchStream(let name):
      self.init(.inputOutput, "The log has no stream \(name).", cause: error)
    case .numbersUsedUp(let name):
      self.init(
        .damaged,
        "The stream \(name) has no numbers left: damage made one up. Nothing was written; run "
          + "daybook repair on the log.", cause: error)
    case .notWritten(let cause):
      let isFull = cause.reason == .diskFull
      self.init(
        isFull ? .diskFull : .notWritten,
        "The write was not stored (\(cause.call.rawValue) failed). Nothing of it exists: do it "
          + "again.",
        cause: error)
    case .outcomeUnknown(let cause):
      self.init(
        .outcomeUnknown,
        "The disk failed (\(cause.call.rawValue)) and does not say whether the write is stored. "
          + "Open the log again to see.", cause: error)
    case .closed:
      self.init(.closed, "The store has been closed. Open it again to go on.", cause: error)
    case .suspended:
      self.init(
        .suspended, "The store is suspended. Nothing of the write exists: resume and do it again.",
        cause: error)
    case .writtenByOther(let path):
      self.init(
        .writtenByOther,
        "Another process has written to the log (\(path)). Close the store and open it anew; "
          + "nothing that was acknowledged is lost.", cause: error)
    case .inputOutput(let cause):
      self.init(
        .inputOutput, "\(cause.call.rawValue) failed on \(cause.path). Check the disk.",
        cause: error)
    default:
      self.init(.inputOutput, "The log failed. Run daybook verify on it.", cause: error)
    }
  }
}
