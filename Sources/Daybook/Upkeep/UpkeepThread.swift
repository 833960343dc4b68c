import DaybookFormat
package import DaybookLog
import Foundation
import Synchronization

/// The thread that keeps a store's log small while the store is open: one round at a time, begun by
/// whoever wakes it. What it fails at is tried again when it is woken the next time.
///
/// Whoever writes faster than it works waits for it now and then, so that the log stays within its
/// bound; never for long, and not at all while rounds fail or none may run.
package final class UpkeepThread: Sendable {
  fileprivate struct Shared {
    var isWoken = false
    var isStarted = false
    var isRunning = false
    var isPaused = false
    var isStopped = false
    var problem: LogError?
    var roundCount = 0
    /// The bytes of the segments that were closed since the store was opened.
    var closedByteCount: UInt64 = 0
    /// Of those, what was closed when the last round that succeeded began.
    var seenByteCount: UInt64 = 0
    /// What that round kept.
    var keptByteCount: UInt64 = 0
    /// No write has waited since the last segment began.
    var mayWait = false
    var waitCount = 0
    var limits = MaintenanceLimits()
    /// Signalled when a round ends, and when none will run.
    var writers: [DispatchSemaphore] = []
    /// Told once no round is running and none will begin.
    var waiting: [@Sendable () -> Void] = []
  }

  private let shared = Mutex(Shared())
  private let signal = DispatchSemaphore(value: 0)

  /// A thread that has not started.
  package init() {}

  /// Starts the thread, whose rounds `begin` makes.
  package func start(
    limits: MaintenanceLimits,
    _ begin: @escaping @Sendable (_ isStopped: @escaping () -> Bool) -> LogUpkeep
  ) {
    shared.withLock { shared in
      shared.isStarted = true
      shared.limits = limits
    }
    let thread = Thread { [self] in run(begin) }
    thread.name = "daybook upkeep"
    thread.stackSize = 1 << 20
    thread.start()
    wake()
  }

  /// Has the thread look at the directory. Costs next to nothing; any thread may call it.
  package func wake() {
    let isNews = shared.withLock { shared in
      defer { shared.isWoken = true }
      return !shared.isWoken
    }
    if isNews { signal.signal() }
  }

  /// Takes note that a segment of `byteCount` bytes was closed, and has the thread look at it.
  func noteClosed(byteCount: UInt64) {
    shared.withLock { shared in
      shared.closedByteCount += byteCount
      shared.mayWait = true
    }
    wake()
  }

  /// Waits until upkeep has caught up with what is written, if it has fallen too far behind: at
  /// most `waitLimit`, once for each segment. To be called before an append, on the thread that
  /// writes.
  func keepUp() {
    var deadline: DispatchTime?
    while true {
      let roundEnd = DispatchSemaphore(value: 0)
      let limit = shared.withLock { shared -> Duration? in
        guard deadline != nil || shared.mayWait, shared.isBehind else { return nil }
        shared.mayWait = false
        if deadline == nil { shared.waitCount += 1 }
        shared.writers.append(roundEnd)
        return shared.limits.waitLimit
      }
      guard let limit else { return }
      let (seconds, attoseconds) = limit.components
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      let end = deadline ?? .now() + .nanoseconds(nanoseconds)
      deadline = end
      if roundEnd.wait(timeout: end) == .timedOut { return }
    }
  }

  /// Ends the thread between two steps, then calls `ended`: nothing of the log is touched any more.
  package func stop(_ ended: @escaping @Sendable () -> Void) {
    halt(ended) { $0.isStopped = true }
  }

  /// Ends the thread between two steps and returns once it has ended.
  package func stop() async {
    await withCheckedContinuation { waiting in stop { waiting.resume() } }
  }

  /// Keeps rounds from running until ``goOn()``; returns once none is.
  package func pause() async {
    await withCheckedContinuation { waiting in
      halt({ waiting.resume() }, { $0.isPaused = true })
    }
  }

  /// Ends a pause.
  package func goOn() {
    shared.withLock { shared in
      shared.isPaused = false
      shared.isWoken = true
    }
    // Whoever woke it during the pause woke nobody.
    signal.signal()
  }

  private func halt(_ ended: @escaping @Sendable () -> Void, _ mark: (inout Shared) -> Void) {
    let (isRunning, writers) = shared.withLock { shared in
      mark(&shared)
      if shared.isRunning { shared.waiting.append(ended) }
      return (shared.isRunning, shared.takeWriters())
    }
    for writer in writers { writer.signal() }
    signal.signal()
    if !isRunning { ended() }
  }

  /// Why the last round failed; `nil` once one has succeeded.
  var problem: LogError? { shared.withLock { $0.problem } }

  /// The rounds that have ended.
  package var roundCount: Int { shared.withLock { $0.roundCount } }

  /// The writes that have waited.
  var waitCount: Int { shared.withLock { $0.waitCount } }

  /// Whether one waits now.
  var isWaitedFor: Bool { shared.withLock { !$0.writers.isEmpty } }

  private func run(_ begin: (_ isStopped: @escaping () -> Bool) -> LogUpkeep) {
    var isFirst = true
    while true {
      signal.wait()
      let isStopped = shared.withLock { shared in
        shared.isRunning = shared.isWoken && !shared.isPaused && !shared.isStopped
        if shared.isRunning { shared.isWoken = false }
        return shared.isStopped
      }
      if isStopped { return }
      guard shared.withLock({ $0.isRunning }) else { continue }
      let seen = shared.withLock { $0.closedByteCount }
      var upkeep = begin { [self] in shared.withLock { $0.isStopped || $0.isPaused } }
      do throws(LogError) {
        let outcome = try upkeep.run(thorough: isFirst)
        isFirst = false
        end { shared in
          shared.problem = nil
          if shared.isStopped || shared.isPaused { return }
          shared.seenByteCount = seen
          shared.keptByteCount = outcome.keptByteCount
        }
      } catch {
        end { $0.problem = error }
      }
    }
  }

  /// Takes note of how a round ended, and tells whoever waits.
  private func end(_ note: (inout Shared) -> Void) {
    let (waiting, writers) = shared.withLock { shared in
      note(&shared)
      shared.roundCount += 1
      shared.isRunning = false
      defer { shared.waiting = [] }
      return (shared.waiting, shared.takeWriters())
    }
    for writer in writers { writer.signal() }
    for tell in waiting { tell() }
  }
}

extension UpkeepThread.Shared {
  /// More was written than upkeep has dealt with, and it is about to deal with it.
  fileprivate var isBehind: Bool {
    guard isStarted, !isStopped, !isPaused, problem == nil, isRunning || isWoken else {
      return false
    }
    return closedByteCount - seenByteCount > limits.aheadByteLimit + keptByteCount / 4
  }

  fileprivate mutating func takeWriters() -> [DispatchSemaphore] {
    defer { writers = [] }
    return writers
  }
}

extension UpkeepThread {
  /// Starts the upkeep of the log in `directory`, which this process has open for writing.
  func start(_ directory: String, schema: Schema, options: DaybookOptions) {
    let environment = options.environment
    let fileSystem = options.fileSystem
    let limits = options.maintenanceLimits
    let horizon = LogUpkeep.milliseconds(days: options.serverBackupDays)
    start(limits: limits) { isStopped in
      LogUpkeep(
        directory, fileSystem: fileSystem, schema: schema, limits: limits,
        horizonMilliseconds: horizon, random: environment.random,
        clock: { HybridTime(environment.now()) }, isStopped: isStopped)
    }
  }
}
