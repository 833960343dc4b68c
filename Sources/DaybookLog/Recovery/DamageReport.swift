/// What an opening found damaged, what that costs, and what was done about it.
package struct DamageReport: Sendable, Hashable {
  /// Damage that no opening before had met, in the order in which it was met.
  package var found: [LogFinding] = []
  /// Damage that an earlier opening recorded.
  package var known: [LogFinding] = []
  /// The numbers of the entries that are lost for good, by stream, in order; known ones included.
  package var lost: [String: [ClosedRange<UInt64>]] = [:]
  /// The streams of which entries do not count and have to be fetched again, with the first number
  /// that does not.
  package var cut: [String: UInt64] = [:]
  /// Copies of the damaged bytes that this opening made, from the log's directory on.
  package var evidence: [String] = []
  /// What was done, in sentences.
  package var actions: [String] = []

  /// A report of nothing.
  package init() {}

  /// Nothing is damaged, and nothing was recorded.
  package var isEmpty: Bool { found.isEmpty && known.isEmpty && evidence.isEmpty }
}
