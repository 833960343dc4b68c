import DaybookFormat
import DaybookServer
import Testing

/// Which form an answer has, and what a person reads in it.
@Suite struct FormatTests {
  @Test(
    arguments: [
      (nil, Wire.jsonType), ("*/*", Wire.jsonType), (Wire.cborType, Wire.cborType),
      ("Application/CBOR; q=1", Wire.cborType), ("text/html,*/*;q=0.8", Wire.jsonType),
      ("text/html", Wire.jsonType), ("application/cbor;q=0.5, application/json", Wire.jsonType),
      ("application/json;q=0.5, application/cbor;q=0.9", Wire.cborType),
      ("application/cbor;q=0", Wire.jsonType), ("application/cbor;q=x", Wire.jsonType),
    ] as [(String?, String)])
  func `the Accept header decides what a pull answers with`(
    accept: String?, type: String
  ) async throws {
    let service = try Service()
    let response = try await service.get(
      Wire.changesPath, headers: Device().headers, accept: accept)
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == type)
    #expect(response.member("more") == .bool(false))
  }

  @Test func `a push is answered in its own type unless Accept says otherwise`() async throws {
    let service = try Service()
    var device = Device()
    _ = try await service.get(Wire.changesPath, headers: device.headers)
    let batch = device.push([device.order("a")], to: Sample.history)
    #expect(try await service.push(batch).header("Content-Type") == Wire.cborType)
    let asked = try await service.ask(
      "POST", Wire.pushPath, headers: [("Content-Type", Wire.cborType)], accept: Wire.jsonType,
      body: CBOREncoder.encode(batch.value))
    #expect(asked.header("Content-Type") == Wire.jsonType)
    #expect(asked.member("results", "0", "settlement", "verdict") == .text("accepted"))
  }

  @Test func `a push in JSON is the same batch as in CBOR`() async throws {
    let service = try Service()
    var device = Device()
    _ = try await service.get(Wire.changesPath, headers: device.headers)
    let operation = device.order("a")
    let id = Base64URL.text(of: device.incarnation.bytes)
    let body = """
      {"account": "rep-7", "device": "phone", "incarnation": "\(id)",
       "server": "\(Sample.history.serverID)", "watermark": "1",
       "known": {"epoch": "\(Sample.history.epoch)", "scopes": {}},
       "operations": [["\(Base64URL.text(of: operation.bytes))"]],
       "withdrawals": [["\(Identifier(high: 5, low: 6))", 99]],
       "anchor": "daybook anchor 1\\nlog \(Identifier(high: 8, low: 9))\\n"}
      """
    let response = try await service.ask(
      "POST", Wire.pushPath, headers: [("Content-Type", "application/json; charset=utf-8")],
      body: Array(body.utf8))
    #expect(response.status == 207)
    #expect(response.member("results", "0", "op") == .text(operation.id.description))
    #expect(response.member("results", "0", "settlement", "sequence") == .unsigned(1))
    #expect(response.member("results", "1", "status") == .unsigned(422))
    #expect(response.member("results", "1", "settlement", "code") == .text("withdrawn"))

    let again = try await service.push(device.push([operation], to: Sample.history))
    let reply = try PushReply(value: #require(again.value))
    #expect(reply.results.map(\.status) == [200])
  }

  @Test func `a person reads changes and rows as objects`() async throws {
    let service = try Service()
    var device = Device()
    let first = try await service.get(Wire.changesPath, headers: device.headers)
    #expect(first.member("scopes") == .array([.text("rep/rep-7")]))
    _ = try await service.push(device.push([device.order("a", quantity: 12)], to: Sample.history))

    let rows = try await service.get(
      "/v1/bootstrap?scope=rep%2Frep-7", headers: device.headers)
    #expect(rows.status == 200)
    #expect(rows.member("rows", "0", "fields", "quantity") == .unsigned(12))
    #expect(rows.member("rows", "0", "id") == .text("a"))
    #expect(rows.member("sequence") == .unsigned(1))

    let start = Cursor(
      epoch: Sample.history.epoch,
      positions: [
        "rep/rep-7": ScopePosition(
          sequence: 0,
          mark: Change.mark(
            of: Change.initialHash(epoch: Sample.history.epoch, scope: "rep/rep-7")))
      ])
    let page = try await service.get(
      "/v1/changes?after=\(start.text)", headers: device.headers)
    #expect(page.member("changes", "0", "action") == .text("create"))
    #expect(page.member("changes", "0", "account") == .text("rep-7"))
    #expect(page.member("changes", "0", "serverTime") == .text(Sample.time.rfc3339))
    let cursor = try #require(page.member("cursor")?.text)
    #expect(try Cursor(text: cursor).positions["rep/rep-7"]?.sequence == 1)
    let rest = try await service.get("/v1/changes?after=\(cursor)", headers: device.headers)
    #expect(rest.member("changes") == .array([]))
  }

  @Test func `health tells who the server is`() async throws {
    let service = try Service()
    let response = try await service.get(Wire.healthPath)
    #expect(response.status == 200)
    #expect(response.header("Content-Type") == Wire.jsonType)
    #expect(response.member("status") == .text("ok"))
    #expect(response.member("server") == .text(Sample.history.serverID.description))
    #expect(response.member("epoch") == .text(Sample.history.epoch.description))
    #expect(response.member("schema", "name") == .text("sample"))
    #expect(response.member("schema", "version") == .unsigned(3))
    #expect(response.member("scopes") == .unsigned(0))
    #expect(response.member("time") == .text("2025-06-15T15:06:40.123Z"))
  }
}
