import DaybookFormat
import DaybookServerCore

extension Endpoints {
  /// Takes a batch whose body is of the type `sent`.
  func push(
    _ request: ServerRequest, as sent: BodyFormat?, in format: BodyFormat
  ) async throws(EndpointProblem) -> ServerResponse {
    guard let sent else {
      throw EndpointProblem(
        status: 415, error: "unsupported-media-type",
        message: "A push is \(Wire.cborType) or \(Wire.jsonType): say so in Content-Type.")
    }
    let push = try PushBody.request(request.body, sent)
    try DeviceHeaders.check(request, against: push)
    let reply = try await asked { () async throws(ServerProblem) in try await engine.push(push) }
    return format.response(207, reply.value, readable: reply.readable)
  }

  /// Serves the changes behind the cursor `after`, and registers the device's incarnation.
  func changes(
    _ request: ServerRequest, in format: BodyFormat
  ) async throws(EndpointProblem) -> ServerResponse {
    let headers = try DeviceHeaders(request)
    var after: Cursor?
    if let text = request.query("after") {
      do throws(EntryError) {
        after = try Cursor(text: text)
      } catch {
        throw .malformed("The parameter after is not a cursor: send one as it was given.")
      }
    }
    let limit = try limit(of: request, else: ChangesRequest.defaultLimit)
    let page = try await asked { () async throws(ServerProblem) in
      try await engine.changes(
        ChangesRequest(
          account: headers.account, device: headers.device, incarnation: headers.incarnation,
          serverID: headers.serverID, after: after, limit: limit))
    }
    return format.response(200, page.value, readable: page.readable)
  }

  /// Serves live rows of a scope behind the record `after`.
  func bootstrap(
    _ request: ServerRequest, in format: BodyFormat
  ) async throws(EndpointProblem) -> ServerResponse {
    let headers = try DeviceHeaders(request)
    guard let scope = request.query("scope"), !scope.isEmpty else {
      throw .malformed("The parameter scope is missing: name the scope to fetch.")
    }
    var after: RecordKey?
    if let text = request.query("after") {
      guard let key = RecordKey(text) else {
        throw .malformed("The parameter after is not a record as COLLECTION/ID.")
      }
      after = key
    }
    let limit = try limit(of: request, else: BootstrapRequest.defaultLimit)
    let page = try await asked { () async throws(ServerProblem) in
      try await engine.bootstrap(
        BootstrapRequest(
          account: headers.account, device: headers.device, incarnation: headers.incarnation,
          serverID: headers.serverID, scope: scope, after: after, limit: limit))
    }
    return format.response(200, page.value, readable: page.readable)
  }

  /// Tells that the server is well, and which one it is. Members: "status" ("ok"), "server",
  /// "epoch", "time", "schema" with "name" and "version", and "scopes", the number of scopes in
  /// which something has happened.
  func health(in format: BodyFormat) async throws(EndpointProblem) -> ServerResponse {
    let scopeCount = try await asked { () async throws(ServerProblem) in
      try await engine.store.read { (reader: any ServerReader) throws(ServerProblem) in
        reader.scopes.count
      }
    }
    let history = engine.store.history
    let time = engine.time
    let rest: ValueMap = [
      "status": .text("ok"), "scopes": .unsigned(UInt64(scopeCount)),
      "schema": .map([
        "name": .text(engine.schema.name), "version": .unsigned(UInt64(engine.schema.version)),
      ]),
    ]
    return format.response(
      200,
      .map(
        rest.applying(
          set: [
            "server": .bytes(history.serverID.bytes), "epoch": .bytes(history.epoch.bytes),
            "time": .int(time.milliseconds),
          ], unset: [])),
      readable: .map(
        rest.applying(
          set: [
            "server": history.serverID.readable, "epoch": history.epoch.readable,
            "time": time.readable,
          ], unset: [])))
  }

  /// What the engine answers, its problems as those of an endpoint.
  private func asked<Answer>(
    _ body: () async throws(ServerProblem) -> Answer
  ) async throws(EndpointProblem) -> Answer {
    do throws(ServerProblem) {
      return try await body()
    } catch {
      throw EndpointProblem(error)
    }
  }

  private func limit(
    of request: ServerRequest, else limit: Int
  ) throws(EndpointProblem) -> Int {
    guard let text = request.query("limit") else { return limit }
    let range = ChangesRequest.limitRange
    guard let limit = Int(text), range.contains(limit) else {
      throw .malformed(
        "The parameter limit is not a whole number from \(range.lowerBound) to \(range.upperBound)."
      )
    }
    return limit
  }
}
