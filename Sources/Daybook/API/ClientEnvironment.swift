package import DaybookFormat
import Foundation

/// Where a client gets the time, randomness and waiting from; the system's by default.
package struct ClientEnvironment: Sendable {
  /// The device's clock.
  package var now: @Sendable () -> Timestamp
  /// Evenly drawn 64-bit numbers.
  package var random: @Sendable () -> UInt64
  /// Returns at the given time, or throws when the task is cancelled.
  package var sleep: @Sendable (_ until: Timestamp) async throws -> Void

  /// An environment of these parts.
  package init(
    now: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Timestamp) async throws -> Void
  ) {
    self.now = now
    self.random = random
    self.sleep = sleep
  }

  /// The system's clock, generator and timers.
  package static let system = ClientEnvironment(
    now: { systemTime() }, random: { UInt64.random(in: .min ... .max) },
    sleep: { until in
      let wait = until.milliseconds - systemTime().milliseconds
      if wait > 0 { try await Task.sleep(for: .milliseconds(wait)) }
    })

  private static func systemTime() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded()))
  }
}
