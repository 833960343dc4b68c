import DaybookFormat
import DaybookSync

/// How a query finds its rows.
struct QueryPlan {
  let condition: Condition
  let order: Order
  let limit: Int

  /// The rows, in order.
  func run(on state: ClientState, collection name: String) -> [ShownRecord] {
    guard let collection = state.collections[name], limit > 0 else { return [] }
    var ids = candidates(condition, in: collection).map(Array.init) ?? collection.shownIDs
    let isByID = order == .id
    if isByID { ids.sort(by: ByteOrder.precedes) }
    var rows: [ShownRecord] = []
    for id in ids {
      guard let shown = state.shown(RecordKey(name, id)), condition.admits(shown.row) else {
        continue
      }
      rows.append(shown)
      if isByID, rows.count == limit { break }
    }
    if !isByID { sort(&rows) }
    return Array(rows.prefix(limit))
  }

  /// The ids that an index finds; `nil` if none applies.
  private func candidates(
    _ condition: Condition, in collection: CollectionState
  ) -> Set<String>? {
    switch condition {
    case .equals(let field, let value): return collection.ids(where: field, equals: value)
    case .oneOf(let field, let values):
      var ids: Set<String> = []
      for value in values {
        guard let found = collection.ids(where: field, equals: value) else { return nil }
        ids.formUnion(found)
      }
      return ids
    case .and(let conditions):
      return conditions.compactMap { candidates($0, in: collection) }.min { $0.count < $1.count }
    case .or(let conditions):
      var ids: Set<String> = []
      for condition in conditions {
        guard let found = candidates(condition, in: collection) else { return nil }
        ids.formUnion(found)
      }
      return conditions.isEmpty ? nil : ids
    case .all, .between, .isMissing, .not: return nil
    }
  }

  private func sort(_ rows: inout [ShownRecord]) {
    let field: String
    let isDescending: Bool
    switch order {
    case .id: return
    case .ascending(let name): (field, isDescending) = (name, false)
    case .descending(let name): (field, isDescending) = (name, true)
    }
    rows.sort { left, right in
      switch (left.row[field], right.row[field]) {
      case (nil, nil): break
      case (nil, _): return false
      case (_, nil): return true
      case (let a?, let b?):
        if ValueOrder.precedes(a, b) { return !isDescending }
        if ValueOrder.precedes(b, a) { return isDescending }
      }
      return ByteOrder.precedes(left.key.id, right.key.id)
    }
  }
}
