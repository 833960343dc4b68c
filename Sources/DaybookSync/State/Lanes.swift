import DaybookFormat

/// Which unsettled operations must wait for each other.
///
/// A lane is a record, or the value of the collection's lane field. A transaction joins the lanes
/// that it touches; an operation that refers to a record whose create is unsettled joins that
/// record's lane.
struct Lanes {
  private var parents: [Int]
  private var indexes: [Identifier: Int] = [:]

  /// The lanes of `operations`, which are in outbox order. About O(*n*).
  init(_ operations: [OutboxOperation], state: ClientState) {
    var lanes: [String: Int] = [:]
    var transactions: [Identifier: Int] = [:]
    var creates: [RecordKey: Int] = [:]
    parents = Array(operations.indices)
    for (index, kept) in operations.enumerated() {
      let operation = kept.operation
      indexes[operation.id] = index
      join(index, &lanes[state.laneName(of: operation)])
      if let transaction = operation.transaction { join(index, &transactions[transaction.id]) }
      for target in state.schema.references(of: operation) {
        if let create = creates[target] { union(index, create) }
      }
      if operation.action == .create { creates[operation.record] = index }
    }
  }

  /// A number that two operations share if they are in one lane; `nil` for an unknown operation.
  mutating func lane(of id: Identifier) -> Int? { indexes[id].map { root($0) } }

  private mutating func join(_ index: Int, _ first: inout Int?) {
    if let first { union(index, first) } else { first = index }
  }

  private mutating func union(_ left: Int, _ right: Int) {
    let (a, b) = (root(left), root(right))
    parents[max(a, b)] = min(a, b)
  }

  private mutating func root(_ index: Int) -> Int {
    var index = index
    while parents[index] != index {
      parents[index] = parents[parents[index]]
      index = parents[index]
    }
    return index
  }
}

extension ClientState {
  /// The name of the operation's lane, before transactions and references join it to others.
  func laneName(of operation: Operation) -> String {
    let key = operation.record
    guard let field = schema[key.collection]?.lane,
      let value = operation.fields[field] ?? shown(key)?.row[field] ?? held(key)?.row?[field]
    else { return "record \(key)" }
    return "lane \(key.collection) \(Hexadecimal.text(of: CBOREncoder.encode(value)))"
  }
}
