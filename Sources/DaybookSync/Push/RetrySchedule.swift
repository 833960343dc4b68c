package import DaybookFormat

/// How long to wait before trying again, as a value.
///
/// The n-th delay doubles from `start` up to `cap`; the wait is drawn evenly between `floor` and
/// the delay, so that many devices do not come back at once ("full jitter").
public struct RetrySchedule: Sendable, Hashable {
  /// The first delay in milliseconds.
  public var startMilliseconds: Int64
  /// The shortest wait in milliseconds.
  public var floorMilliseconds: Int64
  /// The longest delay in milliseconds.
  public var capMilliseconds: Int64

  /// A schedule in milliseconds.
  public init(startMilliseconds: Int64, floorMilliseconds: Int64, capMilliseconds: Int64) {
    self.startMilliseconds = max(1, startMilliseconds)
    self.floorMilliseconds = max(0, floorMilliseconds)
    self.capMilliseconds = max(1, capMilliseconds)
  }

  /// 30 s doubling to one hour, never under 10 s, without end.
  public static let background = RetrySchedule(
    startMilliseconds: 30_000, floorMilliseconds: 10_000, capMilliseconds: 3_600_000)

  /// The wait before attempt `attempt` + 1, where `random` is drawn evenly from all 64-bit numbers.
  package func wait(afterAttempt attempt: Int, random: UInt64) -> Int64 {
    var delay = min(startMilliseconds, capMilliseconds)
    var doublings = attempt - 1
    while doublings > 0, delay < capMilliseconds {
      let (double, isTooLarge) = delay.multipliedReportingOverflow(by: 2)
      delay = isTooLarge ? capMilliseconds : min(double, capMilliseconds)
      doublings -= 1
    }
    delay = max(delay, floorMilliseconds)
    let range = UInt64(delay - floorMilliseconds) + 1
    return floorMilliseconds + Int64(random.multipliedFullWidth(by: range).high)
  }

  /// When attempt `attempt` + 1 is due, where the server has asked for `seconds`: not before that,
  /// and never sooner than the schedule's own wait.
  package func due(
    afterAttempt attempt: Int, seconds: UInt64?, now: Timestamp, random: UInt64
  ) -> Timestamp {
    let own = wait(afterAttempt: attempt, random: random)
    let wait = max(own, seconds.map { Int64($0) * 1_000 } ?? 0)
    return Timestamp(milliseconds: now.milliseconds + wait)
  }
}
