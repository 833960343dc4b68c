public import DaybookSync
package import DaybookLog

/// How a store is opened.
public struct DaybookOptions: Sendable {
  /// When the store talks to the server.
  public enum SyncMode: Sendable, Hashable {
    /// By itself: at open, after writes, and every so many seconds.
    case automatic(pullEverySeconds: Int)
    /// Only when ``Daybook/sync()`` is called.
    case manual
  }

  /// When the store talks to the server; every 15 minutes unless set.
  public var sync: SyncMode = .automatic(pullEverySeconds: 900)
  /// How long to wait before trying again.
  public var retrySchedule: RetrySchedule = .background
  /// The device's name in the log and on the server, up to 128 bytes; made up if not given.
  public var device: String?
  /// Throws `damaged`, and changes nothing, where entries are lost and no earlier opening has told
  /// of it.
  public var isStrict = false
  /// The age in days of the oldest backup that the server would be restored from: so long the
  /// device keeps operations that took effect, to send them again. By the server's time; 30 unless
  /// set.
  public var serverBackupDays = 30
  /// Whether the log is kept small while the store is open; `daybook compact` does it by hand.
  package var keepsLogSmall = true
  /// When it is worth it.
  package var maintenanceLimits = MaintenanceLimits()
  /// How the log's streams are written.
  package var streams: [StreamOptions] = [.feed, .outbox]
  /// How much one push carries.
  package var batchLimits = BatchLimits()
  /// Where time, randomness and waiting come from.
  package var environment = ClientEnvironment.system
  /// The door to the disk.
  package var fileSystem: any FileSystem = SystemFileSystem()

  /// The usual options.
  public init() {}
}
