/// Writes values as CBOR in core deterministic encoding (RFC 8949, section 4.2.1).
package enum CBOREncoder {
  /// The canonical bytes of `value`.
  package static func encode(_ value: Value) -> [UInt8] { [] }
}
