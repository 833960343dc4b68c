/// What becomes of a stream behind damage: who else has the data decides.
///
/// Source: `Docs/Format.md`, section "Recovery".
package enum DamagePolicy: Sendable, Hashable {
  /// Nobody else has it. Every entry that can be had counts, the numbers lost are named, and
  /// everything behind goes on.
  case salvage
  /// Somebody can send it again. Entries count up to the first number lost; what follows does not
  /// count up to the segment whose gap entry covers the loss.
  case cut
  /// Nothing is written to the log.
  case refuse

  /// The policy of the streams that this version writes: the outbox is salvaged, the feed is cut.
  package static func usual(for stream: String) -> DamagePolicy {
    switch stream {
    case "outbox": return .salvage
    case "feed": return .cut
    default: return .refuse
    }
  }
}
