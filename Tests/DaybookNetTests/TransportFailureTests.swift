import DaybookNet
import DaybookServer
import DaybookTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct TransportFailureTests {
  private let get = HTTPRequest(method: "GET", path: "/")

  @Test func `a server that never answers ends in a timeout`() async throws {
    let gate = Gate()
    try await withServer { _ in
      await gate.wait()
      return ServerResponse(status: 200)
    } body: { _, transport in
      let limit = Duration.milliseconds(60)
      let clock = ContinuousClock()
      let start = clock.now
      let error = await transportError { () async throws(TransportError) in
        try await transport.send(get, timeout: limit)
      }
      #expect(error == .timedOut(after: limit))
      #expect(clock.now - start >= limit)
      gate.open()
    }
  }

  @Test func `a cancelled request ends at once`() async throws {
    let arrived = Gate()
    let gate = Gate()
    try await withServer { _ in
      arrived.open()
      await gate.wait()
      return ServerResponse(status: 200)
    } body: { _, transport in
      let task = Task { [get] in
        await transportError { () async throws(TransportError) in try await transport.send(get) }
      }
      await arrived.wait()
      task.cancel()
      #expect(await task.value == .cancelled)
      gate.open()
    }
  }

  @Test func `a request of a task that was cancelled before is not sent`() async throws {
    try await withServer { _ in
      ServerResponse(status: 200)
    } body: { _, transport in
      let begun = Gate()
      let task = Task { [get] in
        await begun.wait()
        return await transportError { () async throws(TransportError) in
          try await transport.send(get)
        }
      }
      task.cancel()
      begun.open()
      #expect(await task.value == .cancelled)
    }
  }

  @Test(arguments: ["timeout", "cancel", "close"])
  func `giving up closes the connection`(how: String) async throws {
    let listener = try TCPSocket.listening()
    let arrived = Gate()
    let seesEnd = Task {
      await blocking {
        let connection = listener.accepted()
        _ = connection?.receive()
        arrived.open()
        // Returns when the client has ended the connection, and never before.
        return connection?.receive().isEmpty
      }
    }
    let transport = try loopbackTransport(port: listener.port)
    let request = Task { [get] in
      await transportError { () async throws(TransportError) in
        try await transport.send(get, timeout: .milliseconds(how == "timeout" ? 60 : 60_000))
      }
    }
    await arrived.wait()
    if how == "cancel" { request.cancel() }
    if how == "close" { transport.close() }
    let expected: [String: TransportError] = [
      "timeout": .timedOut(after: .milliseconds(60)), "cancel": .cancelled, "close": .closed,
    ]
    #expect(await request.value == expected[how])
    #expect(await seesEnd.value == true)
    transport.close()
  }

  @Test func `an answer beyond the limit is given up, announced or not`() async throws {
    var limits = TransportLimits()
    limits.responseByteCount = 1_000
    try await withServer(transportLimits: limits) { request in
      let count = Int(request.query("count") ?? "") ?? 0
      return ServerResponse(status: 200, body: Array(repeating: 7, count: count))
    } body: { _, transport in
      let whole = try await transport.send(HTTPRequest(method: "GET", path: "/?count=1000"))
      #expect(whole.body.count == 1_000)
      let error = await transportError { () async throws(TransportError) in
        try await transport.send(HTTPRequest(method: "GET", path: "/?count=1001"))
      }
      #expect(error == .tooLarge(limit: 1_000))
    }
    let endless = "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1_001)
    #expect(try await errorFromRawAnswer(endless, limits: limits) == .tooLarge(limit: 1_000))
  }

  /// An end inside the head is left out: it ends the process on Linux (see `URLSessionTransport`).
  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nxxx",
    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "\u{0}\u{1}\u{2}",
    "SSH-2.0-OpenSSH_9.2\r\n", "<!doctype html><title>Welcome</title>",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
  ])
  func `an answer that ends too early is a lost connection`(answer: String) async throws {
    let error = try await errorFromRawAnswer(answer)
    #expect(error == .connectionLost)
  }

  @Test func `a port where nobody listens is unreachable`() async throws {
    let nobody = try TCPSocket.refusing()
    let transport = try loopbackTransport(port: nobody.port)
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(get)
    }
    #expect(error == .unreachable(host: "127.0.0.1", reason: .noConnection))
    nobody.hangUp()
    transport.close()
  }

  @Test func `a host without an address is unreachable`() async throws {
    let base = try #require(URL(string: "http://daybook.invalid"))
    let transport = try URLSessionTransport(base: base)
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(get)
    }
    #expect(error == .unreachable(host: "daybook.invalid", reason: .unknownHost))
    transport.close()
  }

  @Test func `a server that speaks no TLS is insecure`() async throws {
    let listener = try TCPSocket.listening()
    let base = try #require(URL(string: "https://127.0.0.1:\(listener.port)"))
    let transport = try URLSessionTransport(base: base)
    async let served = blocking {
      let connection = listener.accepted()
      _ = connection?.receive()
      connection?.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
      connection?.hangUp()
    }
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(get)
    }
    await served
    #expect(error == .insecure(host: "127.0.0.1"))
    transport.close()
  }

  @Test func `a closed transport sends nothing, however often it is closed`() async throws {
    let transport = try loopbackTransport(port: 9)
    transport.close()
    transport.close()
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(get)
    }
    #expect(error == .closed)
    #expect(transport.traffic == Traffic())
  }

  @Test(arguments: ["", "v1", "/a b", "/a\r\nX: y", "/ä", "/%zz", "/a#b"])
  func `a path that is not encoded is refused`(path: String) async throws {
    let transport = try loopbackTransport(port: 9)
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(HTTPRequest(method: "GET", path: path))
    }
    #expect(error == .invalidURL)
    transport.close()
  }

  @Test(arguments: ["ftp://a", "file:///etc", "http://", "/v1", "http://a?b", "http://a#b"])
  func `a base that is no server's address is refused`(text: String) throws {
    let base = try #require(URL(string: text))
    #expect(throws: TransportError.invalidURL) { try URLSessionTransport(base: base) }
  }

  /// What a request ends with when the server sends `answer` and closes the connection.
  private func errorFromRawAnswer(
    _ answer: String, limits: TransportLimits = TransportLimits()
  ) async throws -> TransportError? {
    let listener = try TCPSocket.listening()
    let transport = try loopbackTransport(port: listener.port, limits: limits)
    async let served = blocking {
      let connection = listener.accepted()
      _ = connection?.receive()
      connection?.send(answer.utf8)
      connection?.hangUp()
    }
    let error = await transportError { () async throws(TransportError) in
      try await transport.send(get, timeout: .seconds(10))
    }
    await served
    transport.close()
    return error
  }
}
