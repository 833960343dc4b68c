import DaybookFormat
import DaybookSync

/// Operations of earlier lives of the log that sends: it was restored from a copy, and the original
/// may have sent any of them, and may go on sending.
///
/// The request's watermark speaks for its own life alone. What an earlier one has settled and what
/// is too old there, only that life's row tells.
extension PushRun {
  /// Refuses lives of another account, and registers those that no server has heard of.
  func admitEarlier(_ transaction: inout any ServerTransaction) throws(ServerProblem) {
    var seen: Set<Identifier> = [request.incarnation]
    for item in request.items where seen.insert(item.operation.incarnation).inserted {
      try admit(item.operation.incarnation, device: item.operation.device, &transaction)
    }
    for withdrawal in request.withdrawals {
      guard let incarnation = withdrawal.incarnation, seen.insert(incarnation).inserted else {
        continue
      }
      try admit(incarnation, device: request.device, &transaction)
    }
  }

  private func admit(
    _ incarnation: Identifier, device: String, _ transaction: inout any ServerTransaction
  ) throws(ServerProblem) {
    if let row = transaction.incarnation(incarnation) {
      guard row.account == request.account else { throw wrongAccount }
    } else if !request.registered.contains(incarnation) {
      transaction.put(
        IncarnationRow(
          incarnation: incarnation, account: request.account, device: device, watermark: 1,
          lastContact: time))
    }
  }

  /// Whether an operation without a verdict may have had one that is no longer kept.
  func isTooOld(_ operation: Operation, _ reader: any ServerReader) -> Bool {
    if operation.incarnation == request.incarnation {
      return operation.number < request.watermark
    }
    return isForgotten(operation.id, operation.incarnation, operation.number, reader)
  }

  /// Whether what became of number `number` of an earlier life can't be told: it is below that
  /// life's watermark, or another copy of it used the number, or the life itself was forgotten.
  func isForgotten(
    _ id: Identifier, _ incarnation: Identifier, _ number: UInt64, _ reader: any ServerReader
  ) -> Bool {
    guard let row = reader.incarnation(incarnation) else { return true }
    if number < row.watermark { return true }
    let used = reader.operationID(incarnation: incarnation, number: number)
    return used != nil && used != id
  }
}
