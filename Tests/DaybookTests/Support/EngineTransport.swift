import DaybookNet
import DaybookServer
import DaybookTestKit

/// A way to a server in this process whose data is in memory: the real endpoints, no sockets.
struct EngineTransport: Transport {
  let server: SimulatedServer

  func send(
    _ request: HTTPRequest, timeout: Duration
  ) async throws(TransportError) -> HTTPResponse {
    guard let target = RequestTarget(request.path) else { return HTTPResponse(status: 404) }
    let response = await Endpoints(engine: server.engine).respond(
      to: ServerRequest(
        method: request.method, target: target, headers: request.headers, body: request.body))
    return HTTPResponse(status: response.status, headers: response.headers, body: response.body)
  }
}
