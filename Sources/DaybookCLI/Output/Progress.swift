/// How far a long piece of work is, shown on standard error.
///
/// Nothing for the first second. On a terminal then a bar, redrawn ten times a second at most;
/// elsewhere a line every five seconds. Work reports with ``advance(to:)`` as often as it likes.
final class Progress {
  private static let quietTime = Duration.seconds(1)
  private static let barInterval = Duration.milliseconds(100)
  private static let lineInterval = Duration.seconds(5)
  private static let barWidth = 24

  private let output: Output
  private let label: String
  private let total: Int
  private let clock = ContinuousClock()
  private let started: ContinuousClock.Instant
  private var lastShown: ContinuousClock.Instant?

  /// Work of `total` steps, each one of the things that `label` names in the plural.
  init(_ label: String, total: Int, on output: Output) {
    self.output = output
    self.label = label
    self.total = max(1, total)
    started = clock.now
  }

  /// `count` steps are done.
  func advance(to count: Int) {
    let now = clock.now
    let interval = output.notesAreOnTerminal ? Self.barInterval : Self.lineInterval
    guard now - started >= Self.quietTime, now - (lastShown ?? started) >= interval else { return }
    lastShown = now
    let percent = min(100, count * 100 / total)
    let counts = "\(grouped(count)) of \(grouped(total)) \(label)"
    guard output.notesAreOnTerminal else { return output.note("\(counts) (\(percent) %)") }
    let filled = Self.barWidth * percent / 100
    let bar =
      String(repeating: "#", count: filled)
      + String(repeating: ".", count: Self.barWidth - filled)
    output.show(bar: "[\(bar)] \(percent) %  \(counts)")
  }

  /// Removes the bar.
  func finish() {
    if lastShown != nil { output.show(bar: nil) }
  }
}
