extension Attempt {
  /// CBOR map: "operations", an array of op ids.
  package var bytes: [UInt8] {
    CBOREncoder.encode(.map(["operations": .array(operationIDs.map { .bytes($0.bytes) })]))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    self.init(operationIDs: try EntryMap(bytes).identifiers("operations"))
  }
}

extension Decision {
  /// CBOR map: "kind" (1 discarded, 2 retried, 3 sent again, 4 released, 5 dropped), "root",
  /// "time" in milliseconds.
  package var bytes: [UInt8] {
    CBOREncoder.encode(
      .map([
        "kind": .unsigned(UInt64(kind.rawValue)), "root": .bytes(root.bytes),
        "time": .int(time.milliseconds),
      ]))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    guard let code = UInt8(exactly: try map.unsigned("kind")), let kind = Kind(rawValue: code)
    else { throw .member(name: "kind") }
    self.init(
      kind: kind, root: try map.identifier("root"), time: try map.timestamp("time"))
  }
}

extension Departure {
  /// CBOR map: "root", "members", "reason" (1 verdict, 2 dead letter, 3 withdrawn, 4 failed), and
  /// "status" and "message" where the reason has them.
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "root": .bytes(root.bytes), "members": .array(members.map { .bytes($0.bytes) }),
    ]
    switch reason {
    case .verdict:
      map["reason"] = .unsigned(1)
    case .deadLetter(let status, let message):
      map["reason"] = .unsigned(2)
      map["status"] = .unsigned(UInt64(status))
      map["message"] = .text(message)
    case .withdrawn:
      map["reason"] = .unsigned(3)
    case .failed(let message):
      map["reason"] = .unsigned(4)
      map["message"] = .text(message)
    }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    let reason: Reason
    switch try map.unsigned("reason") {
    case 1: reason = .verdict
    case 2:
      guard let status = UInt16(exactly: try map.unsigned("status")) else {
        throw .member(name: "status")
      }
      reason = .deadLetter(status: status, message: try map.text("message"))
    case 3: reason = .withdrawn
    case 4: reason = .failed(message: try map.text("message"))
    default: throw .member(name: "reason")
    }
    self.init(
      root: try map.identifier("root"), members: try map.identifiers("members"), reason: reason)
  }
}

extension Binding {
  /// CBOR map: "server", "incarnation".
  package var bytes: [UInt8] {
    CBOREncoder.encode(
      .map(["server": .bytes(serverID.bytes), "incarnation": .bytes(incarnation.bytes)]))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    self.init(
      serverID: try map.identifier("server"), incarnation: try map.identifier("incarnation"))
  }
}
