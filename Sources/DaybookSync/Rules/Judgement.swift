package import DaybookFormat

/// A record as the server holds it when an operation arrives.
package struct CurrentRecord: Sendable, Hashable {
  /// The row; `nil` after a delete.
  package var row: ValueMap?
  /// The version, which a deleted record keeps.
  package var version: Version
  /// The scope it belongs to for ever.
  package var scope: String
  /// The device clock of the write that last had an effect.
  package var lastWrite: HybridTime

  /// The record with `row` at `version`.
  package init(row: ValueMap?, version: Version, scope: String, lastWrite: HybridTime) {
    self.row = row
    self.version = version
    self.scope = scope
    self.lastWrite = lastWrite
  }
}

/// What the rules make of one operation.
package enum Judgement: Sendable, Hashable {
  /// It takes effect: fields set and unset, a whole row, or a removal.
  case effect(Effect)
  /// It does not.
  case refused(Settlement.Refusal)

  /// What an accepted operation does to its record.
  package struct Effect: Sendable, Hashable {
    /// How the fields are to be read.
    package let extent: Change.Extent
    /// The fields set, or the whole row.
    package let fields: ValueMap
    /// The fields unset.
    package let unset: [String]
    /// The policy decided that nothing changes.
    package let isSuperfluous: Bool

    /// An effect of these parts.
    package init(
      extent: Change.Extent, fields: ValueMap = [:], unset: [String] = [],
      isSuperfluous: Bool = false
    ) {
      self.extent = extent
      self.fields = fields
      self.unset = unset
      self.isSuperfluous = isSuperfluous
    }

    /// The row after this effect on `row`.
    package func applied(to row: ValueMap?) -> ValueMap? {
      if isSuperfluous { return row }
      switch extent {
      case .delta: return (row ?? [:]).applying(set: fields, unset: unset)
      case .row: return fields
      case .removal: return nil
      }
    }
  }
}
