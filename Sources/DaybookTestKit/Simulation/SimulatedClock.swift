package import DaybookFormat
import Synchronization

/// A clock that stands still until somebody sets it.
package final class SimulatedClock: Sendable {
  private let time: Mutex<Timestamp>

  /// A clock that shows `time`.
  package init(_ time: Timestamp = SimulatedClock.morning) { self.time = Mutex(time) }

  /// 2026-03-02T08:00:00Z, a Monday.
  package static let morning = Timestamp(milliseconds: 1_772_438_400_000)

  /// What it shows.
  package var now: Timestamp { time.withLock { $0 } }

  /// Sets it to `later`; a clock never goes back.
  package func advance(to later: Timestamp) { time.withLock { $0 = max($0, later) } }

  /// Sets it `milliseconds` later.
  package func advance(byMilliseconds milliseconds: Int64) {
    time.withLock { $0.milliseconds += max(0, milliseconds) }
  }
}
