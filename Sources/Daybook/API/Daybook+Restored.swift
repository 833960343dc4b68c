public import DaybookFormat
import DaybookSync

/// Operations that came with a restored copy and wait for a decision: they are shown, not sent, and
/// hold their lanes.
///
/// The original of the copy may have sent any of them, and may still do so. Whatever is decided,
/// none takes effect twice: the server knows an operation by its id.
public struct RestoredOutbox: Sendable, Hashable {
  /// What an app may decide.
  public enum Decision: Sendable, Hashable {
    /// They are sent like any other.
    case send
    /// They are given up as if discarded; what may have been sent before is withdrawn.
    case drop
  }

  /// How many operations wait.
  public let count: Int
  /// When the log was restored, by the clock of whoever did it.
  public let time: Timestamp
}

extension Daybook {
  /// What a restored copy of this log held and nobody has decided about yet; `nil` if there is
  /// nothing. What the server turns out to have taken already drops out by itself.
  public var restored: RestoredOutbox? {
    journal.state.read { state in
      guard let restoration = state.restoration else { return nil }
      let count = state.heldOperations.count
      return count == 0 ? nil : RestoredOutbox(count: count, time: restoration.time)
    }
  }

  /// Decides about ``restored``; durable on return.
  ///
  /// - Throws: `alreadyDecided` if nothing waits any more.
  public func releaseRestored(_ decision: RestoredOutbox.Decision) async throws {
    let time = maker.environment.now()
    try await journal.write { staged, state in
      guard let life = state.restoration?.from, !state.heldOperations.isEmpty,
        !staged.isDecided(life)
      else {
        throw DaybookError(
          .alreadyDecided, "Nothing of a restored copy waits any more: it was decided before.")
      }
      staged.decide(life)
      let kind: DaybookFormat.Decision.Kind = decision == .send ? .released : .dropped
      return [.decision(DaybookFormat.Decision(kind: kind, root: life, time: time))]
    }
    await driver?.wakePush(isUrgent: false)
  }
}
