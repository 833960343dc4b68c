import DaybookFormat
import DaybookLog
import Foundation
import Synchronization

/// The thread that keeps a store's log small while the store is open: one round at a time, begun by
/// whoever wakes it. What it fails at is tried again when it is woken the next time.
package final class UpkeepThread: Sendable {
  private struct Shared {
    var isWoken = false
    var isStarted = false
    var isRunning = false
    var isPaused = false
    var isStopped = false
    var problem: LogError?
    var roundCount = 0
    /// Told once no round is running and none will begin.
    var waiting: [@Sendable () -> Void] = []
  }

  private let shared = Mutex(Shared())
  private let signal = DispatchSemaphore(value: 0)

  /// A thread that has not started.
  package init() {}

  /// Starts the thread, whose rounds `begin` makes.
  package func start(_ begin: @escaping @Sendable (_ isStopped: @escaping () -> Bool) -> LogUpkeep)
  {
    shared.withLock { $0.isStarted = true }
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
    let isRunning = shared.withLock { shared in
      mark(&shared)
      if shared.isRunning { shared.waiting.append(ended) }
      return shared.isRunning
    }
    signal.signal()
    if !isRunning { ended() }
  }

  /// Why the last round failed; `nil` once one has succeeded.
  var problem: LogError? { shared.withLock { $0.problem } }

  /// The rounds that have ended.
  package var roundCount: Int { shared.withLock { $0.roundCount } }

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
      var upkeep = begin { [self] in shared.withLock { $0.isStopped || $0.isPaused } }
      var problem: LogError?
      do throws(LogError) {
        _ = try upkeep.run(thorough: isFirst)
        isFirst = false
      } catch {
        problem = error
      }
      let waiting = shared.withLock { shared in
        shared.problem = problem
        shared.roundCount += 1
        shared.isRunning = false
        defer { shared.waiting = [] }
        return shared.waiting
      }
      for tell in waiting { tell() }
    }
  }
}

extension UpkeepThread {
  /// Starts the upkeep of the log in `directory`, which this process has open for writing.
  func start(_ directory: String, schema: Schema, options: DaybookOptions) {
    let environment = options.environment
    let fileSystem = options.fileSystem
    let limits = options.maintenanceLimits
    let horizon = LogUpkeep.milliseconds(days: options.serverBackupDays)
    start { isStopped in
      LogUpkeep(
        directory, fileSystem: fileSystem, schema: schema, limits: limits,
        horizonMilliseconds: horizon, random: environment.random,
        clock: { HybridTime(environment.now()) }, isStopped: isStopped)
    }
  }
}
