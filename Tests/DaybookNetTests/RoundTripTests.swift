import DaybookNet
import DaybookServer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct RoundTripTests {
  @Test func `a request arrives as it was sent and its answer comes back whole`() async throws {
    try await withServer { request in
      let seen = "\(request.method) \(request.target.path) \(request.query("after") ?? "-")"
      var response = ServerResponse(status: 207, contentType: "text/plain", body: Array(seen.utf8))
      response.headers.append(("X-Seen", request.header("x-daybook") ?? "-"))
      response.body += request.body
      return response
    } body: { _, transport in
      let request = HTTPRequest(
        method: "POST", path: "/v1/sh%C3%B6p%2F1?after=a%20b+c", headers: [("X-Daybook", "seven")],
        body: [0, 255, 10])
      let response = try await transport.send(request)
      #expect(response.status == 207)
      #expect(response.header("CONTENT-type") == "text/plain")
      #expect(response.header("x-seen") == "seven")
      #expect(response.body == Array("POST /v1/shöp/1 a b+c".utf8) + [0, 255, 10])
    }
  }

  @Test(arguments: ["Basic realm=\"x\"", "Bearer", "Digest realm=\"x\", nonce=\"1\""])
  func `a call for credentials is an answer and nothing is sent again`(
    challenge: String
  ) async throws {
    let count = Mutex(0)
    try await withServer { _ in
      count.withLock { $0 += 1 }
      return ServerResponse(status: 401, headers: [("WWW-Authenticate", challenge)])
    } body: { _, transport in
      for _ in 0..<2 {
        let response = try await transport.send(HTTPRequest(method: "GET", path: "/"))
        #expect(response.status == 401)
        #expect(response.header("WWW-Authenticate") == challenge)
      }
      #expect(count.withLock { $0 } == 2)
    }
  }

  @Test(arguments: [401, 404, 407, 410, 413, 426, 429, 500, 503])
  func `a refusal is an answer, not an error`(status: Int) async throws {
    try await withServer { _ in
      .failure(status, error: "no", message: "a \"no\"\n")
    } body: { _, transport in
      let response = try await transport.send(HTTPRequest(method: "GET", path: "/"))
      #expect(response.status == status)
      let text = String(decoding: response.body, as: UTF8.self)
      #expect(text == "{\"error\":\"no\",\"message\":\"a \\\"no\\\"\\n\"}\n")
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is returned and not followed`(status: Int) async throws {
    let count = Mutex(0)
    try await withServer { request in
      count.withLock { $0 += 1 }
      return ServerResponse(
        status: status, headers: [("Location", "/login")], body: Array("log in".utf8))
    } body: { _, transport in
      for method in ["GET", "POST"] {
        let response = try await transport.send(
          HTTPRequest(method: method, path: "/v1/health", body: method == "POST" ? [1] : []))
        #expect(response.status == status)
        #expect(response.header("location") == "/login")
        #expect(response.body == Array("log in".utf8))
      }
      #expect(count.withLock { $0 } == 2)
    }
  }

  @Test func `cookies are not kept and answers are asked for uncompressed`() async throws {
    let seen = Mutex<[[String]]>([])
    try await withServer { request in
      seen.withLock { list in
        list.append([
          request.header("cookie") ?? "none", request.header("accept-encoding") ?? "none",
          request.header("expect") ?? "none",
        ])
      }
      return ServerResponse(status: 200, headers: [("Set-Cookie", "a=b"), ("ETag", "\"1\"")])
    } body: { _, transport in
      for _ in 0..<2 {
        _ = try await transport.send(HTTPRequest(method: "GET", path: "/"))
      }
      #expect(seen.withLock { $0 } == Array(repeating: ["none", "identity", "none"], count: 2))
    }
  }

  @Test func `sixty-four requests at once each get their own answer`() async throws {
    try await withServer { request in
      ServerResponse(status: 200, body: request.body + Array(request.target.path.utf8))
    } body: { _, transport in
      let wrong = await withTaskGroup { group in
        for index in 0..<64 {
          group.addTask {
            let body = Array(repeating: UInt8(index), count: index * 1_000)
            let response = try? await transport.send(
              HTTPRequest(method: "POST", path: "/\(index)", body: body))
            return response?.body == body + Array("/\(index)".utf8)
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 0 : 1 }
      }
      #expect(wrong == 0)
      #expect(transport.traffic.requests == 64)
      #expect(transport.traffic.bytesUp > 2_016_000)
      #expect(transport.traffic.bytesDown > 2_016_000)
    }
  }
}
