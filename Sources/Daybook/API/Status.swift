public import DaybookFormat
import DaybookSync

/// How the store stands: read from the log, so it is the same after a relaunch.
public struct Status: Sendable, Hashable {
  /// Why nothing is sent until somebody acts.
  public enum Problem: Sendable, Hashable {
    /// The server wants other credentials; call ``Daybook/resumeSync()`` once they are there.
    case credentials
    /// The server wants a newer app.
    case upgradeRequired
    /// The address leads to another server than the log belongs to.
    case notOurServer
    /// The server was restored from an older copy.
    case serverHistoryChanged
    /// Another copy of this log has been sending.
    case anotherCopySent
    /// What answers is no Daybook server: a login page, a proxy, a wrong address.
    case notADaybookServer(status: Int)
    /// The server was not reached.
    case unreachable(String)
    /// The server answered with this status.
    case serverFailed(status: Int, message: String?)

    /// The problem in a sentence with a remedy.
    public var message: String {
      switch self {
      case .credentials: return "The server wants other credentials: sign in again."
      case .upgradeRequired: return "The server wants a newer version of this app: update it."
      case .notOurServer:
        return "This is another server than the log belongs to. Correct the address; nothing was "
          + "sent."
      case .serverHistoryChanged:
        return "The server was restored from an older copy. Nothing is sent until it is settled "
          + "what happens to what it lost."
      case .anotherCopySent:
        return "Another copy of this log has sent operations. Nothing is sent from this one."
      case .notADaybookServer(let status):
        return "What answers (status \(status)) is no Daybook server: perhaps a login page. Sign "
          + "in to the network or correct the address; everything waits in the outbox."
      case .unreachable(let reason):
        return "The server was not reached (\(reason)). Everything waits in the outbox."
      case .serverFailed(let status, let message):
        return "The server answered with status \(status). "
          + (message ?? "It is tried again later; everything waits in the outbox.")
      }
    }
  }

  /// Operations without a settlement: they are sent, but for those held.
  public let unsettledCount: Int
  /// Of those, the ones that came with a restored copy and wait for
  /// ``Daybook/releaseRestored(_:)``.
  public let heldCount: Int
  /// Operations that the server took and whose effect has not been pulled yet.
  public let unconfirmedCount: Int
  /// Refused edits that wait for a decision.
  public let draftCount: Int
  /// Operations without a verdict that wait for a decision.
  public let deadLetterCount: Int
  /// When the oldest operation that is sent was made, by the device's clock.
  public let oldestUnsettled: Timestamp?
  /// When a round of pulling was last complete, in this run of the app.
  public let lastPull: Timestamp?
  /// The last problem that no later success has cleared.
  public let problem: Problem?
  /// Why nothing is written to the log now; `nil` once a write has worked again.
  public let storage: StorageProblem?
  /// Why the log could not be kept small the last time; it is tried again, and nothing is lost by
  /// it.
  public let upkeepProblem: String?
  /// Whether every scope that the account pulls has been pulled once.
  public let isComplete: Bool
  /// Collections that the log has and the schema lacks: their bytes are kept.
  public let unknownCollections: [String]
  /// Records that a newer app wrote and that this one's types can't read, as far as queries met
  /// them.
  public let unreadableRecordCount: Int
  /// What the log found damaged when it was opened; `nil` if it was whole.
  public let damage: DamageReport?
}
