import DaybookFormat
import DaybookLog
import DaybookServer
import DaybookServerCore
import Testing

/// What is answered to requests that can't be served.
@Suite struct RefusalTests {
  private static let types = [Wire.cborType, Wire.jsonType]

  private func expectProblem(
    _ response: ServerResponse, _ status: Int, _ error: String, _ part: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(response.status == status, sourceLocation: sourceLocation)
    #expect(response.member("error") == .text(error), sourceLocation: sourceLocation)
    let message = response.member("message")?.text ?? ""
    #expect(message.contains(part), sourceLocation: sourceLocation)
    #expect(message.hasSuffix("."), sourceLocation: sourceLocation)
    #expect(
      response.header(Wire.serverHeader) == Sample.history.serverID.description,
      sourceLocation: sourceLocation)
  }

  @Test(arguments: types)
  func `an unknown path is 404 in the asked type`(type: String) async throws {
    let response = try await Service().get("/v2/push", accept: type)
    expectProblem(response, 404, "not-found", "/v2/push")
    #expect(response.header("Content-Type") == type)
  }

  @Test(arguments: types)
  func `another method is 405 and says which one is allowed`(type: String) async throws {
    let response = try await Service().get(Wire.pushPath, accept: type)
    expectProblem(response, 405, "method-not-allowed", "POST")
    #expect(response.header("Allow") == "POST")
    #expect(response.header("Content-Type") == type)
  }

  @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded"])
  func `a push of another type is 415`(type: String?) async throws {
    let response = try await Service().ask(
      "POST", Wire.pushPath, headers: type.map { [("Content-Type", $0)] } ?? [])
    expectProblem(response, 415, "unsupported-media-type", Wire.cborType)
  }

  @Test(arguments: [
    (Wire.cborType, "\u{1}\u{2}", "canonical CBOR"), (Wire.jsonType, "{\"a\":", "not JSON"),
    (Wire.cborType, "\u{60}", "operations"), (Wire.jsonType, "[]", "operations"),
    (Wire.jsonType, "{}", "incarnation"),
    (
      Wire.jsonType, "{\"incarnation\":\"\(Sample.history.epoch)\",\"server\":7}", "\"server\""
    ),
  ])
  func `a body that can't be read is 400 and names the member`(
    type: String, body: String, part: String
  ) async throws {
    let response = try await Service().ask(
      "POST", Wire.pushPath, headers: [("Content-Type", type)], body: Array(body.utf8))
    expectProblem(response, 400, "malformed", part)
    #expect(response.header("Content-Type") == type)
  }

  @Test func `a batch cut anywhere is 400`() async throws {
    let service = try Service()
    var device = Device()
    let body = CBOREncoder.encode(device.push([device.order("a")], to: Sample.history).value)
    for count in 0..<body.count {
      let response = try await service.ask(
        "POST", Wire.pushPath, headers: [("Content-Type", Wire.cborType)],
        body: Array(body[..<count]))
      expectProblem(response, 400, "malformed")
    }
  }

  @Test(arguments: [Wire.accountHeader, Wire.deviceHeader, Wire.incarnationHeader])
  func `a pull without one of its headers is 400 and names it`(header: String) async throws {
    let headers = Device().headers.filter { $0.name != header }
    for target in ["/v1/changes", "/v1/bootstrap?scope=a"] {
      expectProblem(
        try await Service().get(target, headers: headers), 400, "malformed", header)
    }
  }

  @Test(arguments: [
    (Wire.accountHeader, "%zz"), (Wire.accountHeader, ""),
    (Wire.accountHeader, String(repeating: "a", count: 513)), (Wire.deviceHeader, "%FF"),
    (Wire.incarnationHeader, "12"), (Wire.serverHeader, "x"),
  ])
  func `a header that can't be read is 400 and names it`(
    header: String, value: String
  ) async throws {
    let headers = [(header, value)] + Device().headers.filter { $0.name != header }
    expectProblem(
      try await Service().get("/v1/changes", headers: headers), 400, "malformed", header)
  }

  @Test func `names in headers are percent-encoded`() async throws {
    let service = try Service()
    var headers = Device("zoë/1").headers
    headers[0].value = "zo%C3%AB%2F1"
    let response = try await service.get("/v1/changes", headers: headers)
    #expect(response.member("scopes") == .array([.text("rep/zoë/1")]))
  }

  @Test(arguments: [
    "limit=0", "limit=5001", "limit=-1", "limit=x", "limit=", "limit=99999999999999999999",
    "after=%21", "after=AAAA", "after=",
  ])
  func `a parameter out of range is 400 and names it`(parameter: String) async throws {
    let response = try await Service().get("/v1/changes?\(parameter)", headers: Device().headers)
    expectProblem(response, 400, "malformed", String(parameter.prefix { $0 != "=" }))
  }

  @Test(arguments: [
    ("", "scope"), ("scope=", "scope"), ("scope=a&after=b", "after"), ("scope=a&limit=0", "limit"),
  ])
  func `a bootstrap without its parameters is 400 and names them`(
    query: String, part: String
  ) async throws {
    let response = try await Service().get("/v1/bootstrap?\(query)", headers: Device().headers)
    expectProblem(response, 400, "malformed", part)
  }

  @Test func `a scope of somebody else is 403`() async throws {
    let response = try await Service().get(
      "/v1/bootstrap?scope=rep%2Frep-8", headers: Device().headers)
    expectProblem(response, 403, "unknown-scope")
  }

  @Test func `a log of another server is told so`() async throws {
    let headers = Device().headers + [(Wire.serverHeader, Sample.history.epoch.description)]
    for target in ["/v1/changes", "/v1/bootstrap?scope=rep%2Frep-7"] {
      expectProblem(try await Service().get(target, headers: headers), 409, "not-our-server")
    }
  }

  @Test func `headers that contradict the body are refused before anything runs`() async throws {
    let service = try Service()
    var device = Device()
    _ = try await service.get(Wire.changesPath, headers: device.headers)
    let frames = service.log.frames.count
    let body = CBOREncoder.encode(device.push([device.order("a")], to: Sample.history).value)
    for (name, value, status) in [
      (Wire.accountHeader, "rep-8", 403), (Wire.deviceHeader, "tablet", 400),
      (Wire.incarnationHeader, Sample.history.epoch.description, 400),
      (Wire.serverHeader, Sample.history.epoch.description, 400),
    ] {
      let response = try await service.ask(
        "POST", Wire.pushPath, headers: [("Content-Type", Wire.cborType), (name, value)],
        body: body)
      expectProblem(response, status, status == 403 ? "wrong-account" : "malformed", name)
    }
    #expect(service.log.frames.count == frames)
  }

  @Test func `a push before the first pull is told to pull`() async throws {
    var device = Device()
    let response = try await Service().push(device.push([device.order("a")], to: Sample.history))
    expectProblem(response, 409, "incarnation-forgotten", "pull")
  }

  @Test func `too many operations, or too many bytes, are 413`() async throws {
    let service = try Service()
    var device = Device()
    let operations = (0...Wire.pushOperationLimit).map { device.order("\($0)") }
    expectProblem(
      try await service.push(device.push(operations, to: Sample.history)), 413, "too-large",
      "1001 operations")
    var withdrawing = device.push([], to: Sample.history)
    withdrawing.withdrawals = operations.map {
      PushRequest.Withdrawal(operationID: $0.id, number: $0.number)
    }
    expectProblem(try await service.push(withdrawing), 413, "too-large", "1001 withdrawals")
    let large = try await service.ask(
      "POST", Wire.pushPath, headers: [("Content-Type", Wire.cborType)],
      body: [UInt8](repeating: 0, count: Wire.pushByteLimit + 1))
    expectProblem(large, 413, "too-large", "bytes")
  }

  @Test func `the most operations that a push may have are taken`() async throws {
    let service = try Service()
    var device = Device()
    _ = try await service.get(Wire.changesPath, headers: device.headers)
    let operations = (0..<Wire.pushOperationLimit).map { device.order("\($0)") }
    let response = try await service.push(device.push(operations, to: Sample.history))
    let reply = try PushReply(value: #require(response.value))
    #expect(reply.results.map(\.status) == Array(repeating: 200, count: operations.count))
  }

  @Test(arguments: types)
  func `a server that can't write says so and not why`(type: String) async throws {
    let service = try Service()
    service.log.release(failure: .log(.diskFull(path: "changes")))
    for target in ["/v1/changes", Wire.healthPath, "/v1/bootstrap?scope=rep%2Frep-7"] {
      let response = try await service.get(target, headers: Device().headers, accept: type)
      expectProblem(response, 500, "storage", "disk")
      #expect(response.header("Content-Type") == type)
    }
  }
}
