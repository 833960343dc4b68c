/// The log was restored from a copy: a new life of it begins behind this entry.
package struct Restoration: Sendable, Hashable {
  /// What becomes of the operations that the copy held and that have no verdict.
  package enum Outbox: String, Sendable, CaseIterable {
    /// They wait for a decision, and hold their lanes.
    case hold
    /// They are sent; the server knows those that it took before by their op ids.
    case send
    /// They are given up, as if discarded.
    case drop
  }

  /// The life of the log that the copy was taken from.
  package let from: Identifier
  /// When, by the clock of whoever restored it.
  package let time: Timestamp
  /// The place that was asked for; `nil` for all that the copy held.
  package let until: LogPosition?
  /// What becomes of the operations without a verdict.
  package let outbox: Outbox

  /// A restore of a copy of the life `from`.
  package init(from: Identifier, time: Timestamp, until: LogPosition?, outbox: Outbox) {
    self.from = from
    self.time = time
    self.until = until
    self.outbox = outbox
  }

  /// CBOR map: "from", "time" in milliseconds, "outbox" (`hold`, `send`, `drop`), and "until"
  /// ([stream, number]) where a place was asked for.
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "from": .bytes(from.bytes), "time": .int(time.milliseconds), "outbox": .text(outbox.rawValue),
    ]
    if let until { map["until"] = .array([.text(until.stream), .unsigned(until.number)]) }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    guard let outbox = Outbox(rawValue: try map.text("outbox")) else {
      throw .member(name: "outbox")
    }
    var until: LogPosition?
    if map.value["until"] != nil {
      let parts = try map.array("until")
      guard parts.count == 2, let stream = parts[0].text, case .unsigned(let number) = parts[1]
      else { throw .member(name: "until") }
      until = LogPosition(stream: stream, number: number)
    }
    self.init(
      from: try map.identifier("from"), time: try map.timestamp("time"), until: until,
      outbox: outbox)
  }
}
