import DaybookNet
import DaybookServer
import DaybookTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct LossyProxyTests {
  private let push = HTTPRequest(method: "POST", path: "/v1/push?x=1", body: [1, 2, 3])

  /// A server, a proxy to it with one device, and a transport through that.
  private func withProxy(
    network: ProxiedDevice.Network = ProxiedDevice.Network(), seed: UInt64 = 7,
    hook: ProxiedDevice.Hook?,
    handler: @escaping @Sendable (ServerRequest) async -> ServerResponse = { request in
      ServerResponse(status: 200, body: request.body)
    },
    body: (ProxiedDevice, URLSessionTransport) async throws -> Void
  ) async throws {
    try await withServer(handler: handler) { server, _ in
      let proxy = LossyProxy(upstreamPort: server.port)
      let device = try proxy.addDevice(
        named: "rep", network: network, generator: SplitMix64(seed: seed), hook: hook)
      let transport = try loopbackTransport(port: device.port)
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(device, transport))
      } catch {
        result = .failure(error)
      }
      transport.close()
      await blocking { proxy.stop() }
      try result.get()
    }
  }

  @Test(arguments: [1, 7, 42] as [UInt64])
  func `the proxy loses exactly what its seed says`(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    func draw(_ chance: Double) -> Bool { Double(generator.next() >> 11) / 0x1p53 < chance }
    let acted = Mutex(0)
    var network = ProxiedDevice.Network(loss: 0.2, cutShare: 0.5)
    network.pushPath = "/v1/push"
    var expected = ProxyCounters()
    try await withProxy(network: network, seed: seed, hook: nil) { request in
      acted.withLock { $0 += 1 }
      return ServerResponse(status: 200, body: request.body)
    } body: { device, transport in
      for _ in 0..<200 {
        let isRequestLost = draw(0.2)
        let isReplyLost = !isRequestLost && draw(0.2)
        if isReplyLost { _ = draw(0.5) }
        expected.requests += 1
        expected.requestsLost += isRequestLost ? 1 : 0
        expected.repliesLost += isReplyLost ? 1 : 0
        let error = await transportError { () async throws(TransportError) in
          try await transport.send(push)
        }
        #expect(error == (isRequestLost || isReplyLost ? .connectionLost : nil))
      }
      expected.repliesLostAfterActing = expected.repliesLost
      expected.pushRepliesLostAfterActing = expected.repliesLost
      var counters = device.counters
      #expect(counters.bytesUp > 200 * 60)
      #expect(counters.bytesDown > 100 * 60)
      counters.bytesUp = 0
      counters.bytesDown = 0
      #expect(counters == expected, "seed \(seed)")
      #expect(acted.withLock { $0 } == 200 - expected.requestsLost)
      #expect(expected.requestsLost > 20 && expected.repliesLost > 15)
    }
  }

  @Test func `only a POST that the server may have acted on counts as acted`() async throws {
    let hook: ProxiedDevice.Hook = { _ in .loseReply }
    try await withProxy(hook: hook) { request in
      ServerResponse(status: request.target.path == "/500" ? 500 : 422)
    } body: { device, transport in
      let requests = [
        HTTPRequest(method: "GET", path: "/v1/push"), HTTPRequest(method: "POST", path: "/500"),
        HTTPRequest(method: "POST", path: "/v1/other"), push,
      ]
      for request in requests {
        _ = await transportError { () async throws(TransportError) in
          try await transport.send(request)
        }
      }
      #expect(device.counters.repliesLost == 4)
      #expect(device.counters.repliesLostAfterActing == 2)
      #expect(device.counters.pushRepliesLostAfterActing == 1)
    }
  }

  @Test func `a hook decides over each request`() async throws {
    let seen = Mutex<[ProxiedRequest]>([])
    let hook: ProxiedDevice.Hook = { request in
      seen.withLock { $0.append(request) }
      return [.forward, .loseRequest, .loseReply, .cutReply, .draw][request.number]
    }
    try await withProxy(hook: hook) { device, transport in
      var errors: [TransportError?] = []
      for _ in 0..<5 {
        errors.append(
          await transportError { () async throws(TransportError) in
            try await transport.send(push)
          })
      }
      #expect(errors == [nil, .connectionLost, .connectionLost, .connectionLost, nil])
      let requests = seen.withLock { $0 }
      #expect(requests.map(\.number) == [0, 1, 2, 3, 4])
      #expect(requests.allSatisfy { $0.device == "rep" && $0.body == [1, 2, 3] })
      #expect(requests.allSatisfy { $0.method == "POST" && $0.path == "/v1/push?x=1" })
      #expect(device.counters.requestsLost == 1)
      #expect(device.counters.repliesLost == 2)
    }
  }

  @Test func `an answer for a client that left is abandoned after acting`() async throws {
    let mayGoOn = Gate()
    let arrived = Gate()
    try await withProxy(hook: nil) { _ in
      arrived.open()
      await mayGoOn.wait()
      return ServerResponse(status: 200)
    } body: { device, _ in
      let client = try TCPSocket.connected(toPort: device.port)
      client.send("POST /v1/push HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".utf8)
      await arrived.wait()
      client.endSending()
      mayGoOn.open()
      // The proxy ends its side when it has counted.
      #expect(await blocking { client.receive().isEmpty })
      #expect(device.counters.repliesAbandoned == 1)
      #expect(device.counters.pushRepliesLostAfterActing == 1)
      #expect(device.counters.repliesLost == 0)
    }
  }

  @Test func `a device that is offline or behind a login page reaches no server`() async throws {
    try await withProxy(hook: nil) { _ in
      Issue.record("the server was reached")
      return ServerResponse(status: 200)
    } body: { device, transport in
      device.isOffline = true
      let error = await transportError { () async throws(TransportError) in
        try await transport.send(push)
      }
      #expect(error == .connectionLost)
      device.isOffline = false
      device.fixedAnswer = .loginPage
      let page = try await transport.send(push)
      #expect(page.status == 200)
      #expect(page.header("content-type") == "text/html")
      #expect(device.counters.refusedOffline == 1)
    }
  }

  @Test func `devices draw from streams of their own and a server may move`() async throws {
    try await withServer { _ in
      ServerResponse(status: 200)
    } body: { server, _ in
      let nobody = try TCPSocket.refusing()
      let proxy = LossyProxy(upstreamPort: nobody.port)
      let lossy = try proxy.addDevice(
        named: "lossy", network: .init(loss: 1), generator: SplitMix64(seed: 1))
      let good = try proxy.addDevice(named: "good", generator: MersenneTwister(seed: 1))
      let transports = try [lossy, good].map { try loopbackTransport(port: $0.port) }
      func errors() async -> [TransportError?] {
        var errors: [TransportError?] = []
        for transport in transports {
          errors.append(
            await transportError { () async throws(TransportError) in
              try await transport.send(push)
            })
        }
        return errors
      }
      #expect(await errors() == [.connectionLost, .connectionLost])
      #expect(good.counters.upstreamFailures == 1)
      nobody.hangUp()
      proxy.upstreamPort = server.port
      #expect(await errors() == [.connectionLost, nil])
      #expect(proxy.counters.requests == 4)
      for transport in transports { transport.close() }
      await blocking { proxy.stop() }
      #expect(throws: ProxyError.stopped) {
        try proxy.addDevice(named: "late", generator: SplitMix64(seed: 1))
      }
    }
  }

  @Test func `a large body passes both ways`() async throws {
    var generator = SplitMix64(seed: 3)
    let part = (0..<1_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    let body = Array(repeatElement(part, count: 3_001).joined())
    try await withProxy(hook: nil) { device, transport in
      let response = try await transport.send(
        HTTPRequest(method: "POST", path: "/", body: body))
      #expect(response.body == body)
      #expect(device.counters.bytesUp > 3_000_000)
      #expect(device.counters.bytesDown > 3_000_000)
    }
  }
}
