package import DaybookFormat

/// What an entry changed, for observers, receipts and status.
package struct StateEffects: Sendable, Hashable {
  /// Records whose shown row may be another one now.
  package var records: Set<RecordKey> = []
  /// Operations whose settlement, departure or decision is new.
  package var operations: Set<Identifier> = []
  /// Scopes whose position or bootstrap moved.
  package var scopes: Set<String> = []

  /// Nothing changed.
  package init() {}

  /// Adds what `other` changed.
  package mutating func formUnion(_ other: StateEffects) {
    records.formUnion(other.records)
    operations.formUnion(other.operations)
    scopes.formUnion(other.scopes)
  }

  /// Whether nothing changed.
  package var isEmpty: Bool { records.isEmpty && operations.isEmpty && scopes.isEmpty }
}
