package import DaybookLog

/// What was damaged when the log was opened, what that costs, and what was done about it.
///
/// The store goes on behind damage: operations that only this device had and that can't be read any
/// more are named here by their place in the outbox, and what the server has is fetched again. An
/// app should show or send the report: nothing else will tell of ``lostOutboxEntries``. With
/// ``DaybookOptions/isStrict`` opening throws instead, and changes nothing.
public struct DamageReport: Sendable, Hashable {
  /// Damage that is new: a sentence for each, with file and byte.
  public let findings: [String]
  /// Damage that an earlier opening has told of and recorded.
  public let known: [String]
  /// The numbers of entries of the outbox that are lost for good (operations, and what was noted of
  /// them), known ones included.
  public let lostOutboxEntries: [ClosedRange<UInt64>]
  /// Whether rows of the server are missing until the next pull has fetched them again.
  public let isFetchedAgain: Bool
  /// Copies of the damaged bytes that were made now, from the log's directory on.
  public let evidence: [String]
  /// What was done, in sentences.
  public let actions: [String]
  /// Whether the log could only be opened for reading.
  public let isReadOnly: Bool

  /// The report of `log`; `nil` if there is nothing to say.
  package init?(_ log: Log) {
    // A torn tail was never acknowledged: nothing that anybody has seen is missing.
    let damage = log.damage
    if damage.found.isEmpty, damage.known.isEmpty {
      // A disk that refuses writes is no damage: ``Status/storage`` tells.
      switch log.refusal {
      case nil, .notPermitted, .diskFull: return nil
      default: break
      }
    }
    findings = damage.found.map(\.message)
    known = damage.known.map(\.message)
    lostOutboxEntries = damage.lost[StreamOptions.outbox.name] ?? []
    isFetchedAgain = damage.cut[StreamOptions.feed.name] != nil
    evidence = damage.evidence
    actions = damage.actions
    isReadOnly = log.isReadOnly
  }
}
