/// The server's row of an op id: what it decided, kept until the device has recorded it.
package struct VerdictRow: Sendable, Hashable {
  /// The incarnation of the device.
  package let incarnation: Identifier
  /// The operation's number in it.
  package let number: UInt64
  /// SHA-256 of the operation's bytes; empty if the verdict came before the operation did.
  package let digest: [UInt8]
  /// The verdict, repeated verbatim.
  package let settlement: Settlement

  /// The row of one op id.
  package init(
    incarnation: Identifier, number: UInt64, digest: [UInt8], settlement: Settlement
  ) {
    self.incarnation = incarnation
    self.number = number
    self.digest = digest
    self.settlement = settlement
  }

  /// CBOR map: "incarnation", "number", "digest", "settlement" (its bytes).
  package var bytes: [UInt8] {
    CBOREncoder.encode(
      .map([
        "incarnation": .bytes(incarnation.bytes), "number": .unsigned(number),
        "digest": .bytes(digest), "settlement": .bytes(settlement.bytes),
      ]))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    self.init(
      incarnation: try map.identifier("incarnation"), number: try map.unsigned("number"),
      digest: try map.bytes("digest"),
      settlement: try Settlement(bytes: map.bytes("settlement")[...]))
  }
}

/// What the server knows of one life of a device's log.
package struct IncarnationRow: Sendable, Hashable {
  /// The incarnation.
  package let incarnation: Identifier
  /// The account it belongs to.
  package let account: String
  /// The device's name.
  package let device: String
  /// The number below which the device has recorded every settlement.
  package var watermark: UInt64
  /// When it was last heard of, by the server's clock.
  package var lastContact: Timestamp
  /// Where the history of its log stood at the last push that said so.
  package var anchor: Anchor?

  /// The row of one incarnation.
  package init(
    incarnation: Identifier, account: String, device: String, watermark: UInt64,
    lastContact: Timestamp, anchor: Anchor? = nil
  ) {
    self.incarnation = incarnation
    self.account = account
    self.device = device
    self.watermark = watermark
    self.lastContact = lastContact
    self.anchor = anchor
  }

  /// CBOR map: "incarnation", "account", "device", "watermark", "contact" in milliseconds, and
  /// "anchor" if there is one.
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "incarnation": .bytes(incarnation.bytes), "account": .text(account),
      "device": .text(device), "watermark": .unsigned(watermark),
      "contact": .int(lastContact.milliseconds),
    ]
    if let anchor { map["anchor"] = anchor.value }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    self.init(
      incarnation: try map.identifier("incarnation"), account: try map.text("account"),
      device: try map.text("device"), watermark: try map.unsigned("watermark"),
      lastContact: try map.timestamp("contact"),
      anchor: try map.value["anchor"].map { value throws(EntryError) in
        try Anchor(value: value)
      })
  }
}

/// Who the server is, and which history it keeps.
package struct HistoryIdentity: Sendable, Hashable {
  /// The server's identity, which every restore of it keeps.
  package let serverID: Identifier
  /// The identity of the history.
  package let epoch: Identifier

  /// The history `epoch` of the server `serverID`.
  package init(serverID: Identifier, epoch: Identifier) {
    self.serverID = serverID
    self.epoch = epoch
  }

  /// CBOR map: "server", "epoch".
  package var bytes: [UInt8] {
    CBOREncoder.encode(.map(["server": .bytes(serverID.bytes), "epoch": .bytes(epoch.bytes)]))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    self.init(serverID: try map.identifier("server"), epoch: try map.identifier("epoch"))
  }
}
