import DaybookFormat
import DaybookSync

/// One thing that somebody did to a record, or tried to: an operation and the verdict and change
/// that came of it.
///
/// What the log does not say is `nil`: a server's row of a refused operation has no fields, and a
/// row of a bootstrap tells of its last author only.
struct HistoryEvent {
  let operationID: Identifier
  var device: String?
  var account: String?
  var deviceTime: Timestamp?
  var action: String?
  /// The scope's sequence number that the author had seen.
  var seen: UInt64?
  /// The changed fields before; a field that was not there is null.
  var from: ValueMap?
  /// The changed fields after; a field that was unset is null.
  var to: ValueMap?
  var settlement: Settlement?
  var departure: Departure?
  /// The scope's sequence number of the change.
  var sequence: UInt64?
  /// The record's version after it.
  var version: Version?
  /// The server's clock at the change or the verdict.
  var serverTime: Timestamp?
  /// The feed or the server's log has told its effect.
  var isConfirmed = false
  /// The verdict on the operation that it left with.
  var rootStanding: OperationStanding?

  init(_ operationID: Identifier) { self.operationID = operationID }

  /// What became of it.
  var standing: OperationStanding {
    if isConfirmed { return .accepted }
    let standing = OperationStanding(settlement: settlement, departure: departure)
    return standing == .left ? rootStanding ?? .left : standing
  }

  /// The shape of `Docs/Operating.md`.
  var object: JSONObject {
    var object = JSONObject()
    object.set("device", optional: device)
    object.set("deviceTime", optional: deviceTime?.rfc3339)
    object.set("serverTime", optional: serverTime?.rfc3339)
    object.set("account", optional: account)
    object.set("op", operationID.description)
    object.set("action", optional: action)
    object.set("seen", optional: seen)
    object.set("from", from.map(Value.map) ?? .null)
    object.set("to", to.map(Value.map) ?? .null)
    object.set("verdict", standing.rawValue)
    object.set("version", optional: version?.text)
    return object
  }

  /// The lines for people; the first one begins with the time by the server's clock, or the
  /// device's if the server has not answered.
  var lines: [String] {
    let time = serverTime ?? deviceTime
    let author = account.map { " by \(printable($0))" } ?? ""
    let place = device.map { " on \(printable($0))" } ?? ""
    let what = "\(printable(action ?? "an operation"))\(author)\(place): \(standing.rawValue)"
    var lines = ["\(time?.rfc3339 ?? "time unknown")  \(what)"]
    var facts: [String] = []
    if let version { facts.append("version \(version.text)") }
    if let seen { facts.append("having seen \(seen)") }
    if let deviceTime, serverTime != nil { facts.append("device clock \(deviceTime.rfc3339)") }
    facts.append("op \(operationID)")
    lines.append("  " + facts.joined(separator: ", "))
    if let refusal = settlement?.refusal, !isConfirmed {
      lines.append("  \(printable(refusal.code.rawValue)): \(printable(refusal.message))")
    }
    return lines + fieldLines
  }

  private var fieldLines: [String] {
    let names = Set((from?.names ?? []) + (to?.names ?? [])).sorted(by: ByteOrder.precedes)
    return names.map { name in
      let after = to.map { JSONText.text(of: $0[name] ?? .null) }
      guard let from else { return "  \(printable(name)): \(after ?? "null")" }
      let before = JSONText.text(of: from[name] ?? .null)
      return "  \(printable(name)): \(before) -> \(after ?? "null")"
    }
  }
}
