import DaybookFormat
package import DaybookServerCore

/// What a Daybook server answers at `/v1`: sync for devices, and the same for people and other
/// languages.
///
/// | request | answer |
/// | --- | --- |
/// | `POST /v1/push` | 207 with a result for each operation and withdrawal |
/// | `GET /v1/changes?after=CURSOR&limit=N` | 200 with a page; without `after` the first contact |
/// | `GET /v1/bootstrap?scope=S&after=COLLECTION/ID&limit=N` | 200 with a page of live rows |
/// | `GET /v1/health` | 200 while the server can write |
///
/// Bodies are `application/cbor`, the log's own bytes, or `application/json`: the one that `Accept`
/// asks for; if it does not say, the one of the request's body, else JSON. In JSON the entries that
/// CBOR carries as bytes are objects, identifiers and instants are texts, and everything else
/// follows ``JSONText``. A problem is a body too, with "error", "message" and the status of
/// ``ServerProblem``; beside those there are `unsupported-media-type` (415) and what `HTTPServer`
/// refuses by itself. Nothing is ever HTML, and every answer names the server in `Daybook-Server`.
///
/// Devices name themselves in the headers of `Wire`; a push repeats them in its body, which counts.
package struct Endpoints<Store: ServerStore>: Sendable {
  /// What decides.
  package let engine: ServerEngine<Store>

  /// The endpoints of `engine`.
  package init(engine: ServerEngine<Store>) { self.engine = engine }

  /// The headers that every answer carries, whoever makes it.
  package var commonHeaders: [(name: String, value: String)] {
    [
      (Wire.serverHeader, engine.store.history.serverID.description),
      // What one device is told is nothing for another one, and nothing for later.
      ("Cache-Control", "no-store"),
    ]
  }

  /// Answers one request. Nothing of the answer is weaker than durable.
  package func respond(to request: ServerRequest) async -> ServerResponse {
    var response = await Router(routes).respond(to: request)
    // The router speaks JSON alone.
    if response.status == 404 || response.status == 405,
      BodyFormat(accept: request.header("Accept"), else: .json) == .cbor,
      BodyFormat(mediaType: response.headers.first?.value ?? "") == .json,
      let value = try? JSONText.parse(response.body)
    {
      response.body = CBOREncoder.encode(value)
      response.headers[0].value = Wire.cborType
    }
    response.headers += commonHeaders
    return response
  }

  private var routes: [Route] {
    [
      Route("POST", Wire.pushPath) { request, _ in
        let sent = request.header("Content-Type").flatMap(BodyFormat.init(mediaType:))
        return await answer(request, in: sent ?? .json) { (format) throws(EndpointProblem) in
          try await push(request, as: sent, in: format)
        }
      },
      Route("GET", Wire.changesPath) { request, _ in
        await answer(request) { (format) throws(EndpointProblem) in
          try await changes(request, in: format)
        }
      },
      Route("GET", Wire.bootstrapPath) { request, _ in
        await answer(request) { (format) throws(EndpointProblem) in
          try await bootstrap(request, in: format)
        }
      },
      Route("GET", Wire.healthPath) { request, _ in
        await answer(request) { (format) throws(EndpointProblem) in try await health(in: format) }
      },
    ]
  }

  /// The answer of `body` in the format that the request asks for, `format` if it does not say.
  private func answer(
    _ request: ServerRequest, in format: BodyFormat = .json,
    _ body: (BodyFormat) async throws(EndpointProblem) -> ServerResponse
  ) async -> ServerResponse {
    let format = BodyFormat(accept: request.header("Accept"), else: format)
    do throws(EndpointProblem) {
      return try await body(format)
    } catch {
      return format.response(error.status, error.value, readable: error.value)
    }
  }
}
