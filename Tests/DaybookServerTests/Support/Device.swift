import DaybookFormat

/// A device as the server sees it: makes operations with rising numbers, and the headers and
/// batches that carry them.
struct Device {
  let account: String
  let name: String
  let incarnation: Identifier
  private(set) var nextNumber: UInt64 = 1
  var watermark: UInt64 = 1

  init(_ account: String = "rep-7", name: String = "phone", seed: UInt64 = 1) {
    self.account = account
    self.name = name
    incarnation = Identifier(high: 0x1000 + seed, low: seed)
  }

  /// What the device says about itself with every request.
  var headers: [(name: String, value: String)] {
    [
      (Wire.accountHeader, account), (Wire.deviceHeader, name),
      (Wire.incarnationHeader, incarnation.description),
    ]
  }

  mutating func operation(
    _ action: Action, _ id: String, _ fields: ValueMap = [:], base: Base = .none,
    transaction: Operation.Membership? = nil
  ) -> Operation {
    let number = nextNumber
    nextNumber += 1
    return Operation(
      id: Identifier(high: incarnation.high, low: 0xFF00 + number), incarnation: incarnation,
      number: number, clock: HybridTime(Sample.time), account: account, device: name,
      record: RecordKey("orders", id), scope: "rep/rep-7", action: action, base: base,
      transaction: transaction, fields: fields)
  }

  /// An order as a rep takes it.
  mutating func order(_ id: String, quantity: Int64 = 10) -> Operation {
    operation(
      .create, id,
      ["rep": .text("rep-7"), "status": .text("open"), "quantity": .int(quantity)])
  }

  func push(_ operations: [Operation], to history: HistoryIdentity) -> PushRequest {
    PushRequest(
      account: account, device: name, incarnation: incarnation, serverID: history.serverID,
      watermark: watermark, known: Cursor(epoch: history.epoch),
      items: operations.map { PushRequest.Item(operation: $0) })
  }

  func pull(after cursor: Cursor? = nil, from history: HistoryIdentity? = nil) -> ChangesRequest {
    ChangesRequest(
      account: account, device: name, incarnation: incarnation, serverID: history?.serverID,
      after: cursor)
  }
}
