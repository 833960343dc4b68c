extension Value {
  /// Why a value that an app made could not be read back after it was stored.
  package enum StorageProblem: Error, Hashable, Sendable {
    /// Nested deeper than the decoder's limit of levels.
    case tooDeep(limit: Int)
    /// A simple value that has a case of its own, or means nothing.
    case reservedSimple(UInt8)
  }

  /// What keeps this value from being stored, `nil` if nothing does. Visits each item once.
  package var storageProblem: StorageProblem? { storageProblem(depth: 0) }

  /// The same for a value with `depth` arrays, maps and tags around it.
  func storageProblem(depth: Int) -> StorageProblem? {
    problem(levelsLeft: CBORLimits().depth - depth)
  }

  private func problem(levelsLeft: Int) -> StorageProblem? {
    switch self {
    case .array(let elements):
      guard levelsLeft > 0 else { return .tooDeep(limit: CBORLimits().depth) }
      for element in elements {
        if let problem = element.problem(levelsLeft: levelsLeft - 1) { return problem }
      }
      return nil
    case .map(let map):
      guard levelsLeft > 0 else { return .tooDeep(limit: CBORLimits().depth) }
      for entry in map.entries {
        if let problem = entry.key.problem(levelsLeft: levelsLeft - 1) { return problem }
        if let problem = entry.value.problem(levelsLeft: levelsLeft - 1) { return problem }
      }
      return nil
    case .tagged(_, let content):
      guard levelsLeft > 0 else { return .tooDeep(limit: CBORLimits().depth) }
      return content.problem(levelsLeft: levelsLeft - 1)
    // A decimal is a tag around an array, a time a tag around a number or (far away) a map.
    case .decimal, .time: return levelsLeft > 1 ? nil : .tooDeep(limit: CBORLimits().depth)
    case .simple(let value) where (20...31).contains(value): return .reservedSimple(value)
    default: return nil
    }
  }
}
