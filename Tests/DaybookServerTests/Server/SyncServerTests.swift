import DaybookFormat
import DaybookLog
import DaybookNet
import DaybookServer
import DaybookServerCore
import Foundation
import Testing

/// A whole server, asked over HTTP.
@Suite struct SyncServerTests {
  private let directory: TemporaryDirectory
  private var data: String { directory.path("data") }

  init() throws { directory = try TemporaryDirectory() }

  /// A server and a transport to it, both gone when `body` ends.
  private func withServer(
    fileSystem: any FileSystem = SystemFileSystem(),
    _ body: (SyncServer, URLSessionTransport) async throws -> Void
  ) async throws {
    let server = try await SyncServer.start(
      directory: data, schema: Sample.schema, options: .test(fileSystem: fileSystem))
    let base = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
    let transport = try URLSessionTransport(base: base)
    let result = await Result<Void, any Error>.of { try await body(server, transport) }
    transport.close()
    try await server.stop()
    try result.get()
  }

  private func push(
    _ device: Device, _ operations: [DaybookFormat.Operation], to server: SyncServer,
    over transport: URLSessionTransport
  ) async throws -> PushReply {
    let history = HistoryIdentity(serverID: server.identity, epoch: Sample.history.epoch)
    var request = device.push(operations, to: history)
    request.known = Cursor(epoch: .zero)
    let response = try await transport.send(
      HTTPRequest(
        method: "POST", path: Wire.pushPath,
        headers: device.headers + [("Content-Type", Wire.cborType)],
        body: CBOREncoder.encode(request.value)))
    #expect(response.status == 207)
    return try PushReply(value: CBORDecoder.decode(response.body, mode: .canonical))
  }

  @Test func `64 devices push at the same time and each is answered for itself`() async throws {
    try await withServer { server, transport in
      let sequences = try await withThrowingTaskGroup(of: UInt64.self) { group in
        for seed in 1...64 as ClosedRange<UInt64> {
          group.addTask {
            var device = Device(seed: seed)
            let pull = try await transport.send(
              HTTPRequest(method: "GET", path: Wire.changesPath, headers: device.headers))
            #expect(pull.status == 200)
            let order = device.order("\(seed)")
            let reply = try await push(device, [order], to: server, over: transport)
            guard case .settled(let settlement) = reply.results.first?.outcome else { return 0 }
            #expect(settlement.operationID == order.id)
            return settlement.acceptance?.sequence ?? 0
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(sequences.sorted() == Array(1...64))
    }
  }

  @Test func `every answer names the server and none is HTML`() async throws {
    try await withServer { server, transport in
      let large = [UInt8](repeating: 0, count: Wire.pushByteLimit + 1)
      let cbor = [("Content-Type", Wire.cborType)]
      let requests: [(HTTPRequest, Int)] = [
        (HTTPRequest(method: "GET", path: "/v1/health", headers: [("Accept", "text/html")]), 200),
        (HTTPRequest(method: "GET", path: "/"), 404),
        (HTTPRequest(method: "DELETE", path: "/v1/push"), 405),
        (HTTPRequest(method: "POST", path: "/v1/push", body: [1]), 415),
        (HTTPRequest(method: "POST", path: "/v1/push", headers: cbor, body: [1]), 400),
        (HTTPRequest(method: "POST", path: "/v1/push", headers: cbor, body: large), 413),
        (
          HTTPRequest(
            method: "GET", path: "/v1/health",
            headers: [("X-Long", String(repeating: "a", count: 9_000))]), 431
        ),
        (HTTPRequest(method: "GET", path: "/v1/%FF"), 400),
      ]
      for (request, status) in requests {
        let response = try await transport.send(request)
        #expect(response.status == status, "\(request.path)")
        #expect(response.header(Wire.serverHeader) == server.identity.description)
        let body =
          response.header("Content-Type") == Wire.cborType
          ? try CBORDecoder.decode(response.body, mode: .canonical)
          : try JSONText.parse(response.body)
        #expect(body.map?[status == 200 ? "status" : "error"] != nil)
      }
    }
  }

  @Test func `a server that stops and starts goes on where it was`() async throws {
    var device = Device()
    let order = device.order("a")
    var first: PushReply?
    var identity: Identifier?
    try await withServer { server, transport in
      _ = try await transport.send(
        HTTPRequest(method: "GET", path: Wire.changesPath, headers: device.headers))
      first = try await push(device, [order], to: server, over: transport)
      identity = server.identity
    }
    try await withServer { server, transport in
      #expect(server.identity == identity)
      #expect(server.notes == [])
      let again = try await push(device, [order], to: server, over: transport)
      #expect(again.results == first?.results)
    }
  }

  @Test func `records of a collection that the schema lacks are kept and told of`() async throws {
    var device = Device()
    try await withServer { server, transport in
      _ = try await transport.send(
        HTTPRequest(method: "GET", path: Wire.changesPath, headers: device.headers))
      _ = try await push(device, [device.order("a")], to: server, over: transport)
    }
    let server = try await SyncServer.start(
      directory: data, schema: Schema(name: "empty", collections: []), options: .test())
    #expect(server.notes.count == 1)
    #expect(server.notes.first?.contains("orders") == true)
    try await server.stop()
  }

  @Test func `a port in use is told, and the data is free again`() async throws {
    let other = try await SyncServer.start(
      directory: directory.path("other"), schema: Sample.schema, options: .test())
    await #expect(throws: SyncServerError.Code.notListening) {
      try await code {
        _ = try await SyncServer.start(
          directory: data, schema: Sample.schema, port: other.port, options: .test())
      }
    }
    try await withServer { _, _ in }
    await #expect(throws: SyncServerError.Code.locked) {
      try await code {
        _ = try await SyncServer.start(
          directory: directory.path("other"), schema: Sample.schema, options: .test())
      }
    }
    try await other.stop()
    try await other.stop()
  }

  @Test func `a run ends in order when its task is cancelled`() async throws {
    let server = try await SyncServer.start(
      directory: data, schema: Sample.schema, options: .test())
    let run = Task { try await server.run() }
    run.cancel()
    try await run.value
    try await withServer { _, _ in }
  }

  @Test func `a disk that fails ends the run with the reason`() async throws {
    let disk = FailingDisk(reason: .diskFull)
    let server = try await SyncServer.start(
      directory: data, schema: Sample.schema, options: .test(fileSystem: disk))
    let run = Task { try await code { try await server.run() } }
    let base = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
    let transport = try URLSessionTransport(base: base)
    disk.failNow()
    let response = try await transport.send(
      HTTPRequest(method: "GET", path: Wire.changesPath, headers: Device().headers))
    #expect(response.status == 500)
    #expect(response.header(Wire.serverHeader) == server.identity.description)
    await #expect(throws: SyncServerError.Code.diskFull) { try await run.value }
    transport.close()
  }
}

extension SyncServerError.Code: Error {}

/// Throws the code of what `body` throws, so that it can be compared.
private func code(_ body: () async throws -> Void) async throws {
  do {
    try await body()
  } catch let error as SyncServerError {
    throw error.code
  }
}

extension Result where Failure == any Error {
  /// How `body` ends.
  static func of(_ body: () async throws -> Success) async -> Self {
    do { return .success(try await body()) } catch { return .failure(error) }
  }
}
