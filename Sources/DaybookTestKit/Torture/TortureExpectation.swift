import DaybookFormat
import DaybookSync

/// The state that the model's entries make, folded in the model's own words.
struct TortureExpectation {
  /// An operation and what became of it.
  struct Kept {
    let operation: TortureOperation
    /// The sequence number that the server gave it.
    var sequence: UInt64?
    var isRefused = false
    var group: Identifier?
    var staysShown = false
    var isDecided = false

    /// It is to be sent.
    var isUnsettled: Bool { sequence == nil && !isRefused && group == nil }
  }

  /// How far the base has come; `nil` before the first bootstrap is complete.
  private(set) var position: UInt64?
  private var building: UInt64?
  private var dropped: Set<Identifier> = []
  private(set) var order: [Identifier] = []
  private(set) var operations: [Identifier: Kept] = [:]

  /// Folds both streams; `server` tells whose operation a change is the effect of. Operations that
  /// are among the entries `dropped` are not laid over anything.
  init(
    outbox: [TortureEntry], feed: [TortureEntry], server: TortureServer,
    dropped: [TortureEntry] = []
  ) {
    for entry in dropped {
      if case .operation(let operation) = entry.meaning { self.dropped.insert(operation.id) }
    }
    for entry in outbox { fold(entry) }
    for entry in feed { fold(entry, server) }
  }

  private mutating func fold(_ entry: TortureEntry) {
    switch entry.meaning {
    case .operation(let operation):
      operations[operation.id] = Kept(operation: operation)
      order.append(operation.id)
    case .accepted(let id, let sequence): accept(id, sequence)
    case .refused(let id): operations[id]?.isRefused = true
    case .left(let members, let root, let staysShown):
      for id in members {
        operations[id]?.group = root
        operations[id]?.staysShown = staysShown
      }
    case .decided(let root, let isResent):
      for id in order where operations[id]?.group == root {
        if isResent { operations[id]?.group = nil } else { operations[id]?.isDecided = true }
      }
    default: break
    }
  }

  private mutating func accept(_ id: Identifier, _ sequence: UInt64) {
    operations[id]?.sequence = sequence
    operations[id]?.isRefused = false
    operations[id]?.group = nil
  }

  private mutating func fold(_ entry: TortureEntry, _ server: TortureServer) {
    switch entry.meaning {
    case .change(let sequence):
      guard building == nil else { return }
      let fact = server.history[Int(sequence) - 1]
      if operations[fact.operationID] != nil { accept(fact.operationID, sequence) }
    case .cursor(let sequence):
      position = max(position ?? sequence, sequence)
    case .bootstrapBegin(let sequence): building = sequence
    case .bootstrapEnd:
      position = building ?? position
      building = nil
    default: break
    }
  }

  /// The base is complete and no other one is being built: pulling can go on.
  var isPullable: Bool { position != nil && building == nil }

  /// The operations to be sent, in order.
  var unsettled: [TortureOperation] {
    order.compactMap { id in operations[id].flatMap { $0.isUnsettled ? $0.operation : nil } }
  }

  /// The operations that only this device has, or of which something is still to be decided or
  /// shown.
  var needed: Set<Identifier> {
    Set(
      operations.lazy.filter { _, kept in
        if let sequence = kept.sequence { return position.map { sequence > $0 } ?? true }
        return !kept.isDecided
      }.map(\.key))
  }

  /// The operations that left their lane with `root`.
  func members(of root: Identifier) -> Set<Identifier> {
    Set(operations.lazy.filter { $0.value.group == root }.map(\.key))
  }

  /// The operations that are laid over the base, in order.
  private var laidOver: [TortureOperation] {
    order.compactMap { id in
      guard let kept = operations[id], kept.operation.isLazy, !kept.isDecided,
        !dropped.contains(id)
      else { return nil }
      if let sequence = kept.sequence {
        // What the base shows is not shown twice.
        return sequence <= position ?? 0 && position != nil ? nil : kept.operation
      }
      if kept.isRefused || (kept.group != nil && !kept.staysShown) { return nil }
      return kept.operation
    }
  }

  /// The rows of the base.
  func base(_ server: TortureServer) -> [String: [String: Int64]] {
    position.map { server.rows(at: $0) } ?? [:]
  }

  /// The rows that are shown.
  func shown(_ server: TortureServer) -> [String: [String: Int64]] {
    var rows = base(server)
    for operation in laidOver {
      rows[operation.record] = TortureServer.row(after: operation, on: rows[operation.record])
    }
    return rows
  }
}
