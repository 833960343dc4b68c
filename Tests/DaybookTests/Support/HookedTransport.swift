import DaybookFormat
import DaybookNet
import Synchronization

/// A way to a server on which a test decides about each request, and counts them.
final class HookedTransport: Transport {
  /// What becomes of a request.
  enum Step: Sendable {
    /// It is sent.
    case forward
    /// It is answered here, as by the server: with its header.
    case answer(status: Int)
    /// It is answered here, as by somebody else.
    case strangerAnswers(status: Int)
    /// It is lost.
    case lose
    /// It is sent, and the answer is lost.
    case loseAnswer
  }

  typealias Hook = @Sendable (HTTPRequest) async -> Step

  private let base: any Transport
  private let hook = Mutex<Hook?>(nil)
  private let requests = Mutex<[HTTPRequest]>([])

  init(_ base: any Transport) { self.base = base }

  /// Decides from now on; `nil` sends everything.
  func setHook(_ hook: Hook?) { self.hook.withLock { $0 = hook } }

  /// The requests that came, in order.
  var seen: [HTTPRequest] { requests.withLock { $0 } }

  /// The pushes that came.
  var pushCount: Int { seen.count { $0.method == "POST" } }

  func send(
    _ request: HTTPRequest, timeout: Duration
  ) async throws(TransportError) -> HTTPResponse {
    requests.withLock { $0.append(request) }
    switch await hook.withLock({ $0 })?(request) ?? .forward {
    case .forward: return try await base.send(request, timeout: timeout)
    case .answer(let status):
      return HTTPResponse(status: status, headers: [(Wire.serverHeader, "test")])
    case .strangerAnswers(let status): return HTTPResponse(status: status)
    case .lose: throw .connectionLost
    case .loseAnswer:
      _ = try await base.send(request, timeout: timeout)
      throw .connectionLost
    }
  }
}
