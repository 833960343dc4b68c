import DaybookFormat
import DaybookTestKit
import Synchronization

/// Counts what goes over the wire, as the network sees it: the pushes of every device, and the
/// operations in them that had been sent before.
final class DemoTally: Sendable {
  struct Counts: Sendable {
    var pushes = 0
    var resentOperations = 0
    fileprivate var sent: Set<Identifier> = []
  }

  private let counts = Mutex(Counts())

  /// What was counted so far.
  var current: Counts { counts.withLock { $0 } }

  /// Counts `request` if it is a push.
  func count(_ request: ProxiedRequest) {
    guard request.method == "POST",
      let value = try? CBORDecoder.decode(request.body),
      let push = try? PushRequest(value: value)
    else { return }
    counts.withLock { counts in
      counts.pushes += 1
      for item in push.items where !counts.sent.insert(item.operation.id).inserted {
        counts.resentOperations += 1
      }
    }
  }
}
