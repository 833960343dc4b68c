import DaybookFormat
import DaybookSync

/// The operations of a group that is being made: not durable, seen only by the bodies after them.
struct StagedWrites: Sendable {
  private(set) var operations: [Operation] = []
  private var byRecord: [RecordKey: [Operation]] = [:]

  /// Adds an operation after all others.
  mutating func append(_ operation: Operation) {
    operations.append(operation)
    byRecord[operation.record, default: []].append(operation)
  }

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
