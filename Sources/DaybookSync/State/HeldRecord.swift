package import DaybookFormat

/// A record of the base: what the feed says of it, as canonical bytes, never as app types.
package struct HeldRecord: Sendable, Hashable {
  /// The row's canonical CBOR; `nil` is a tombstone.
  package var rowBytes: [UInt8]?
  /// Its version.
  package var version: Version
  /// The scope it belongs to.
  package var scope: String

  /// The record with these bytes.
  package init(rowBytes: [UInt8]?, version: Version, scope: String) {
    self.rowBytes = rowBytes
    self.version = version
    self.scope = scope
  }

  /// The row, decoded; `nil` for a tombstone.
  package var row: ValueMap? { rowBytes.flatMap(RowBytes.decode) }
}

/// Rows as canonical bytes.
package enum RowBytes {
  /// The canonical bytes of `row`.
  package static func encode(_ row: ValueMap) -> [UInt8] { CBOREncoder.encode(.map(row)) }

  /// The row that `bytes` hold; `nil` if they hold none, which bytes from a checked entry never do.
  package static func decode(_ bytes: [UInt8]) -> ValueMap? {
    (try? CBORDecoder.decode(bytes[...], mode: .canonical))?.map
  }
}

/// A row as it is shown: the base with the device's own operations laid over it.
package struct ShownRecord: Sendable, Hashable {
  /// The record.
  package let key: RecordKey
  /// The row; its bytes are canonical.
  package let row: ValueMap
  /// The version of the base; `nil` if the server has never told of it.
  package let version: Version?
  /// Whether operations of this device are laid over the base.
  package let isPending: Bool
}
