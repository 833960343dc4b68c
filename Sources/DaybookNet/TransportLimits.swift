/// The bounds of a transport: no server, right or wrong, can take more than this.
package struct TransportLimits: Sendable {
  /// 30 seconds: longer than the slowest honest answer on a poor mobile network.
  package static let defaultTimeout: Duration = .seconds(30)

  /// Bytes of one answer's body: 64 MiB, many times a page of changes, and still fits in a phone.
  package var responseByteCount = 64 << 20
  /// Connections to the server at a time; further requests wait, within their timeout. A device has
  /// a push, a pull and a doorbell under way; 8 leaves room for several devices on one transport.
  package var connectionCount = 8

  /// The default limits.
  package init() {}
}
