/// What an entry of a stream is. The numbers are part of the format and never reused; kinds with
/// the high bit may be skipped by a reader that does not know them.
///
/// Source: `Docs/Format.md`, section "Entries".
package enum EntryKind: UInt8, Sendable, CaseIterable {
  // outbox: what only this device has
  case operation = 1
  case settlement = 2
  case attempt = 3
  case decision = 4
  case departure = 5
  case binding = 6
  case restored = 8
  // either of them: damage that was found, and is known from then on
  case gap = 7
  // feed: what the server can send again
  case change = 16
  case cursor = 17
  case bootstrapBegin = 18
  case bootstrapPage = 19
  case bootstrapEnd = 20
  // snapshots alone: the base as of a number of the feed
  case heldRow = 21
  case scopeBase = 22
  case feedSettlement = 23
  // the server's stream, beside changes
  case verdict = 32
  case incarnation = 33
  case history = 34
}
