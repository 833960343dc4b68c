import DaybookNet
import DaybookServer
import Foundation

/// A server with this handler and a transport to it, both gone when `body` ends.
func withServer(
  limits: HTTPLimits = HTTPLimits(), transportLimits: TransportLimits = TransportLimits(),
  handler: @escaping @Sendable (ServerRequest) async -> ServerResponse,
  body: (HTTPServer, URLSessionTransport) async throws -> Void
) async throws {
  let server = HTTPServer(limits: limits, handler: handler)
  try server.start()
  let transport = try loopbackTransport(port: server.port, limits: transportLimits)
  do {
    try await body(server, transport)
  } catch {
    transport.close()
    await server.stop()
    throw error
  }
  transport.close()
  await server.stop()
}

func loopbackTransport(
  port: UInt16, limits: TransportLimits = TransportLimits()
) throws -> URLSessionTransport {
  var parts = URLComponents()
  parts.scheme = "http"
  parts.host = "127.0.0.1"
  parts.port = Int(port)
  guard let base = parts.url else { throw TransportError.invalidURL }
  return try URLSessionTransport(base: base, limits: limits)
}

/// The error that `body` throws, if any.
func transportError(
  _ body: () async throws(TransportError) -> HTTPResponse
) async -> TransportError? {
  do throws(TransportError) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
