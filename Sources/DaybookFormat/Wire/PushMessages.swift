/// A batch of operations on its way to the server: the body of `POST /v1/push`.
package struct PushRequest: Sendable, Hashable {
  /// One operation as it was stored, and what its base had become meanwhile.
  package struct Item: Sendable, Hashable {
    /// The operation; its bytes are sent as they are.
    package let operation: Operation
    /// The version that the operation it is based on was given, once that is settled.
    package let baseVersion: Version?

    /// The item of `operation`.
    package init(operation: Operation, baseVersion: Version? = nil) {
      self.operation = operation
      self.baseVersion = baseVersion
    }
  }

  /// An operation that was given up before its settlement arrived.
  package struct Withdrawal: Sendable, Hashable {
    /// The operation.
    package let operationID: Identifier
    /// Its number in the incarnation.
    package let number: UInt64
    /// The earlier life of the log that it was made in; `nil` for the one that sends.
    package let incarnation: Identifier?

    /// Gives up `operationID`.
    package init(operationID: Identifier, number: UInt64, incarnation: Identifier? = nil) {
      self.operationID = operationID
      self.number = number
      self.incarnation = incarnation
    }
  }

  /// Who sends.
  package var account: String
  /// The sending device.
  package var device: String
  /// The life of the log that sends; operations of its earlier ones are judged by their op ids.
  package var incarnation: Identifier
  /// The server that the log belongs to.
  package var serverID: Identifier
  /// The number below which every settlement is durably recorded.
  package var watermark: UInt64
  /// The highest place known of each scope, from cursor or settlements.
  package var known: Cursor
  /// The operations, in the order they were made.
  package var items: [Item]
  /// The operations given up.
  package var withdrawals: [Withdrawal]
  /// Those of the earlier lives named that a server has registered, as far as the log tells: if it
  /// knows them no more, it can't tell what it took of them.
  package var registered: [Identifier]
  /// Where the log's history stands as far as it is durable: the server keeps the last one.
  package var anchor: Anchor?

  /// A batch of `items` and `withdrawals`.
  package init(
    account: String, device: String, incarnation: Identifier, serverID: Identifier,
    watermark: UInt64, known: Cursor, items: [Item], withdrawals: [Withdrawal] = [],
    registered: [Identifier] = [], anchor: Anchor? = nil
  ) {
    self.account = account
    self.device = device
    self.incarnation = incarnation
    self.serverID = serverID
    self.watermark = watermark
    self.known = known
    self.items = items
    self.withdrawals = withdrawals
    self.registered = registered
    self.anchor = anchor
  }

  /// CBOR map: "account", "device", "incarnation", "server", "watermark", "known" (a cursor),
  /// "operations" (arrays of the operation's bytes and, if given, the version of its base),
  /// "withdrawals" (arrays of op id, number and, if it is an earlier one, incarnation) and, if
  /// there are any, "registered" (incarnations) and "anchor" (its map).
  package var value: Value {
    let operations = items.map { item -> Value in
      var parts: [Value] = [.bytes(item.operation.bytes)]
      if let version = item.baseVersion { parts.append(version.value) }
      return .array(parts)
    }
    var map: ValueMap = [
      "account": .text(account), "device": .text(device),
      "incarnation": .bytes(incarnation.bytes), "server": .bytes(serverID.bytes),
      "watermark": .unsigned(watermark), "known": known.value, "operations": .array(operations),
      "withdrawals": .array(
        withdrawals.map { withdrawal in
          let parts: [Value] = [
            .bytes(withdrawal.operationID.bytes), .unsigned(withdrawal.number),
          ]
          return .array(parts + (withdrawal.incarnation.map { [.bytes($0.bytes)] } ?? []))
        }),
    ]
    if !registered.isEmpty {
      map["registered"] = .array(registered.map { .bytes($0.bytes) })
    }
    if let anchor { map["anchor"] = anchor.value }
    return .map(map)
  }

  /// The batch that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init) else { throw .member(name: "operations") }
    var items: [Item] = []
    for element in try map.array("operations") {
      guard let parts = element.array, (1...2).contains(parts.count), let bytes = parts[0].bytes
      else { throw .member(name: "operations") }
      var version: Version?
      if parts.count == 2 {
        guard let given = Version(parts[1]) else { throw .member(name: "operations") }
        version = given
      }
      items.append(Item(operation: try Operation(bytes: bytes), baseVersion: version))
    }
    var withdrawals: [Withdrawal] = []
    for element in try map.array("withdrawals") {
      guard let parts = element.array, (2...3).contains(parts.count), let bytes = parts[0].bytes,
        let id = Identifier(bytes: bytes), case .unsigned(let number) = parts[1]
      else { throw .member(name: "withdrawals") }
      let incarnation = parts.count == 3 ? parts[2].bytes.flatMap(Identifier.init(bytes:)) : nil
      guard parts.count == 2 || incarnation != nil else { throw .member(name: "withdrawals") }
      withdrawals.append(Withdrawal(operationID: id, number: number, incarnation: incarnation))
    }
    self.init(
      account: try map.text("account"), device: try map.text("device"),
      incarnation: try map.identifier("incarnation"), serverID: try map.identifier("server"),
      watermark: try map.unsigned("watermark"), known: try Cursor(value: map.value["known"]),
      items: items, withdrawals: withdrawals, registered: try map.identifiers("registered"))
    if let value = map.value["anchor"] { anchor = try Anchor(value: value) }
  }
}

/// The server's answer to one operation of a batch.
package struct PushResult: Sendable, Hashable {
  /// What was answered.
  package enum Outcome: Sendable, Hashable {
    /// A verdict, to be recorded for ever.
    case settled(Settlement)
    /// Nothing was decided, because an earlier operation it depends on has no verdict.
    case blocked
    /// The server holds another operation under this op id, which is an error of its own.
    case collision
  }

  /// The operation.
  package let operationID: Identifier
  /// The answer.
  package let outcome: Outcome

  /// The answer `outcome` to `operationID`.
  package init(operationID: Identifier, outcome: Outcome) {
    self.operationID = operationID
    self.outcome = outcome
  }

  /// The status of this one operation, in the manner of 207: 200 accepted, 409 conflict or
  /// collision, 422 refused or too old, 424 blocked.
  package var status: UInt16 {
    switch outcome {
    case .settled(let settlement):
      switch settlement.verdict {
      case .accepted: return 200
      case .conflict: return 409
      case .refused, .tooOld: return 422
      }
    case .blocked: return 424
    case .collision: return 409
    }
  }

  /// CBOR map: "op", "status", and "settlement" (its bytes) or "error" (`blocked`, `collision`).
  package var value: Value {
    var map: ValueMap = [
      "op": .bytes(operationID.bytes), "status": .unsigned(UInt64(status)),
    ]
    switch outcome {
    case .settled(let settlement): map["settlement"] = .bytes(settlement.bytes)
    case .blocked: map["error"] = .text("blocked")
    case .collision: map["error"] = .text("collision")
    }
    return .map(map)
  }

  /// The answer that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init) else { throw .member(name: "results") }
    let outcome: Outcome
    if map.value["settlement"] != nil {
      outcome = .settled(try Settlement(bytes: map.bytes("settlement")[...]))
    } else if try map.text("error") == "blocked" {
      outcome = .blocked
    } else {
      outcome = .collision
    }
    self.init(operationID: try map.identifier("op"), outcome: outcome)
  }
}

/// The answer to a batch: status 207 with a result for each operation and withdrawal.
package struct PushReply: Sendable, Hashable {
  /// Who answers.
  package var history: HistoryIdentity
  /// The server's clock.
  package var serverTime: Timestamp
  /// A result for each operation, then one for each withdrawal, in the order of the request.
  package var results: [PushResult]

  /// The answer `results`.
  package init(history: HistoryIdentity, serverTime: Timestamp, results: [PushResult]) {
    self.history = history
    self.serverTime = serverTime
    self.results = results
  }

  /// CBOR map: "server", "epoch", "time" in milliseconds, "results".
  package var value: Value {
    .map([
      "server": .bytes(history.serverID.bytes), "epoch": .bytes(history.epoch.bytes),
      "time": .int(serverTime.milliseconds), "results": .array(results.map(\.value)),
    ])
  }

  /// The answer that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init) else { throw .member(name: "results") }
    var results: [PushResult] = []
    for element in try map.array("results") { results.append(try PushResult(value: element)) }
    self.init(
      history: try HistoryIdentity(map), serverTime: try map.timestamp("time"), results: results)
  }
}

extension HistoryIdentity {
  init(_ map: EntryMap) throws(EntryError) {
    self.init(serverID: try map.identifier("server"), epoch: try map.identifier("epoch"))
  }
}
