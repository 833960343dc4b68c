/// What must hold after every step of a torture run; the promises of `Docs/Testing.md`.
package enum TortureInvariant: String, Sendable, Hashable, CaseIterable {
  /// What was acknowledged, or shown by an opening, survives every crash and every failed call.
  case durableBeforeVisible = "durable before visible"
  /// No damage of up to one page takes what only this device has.
  case nothingLost = "nothing of the user's is lost"
  /// The base is what the server held at the cursor.
  case noChangeSkipped = "no change skipped"
  /// The rows shown are the base with the operations laid over it.
  case rowsAsExpected = "rows as expected"
  /// Replay makes the state that the live log had; opening twice makes the same.
  case sameState = "same log, same state"
  /// Damage is told with its file, or nothing is changed by it.
  case noSilentLoss = "no silent loss"
  /// A log opens, whatever happened to it.
  case opens = "it opens"
  /// A crash, or a call that failed, is never taken for damage.
  case crashIsNoDamage = "a crash is no damage"
  /// An entry is there once, in its place, with its bytes.
  case onceInOrder = "once and in order"
  /// All entries of a transaction are there, or none.
  case allOrNothing = "all or nothing"
  /// What was said not to be written is not there.
  case refusedIsGone = "refused is gone"
  /// A number that was acknowledged or shown is never given to another entry.
  case numbersOnce = "numbers are never used twice"
  /// A copy taken at any time holds what had been acknowledged when it was begun, and a prefix of
  /// the rest.
  case copies = "a copy is a prefix"
  /// Nobody else can write to a log that is open.
  case oneWriter = "one writer"
  /// Every link of the chain holds, but for files that were damaged.
  case chained = "the chain verifies"
  /// Memory, files and bytes stay within their limits.
  case bounded = "bounded"
}
