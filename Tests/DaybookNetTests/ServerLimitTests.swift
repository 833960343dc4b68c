import DaybookNet
import DaybookServer
import DaybookTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServerLimitTests {
  @Test(arguments: [0, 1, 9_999, 10_000, 10_001, 300_000])
  func `a body up to the limit is taken and a larger one is answered 413`(
    count: Int
  ) async throws {
    var limits = HTTPLimits()
    limits.bodyByteCount = 10_000
    try await withServer(limits: limits) { request in
      ServerResponse(status: 200, body: Array("\(request.body.count)".utf8))
    } body: { server, transport in
      let body = Array(repeating: UInt8(ascii: "x"), count: count)
      let sent = try await transport.send(HTTPRequest(method: "POST", path: "/", body: body))
      #expect(sent.status == (count > 10_000 ? 413 : 200))
      let size = String(count, radix: 16)
      let chunked =
        Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n".utf8)
        + Array("Connection: close\r\n\r\n".utf8)
        + (count == 0 ? [] : Array("\(size)\r\n".utf8) + body + Array("\r\n".utf8))
        + Array("0\r\n\r\n".utf8)
      let answer = try await raw(chunked, server.port)
      #expect(answer.hasPrefix("HTTP/1.1 \(count > 10_000 ? 413 : 200) "))
      #expect(answer.hasSuffix(count > 10_000 ? "}\n" : "\r\n\r\n\(count)"))
    }
  }

  @Test func `a client that waits for leave to send too much is refused before`() async throws {
    try await withServer { _ in
      ServerResponse(status: 200)
    } body: { server, _ in
      let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n"
      let answer = try await raw(Array((head + "Expect: 100-continue\r\n\r\n").utf8), server.port)
      #expect(answer.hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test(arguments: [
    ("GET /%zz HTTP/1.1\r\nHost: a\r\n", 400), ("GET /a%00b HTTP/1.1\r\nHost: a\r\n", 400),
    ("GET /%ff HTTP/1.1\r\nHost: a\r\n", 400), ("GET / HTTP/1.1\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 8_200))\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 40_000))\r\n", 431),
    ("GET /nothing HTTP/1.1\r\nHost: a\r\n", 404), ("HEAD / HTTP/1.1\r\nHost: a\r\n", 405),
    ("BREW / HTTP/1.1\r\nHost: a\r\n", 405), ("GET /items/ HTTP/1.1\r\nHost: a\r\n", 404),
    ("GET /items/a%2Fb HTTP/1.1\r\nHost: a\r\n", 200),
  ])
  func `what can't be served is answered with the reason`(
    head: String, status: Int
  ) async throws {
    let router = Router([
      Route("GET", "/") { _, _ in ServerResponse(status: 200) },
      Route("POST", "/") { _, _ in ServerResponse(status: 200) },
      Route("GET", "/items/{id}") { _, parameters in
        ServerResponse(status: 200, body: Array((parameters["id"] ?? "").utf8))
      },
    ])
    try await withServer {
      await router.respond(to: $0)
    } body: { server, _ in
      let answer = try await raw(Array((head + "Connection: close\r\n\r\n").utf8), server.port)
      #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
      if status == 405 { #expect(answer.contains("Allow: GET, POST\r\n")) }
      if status == 200 { #expect(answer.hasSuffix("a/b")) }
    }
  }

  @Test func `a client that sends byte by byte is served`() async throws {
    try await withServer { request in
      ServerResponse(status: 200, body: request.body)
    } body: { server, _ in
      let message =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
      let port = server.port
      let answer = try await blocking { () -> Result<String, ProxyError> in
        Result { () throws(ProxyError) in
          let socket = try TCPSocket.connected(toPort: port)
          for byte in message.utf8 { socket.send([byte]) }
          return readAll(socket)
        }
      }.get()
      #expect(answer.hasSuffix("\r\n\r\nhello"))
    }
  }

  @Test func `a client that stops in its request is cut off`() async throws {
    var limits = HTTPLimits()
    limits.idleSeconds = 1
    try await withServer(limits: limits) { _ in
      ServerResponse(status: 200)
    } body: { server, _ in
      let answer = try await raw(Array("POST / HTTP/1.1\r\nHost: a\r\nContent".utf8), server.port)
      #expect(!answer.hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test func `stop lets the requests under way be answered`() async throws {
    let gate = Gate()
    let arrived = Mutex(0)
    let allArrived = Gate()
    let server = HTTPServer { _ in
      if arrived.withLock({ count in
        count += 1
        return count == 8
      }) {
        allArrived.open()
      }
      await gate.wait()
      // More than a socket's buffer takes: stopping too early would cut it.
      return ServerResponse(status: 200, body: Array(repeating: 1, count: 8_000_000))
    }
    try server.start()
    let port = server.port
    let transport = try loopbackTransport(port: port)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          let response = try? await transport.send(HTTPRequest(method: "GET", path: "/"))
          return response?.body.count
        }
      }
      await allArrived.wait()
      async let stopped: Void = server.stop()
      gate.open()
      for await count in group { #expect(count == 8_000_000) }
      await stopped
    }
    transport.close()
    await server.stop()
    #expect(throws: ServerError.alreadyStarted) { try server.start() }
  }

  @Test func `stop cancels a handler that goes on beyond the grace`() async throws {
    var limits = HTTPLimits()
    limits.stopGrace = .milliseconds(20)
    let arrived = Gate()
    let server = HTTPServer(limits: limits) { _ in
      let cancelled = Gate()
      await withTaskCancellationHandler {
        arrived.open()
        await cancelled.wait()
      } onCancel: {
        cancelled.open()
      }
      return ServerResponse(status: 200)
    }
    try server.start()
    let transport = try loopbackTransport(port: server.port)
    let request = Task {
      try await transport.send(HTTPRequest(method: "GET", path: "/"))
    }
    await arrived.wait()
    await server.stop()
    _ = await request.result
    transport.close()
  }

  @Test func `stop does not wait for a client that is still sending`() async throws {
    let server = HTTPServer { _ in ServerResponse(status: 200) }
    try server.start()
    let socket = try TCPSocket.connected(toPort: server.port)
    socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx".utf8)
    await server.stop()
    #expect(await blocking { socket.receive().isEmpty })
  }

  @Test func `a port that is taken is named`() async throws {
    let listener = try TCPSocket.listening()
    let server = HTTPServer(port: listener.port) { _ in ServerResponse(status: 200) }
    #expect(throws: ServerError.portInUse(listener.port)) { try server.start() }
  }

  @Test(arguments: ["localhost", "", "300.1.1.1", "192.0.2.1"])
  func `an address that is not this machine's is named`(address: String) async throws {
    let server = HTTPServer(address: address) { _ in ServerResponse(status: 200) }
    #expect(throws: ServerError.addressUnavailable(address)) { try server.start() }
  }

  /// What the server sends until it closes the connection.
  private func raw(_ message: [UInt8], _ port: UInt16) async throws -> String {
    try await blocking { () -> Result<String, ProxyError> in
      Result { () throws(ProxyError) in
        let socket = try TCPSocket.connected(toPort: port)
        socket.send(message)
        return readAll(socket)
      }
    }.get()
  }
}

/// Everything up to the end of the connection.
private func readAll(_ socket: TCPSocket) -> String {
  var bytes: [UInt8] = []
  while true {
    let piece = socket.receive()
    if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
    bytes += piece
  }
}
