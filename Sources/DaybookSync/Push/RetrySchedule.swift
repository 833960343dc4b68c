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
    var delay = startMilliseconds
    for _ in 1..<max(2, min(attempt, 62)) where attempt > 1 {
      delay = min(delay.multipliedReportingOverflow(by: 2).partialValue, capMilliseconds)
      if delay <= 0 || delay >= capMilliseconds { break }
    }
    delay = max(min(delay <= 0 ? capMilliseconds : delay, capMilliseconds), floorMilliseconds)
    let range = UInt64(delay - floorMilliseconds) + 1
    return floorMilliseconds + Int64(random.multipliedFullWidth(by: range).high)
  }
}
