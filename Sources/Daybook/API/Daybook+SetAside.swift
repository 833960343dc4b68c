public import DaybookFormat
import DaybookSync

extension Daybook {
  /// The refused edits that wait for a decision, in the order they were made.
  public var drafts: [Draft] { journal.state.read { $0.setAside.compactMap(Draft.init) } }

  /// The operations without a verdict that wait for a decision, in the order they were made.
  public var deadLetters: [DeadLetter] {
    journal.state.read { $0.setAside.compactMap(DeadLetter.init) }
  }

  /// Gives up a draft or a dead letter for good. It stays in the history.
  ///
  /// - Parameter id: the draft's or the dead letter's ``Draft/id``.
  /// - Throws: `alreadyDecided` if it is no longer there.
  public func discard(_ id: Identifier) async throws {
    let time = maker.environment.now()
    try await journal.write { staged, state in
      _ = try Daybook.take(id, from: state, &staged)
      return [.decision(Decision(kind: .discarded, root: id, time: time))]
    }
  }

  /// Sends the edits of a draft or a dead letter again, as new operations on the records as they
  /// are now; `edit` may change the fields that each sets.
  ///
  /// The decision and the new operations are one append; what was one transaction is one again. If
  /// the old operation had been accepted after all, the server says so and the new one is refused.
  /// - Parameter id: the draft's or the dead letter's ``Draft/id``.
  /// - Throws: `alreadyDecided` if it is no longer there; `noSuchRecord` if a record is gone;
  ///   `schema` if the fields do not fit.
  @discardableResult
  public func retry(
    _ id: Identifier,
    edit: @escaping @Sendable (Operation, inout ValueMap) -> Void = { _, _ in }
  ) async throws -> Receipt {
    let time = maker.environment.now()
    return try await follow { [account, maker] staged, state in
      var entries: [Entry] = []
      for old in Daybook.transactions(of: try Daybook.take(id, from: state, &staged)) {
        var transaction = WriteTransaction(account: account, state: state, staged: staged)
        for operation in old {
          var fields = operation.fields
          edit(operation, &fields)
          try transaction.repeat(operation, fields: fields)
        }
        entries += try maker.make(transaction, strategy: old[0].strategy, staged: &staged)
          .map(Entry.operation)
      }
      return entries + [.decision(Decision(kind: .retried, root: id, time: time))]
    }
  }

  /// The operations of the group named `root`, which no body before this one has decided about.
  private static func take(
    _ root: Identifier, from state: ClientState, _ staged: inout StagedWrites
  ) throws(DaybookError) -> [Operation] {
    guard !staged.isDecided(root), let group = state.setAside.first(where: { $0.root == root })
    else {
      throw DaybookError(
        .alreadyDecided,
        "There is no such draft or dead letter any more: it was decided before.")
    }
    staged.decide(root)
    return group.operations.map(\.operation)
  }

  /// `operations`, which are in outbox order, by the transactions that they were written in.
  private static func transactions(of operations: [Operation]) -> [[Operation]] {
    var transactions: [[Operation]] = []
    for operation in operations {
      if let id = operation.transaction?.id, id == transactions.last?.first?.transaction?.id {
        transactions[transactions.count - 1].append(operation)
      } else {
        transactions.append([operation])
      }
    }
    return transactions
  }
}
