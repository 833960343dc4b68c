import DaybookFormat
import DaybookSync

/// The operations and decisions of a group that is being made: not durable, seen only by the bodies
/// after them.
struct StagedWrites: Sendable {
  /// How much was staged when a body began.
  struct Mark: Sendable {
    fileprivate let operationCount: Int
    fileprivate let decisionCount: Int
  }

  private(set) var operations: [Operation] = []
  /// The bytes of ``operations``.
  private(set) var byteCount = 0
  private var byRecord: [RecordKey: [Operation]] = [:]
  private var decided: [Identifier] = []

  /// The place to roll back to.
  var mark: Mark { Mark(operationCount: operations.count, decisionCount: decided.count) }

  /// Takes back what a body did that throws: it costs only as much as the body did.
  mutating func rollBack(to mark: Mark) {
    while operations.count > mark.operationCount {
      let operation = operations.removeLast()
      byteCount -= operation.bytes.count
      byRecord[operation.record]?.removeLast()
    }
    decided.removeLast(decided.count - mark.decisionCount)
  }

  /// Adds an operation after all others.
  mutating func append(_ operation: Operation) {
    operations.append(operation)
    byteCount += operation.bytes.count
    byRecord[operation.record, default: []].append(operation)
  }

  /// Notes that the group named `root` has been decided about.
  mutating func decide(_ root: Identifier) { decided.append(root) }

  /// Whether a body before this one has decided about the group named `root`.
  func isDecided(_ root: Identifier) -> Bool { decided.contains(root) }

  /// The row of `key` as the next body sees it.
  func row(of key: RecordKey, in state: ClientState) -> ValueMap? {
    var row = state.shown(key)?.row
    for operation in byRecord[key] ?? [] where operation.strategy == .lazy {
      row = Overlay.apply(operation, to: row)
    }
    return row
  }

  /// What the author of the next operation on `key` has before them.
  func base(of key: RecordKey, in state: ClientState) -> Base {
    if let last = byRecord[key]?.last { return .operation(last.id) }
    return state.base(for: key)
  }

  /// The scope that the record `key` belongs to, if it is there.
  func scope(of key: RecordKey, in state: ClientState) -> String? {
    byRecord[key]?.last?.scope ?? state.scope(of: key)
  }

  /// The number of the next operation.
  func nextNumber(in state: ClientState) -> UInt64 {
    state.nextNumber + UInt64(operations.count)
  }

  /// The highest clock reading so far.
  func clock(in state: ClientState) -> HybridTime {
    max(state.clock, operations.last?.clock ?? state.clock)
  }
}
