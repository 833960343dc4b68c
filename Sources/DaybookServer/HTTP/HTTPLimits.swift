/// The bounds of an HTTP server: no client, right or wrong, can take more than this.
package struct HTTPLimits: Sendable {
  /// Bytes of a request's body: 8 MiB, eight times the largest push. A larger one is answered 413;
  /// its bytes are read and dropped, because a client that is still sending does not see an answer.
  package var bodyByteCount = 8 << 20
  /// Bytes of a refused body that are read and dropped: 64 MiB. Beyond, the connection is closed.
  package var droppedByteCount = 64 << 20
  /// Bytes of a request's line and headers: 8 KiB, of which ours use under 1. A larger head is
  /// answered 431. A connection takes twice as much memory, the other half being for its answer.
  package var headerByteCount = 8 << 10
  /// Connections at a time, waiting ones included; the next one is closed at once. 1,000 stays
  /// below the usual limit of 1,024 open files.
  package var connectionCount = 1_000
  /// Seconds in which nothing is sent or received before a connection is closed, except while its
  /// request is being answered: 30.
  package var idleSeconds = 30
  /// How long `stop` waits for answers under way before it cancels their handlers: 10 seconds.
  package var stopGrace: Duration = .seconds(10)

  /// The default limits.
  package init() {}
}
