import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

/// Turns Ctrl-C and SIGTERM into a call, so that logs are closed before the program ends.
///
/// The second one ends the program at once, as a crash would: logs survive that, but the next open
/// has a tail to look at.
final class Interruption {
  private var sources: [any DispatchSourceSignal] = []
  private let queue = DispatchQueue(label: "daybook.interruption")

  /// Watches from now on; `action` runs once, on a queue of its own.
  init(_ action: @escaping @Sendable () -> Void) {
    let first = Once(action)
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        if !first.run() { _exit(ExitStatus.interrupted.rawValue) }
      }
      source.resume()
      sources.append(source)
    }
  }
}

/// An action that runs the first time only.
private final class Once: Sendable {
  private let action: Mutex<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

  /// Whether this was the first time.
  func run() -> Bool {
    let action = self.action.withLock { $0.take() }
    action?()
    return action != nil
  }
}
