/// Damage that an opening found and settled: the first entries of the segment that goes on behind
/// it. It makes later openings call the same damage known.
///
/// Source: `Docs/Format.md`, section "Recovery".
package struct Gap: Sendable, Hashable {
  /// The damaged file, from the log's directory on; its folder is the stream.
  package var file: String
  /// The first byte that is wrong.
  package var offset: UInt64
  /// What is wrong, by the name of the finding's kind.
  package var kind: String
  /// The numbers of the entries that are lost; `nil` if none is.
  package var lost: ClosedRange<UInt64>?
  /// Entries of the feed from this number up to the gap entry itself do not count: they are pulled
  /// again. `nil` in the outbox, and where nothing is lost.
  package var cut: UInt64?
  /// SHA-256 of the damaged bytes.
  package var evidence: [UInt8]
  /// The name of their copy in the folder `quarantine`; `nil` if there is none.
  package var quarantine: String?
  /// When it was found, by the device's clock.
  package var time: Timestamp

  /// The record of damage at `offset` of `file`.
  package init(
    file: String, offset: UInt64, kind: String, lost: ClosedRange<UInt64>? = nil,
    cut: UInt64? = nil, evidence: [UInt8] = [], quarantine: String? = nil, time: Timestamp
  ) {
    self.file = file
    self.offset = offset
    self.kind = kind
    self.lost = lost
    self.cut = cut
    self.evidence = evidence
    self.quarantine = quarantine
    self.time = time
  }
}

extension Gap {
  /// CBOR map: "file", "offset", "kind", "lost" ([first, last], if any), "cut" (if any),
  /// "evidence", "quarantine" (if any), "time" in milliseconds.
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "file": .text(file), "offset": .unsigned(offset), "kind": .text(kind),
      "evidence": .bytes(evidence), "time": .int(time.milliseconds),
    ]
    if let lost { map["lost"] = .array([.unsigned(lost.lowerBound), .unsigned(lost.upperBound)]) }
    if let cut { map["cut"] = .unsigned(cut) }
    if let quarantine { map["quarantine"] = .text(quarantine) }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    var lost: ClosedRange<UInt64>?
    if let value = map.value["lost"] {
      guard let bounds = value.array, bounds.count == 2, case .unsigned(let first) = bounds[0],
        case .unsigned(let last) = bounds[1], first <= last, last <= LogLayout.numberLimit
      else { throw .member(name: "lost") }
      lost = first...last
    }
    self.init(
      file: try map.text("file"), offset: try map.unsigned("offset"),
      kind: try map.text("kind"), lost: lost,
      cut: map.value["cut"] == nil ? nil : try map.unsigned("cut"),
      evidence: try map.bytes("evidence"),
      quarantine: map.value["quarantine"] == nil ? nil : try map.text("quarantine"),
      time: try map.timestamp("time"))
  }
}
