import DaybookFormat
import DaybookSync

/// Gives the intents of one write their ids, numbers and clock, once, before anything is stored.
struct OperationMaker: Sendable {
  let incarnation: Identifier
  let account: String
  let device: String
  let environment: ClientEnvironment

  /// Makes the operations of `transaction` and adds them to `staged`.
  func make(
    _ transaction: borrowing WriteTransaction, strategy: Strategy, staged: inout StagedWrites
  ) throws(DaybookError) -> [Operation] {
    let intents = transaction.intents
    let state = transaction.state
    let now = environment.now()
    let transactionID = intents.count > 1 ? makeID(now) : nil
    var operations: [Operation] = []
    for (index, intent) in intents.enumerated() {
      let base: Base
      if intent.action == .create {
        base = .none
      } else if let earlier = intent.earlier {
        base = .operation(operations[earlier].id)
      } else {
        base = staged.base(of: intent.record, in: state)
      }
      let operation = Operation(
        id: makeID(now), incarnation: incarnation, number: staged.nextNumber(in: state),
        clock: staged.clock(in: state).next(at: now), seen: state.seen(in: intent.scope),
        schemaVersion: state.schema.version, account: account, device: device,
        record: intent.record, scope: intent.scope, strategy: strategy, action: intent.action,
        base: base,
        transaction: transactionID.map {
          Operation.Membership(id: $0, index: UInt16(index), count: UInt16(intents.count))
        }, supersedes: intent.supersedes, fields: intent.fields, unset: intent.unset)
      operations.append(operation)
      staged.append(operation)
    }
    let byteCount = operations.reduce(0) { $0 + $1.bytes.count }
    guard byteCount <= WriteTransaction.byteLimit else {
      throw DaybookError(
        .tooLarge,
        "The write has \(byteCount) bytes; one takes at most \(WriteTransaction.byteLimit).")
    }
    return operations
  }

  private func makeID(_ now: Timestamp) -> Identifier {
    .version7(
      milliseconds: now.milliseconds, random: (environment.random(), environment.random()))
  }
}
