/// The way to one server: sends a request, returns the answer.
///
/// An implementation answers each call once, within its timeout, and stops its work when the
/// calling task is cancelled. It may put a request on the wire more than once without telling
/// (libcurl does, on a reused connection that died before the first byte of the answer): whoever
/// sends something that must take effect once names it by an op id, so that a repetition is
/// harmless.
package protocol Transport: Sendable {
  /// The server's answer to `request`, whatever its status.
  ///
  /// `timeout` covers everything: finding the host, connecting, sending, and the answer's last
  /// byte.
  func send(
    _ request: HTTPRequest, timeout: Duration
  ) async throws(TransportError) -> HTTPResponse
}

extension Transport {
  /// The answer to `request` within `TransportLimits.defaultTimeout`.
  package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    try await send(request, timeout: TransportLimits.defaultTimeout)
  }
}

/// Why there is no answer. The request may have taken effect all the same, except where it says
/// not.
package enum TransportError: Error, Sendable, Equatable {
  /// No connection was made: the request did not take effect.
  case unreachable(host: String, reason: UnreachableReason)
  /// No whole answer came in this time.
  case timedOut(after: Duration)
  /// The connection ended before the whole answer had come, or what came was not HTTP.
  case connectionLost
  /// The calling task was cancelled.
  case cancelled
  /// The transport was closed, before or during the request.
  case closed
  /// The answer has more bytes than this; none of it is kept.
  case tooLarge(limit: Int)
  /// The base address is not http or https with a host, or the path does not begin with `/`, has
  /// characters that must be encoded, or does not fit the base: nothing was sent.
  case invalidURL
  /// Nobody vouches for the server at this host (certificate or TLS failure): nothing was sent.
  case insecure(host: String)
  /// The platform's networking gave this code (of `URLError`), which stands for none of the above.
  case failed(code: Int)
}

/// What kept a connection from being made.
package enum UnreachableReason: Sendable, Equatable {
  /// The device has no network.
  case offline
  /// The name has no address.
  case unknownHost
  /// The host refuses connections or does not react.
  case noConnection
}
