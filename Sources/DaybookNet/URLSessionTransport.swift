package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// HTTP through the platform's own networking: one session, which lives until `close()`.
///
/// Follows no redirect (one is returned as it is: on a network with a login page it means "not our
/// server"), keeps no cookies, cache or credentials, asks for uncompressed answers. The deadline is
/// its own, because `URLSession` on Linux cuts timeouts to whole seconds and ignores the one for
/// the whole answer. On Linux libcurl silently repeats a request on a reused connection that died
/// (see `Transport`), about 150 bytes leak a request, and up to Swift 6.3 a connection that is
/// closed in good order inside an answer's head ends the process (swift-corelibs-foundation, issue
/// 5285).
package final class URLSessionTransport: Transport {
  private let base: String
  private let host: String
  private let isEncrypted: Bool
  private let limits: TransportLimits
  private let session: URLSession
  private let exchanges = ExchangeTable()
  private let counter = TrafficCounter()

  /// A transport to the server at `base`: http or https, a host, perhaps a port and a path that
  /// every request's path is appended to. Throws `invalidURL` for anything else; nothing is sent
  /// yet.
  package init(base: URL, limits: TransportLimits = TransportLimits()) throws(TransportError) {
    guard let scheme = base.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = base.host, !host.isEmpty, base.query == nil, base.fragment == nil
    else { throw .invalidURL }
    let text = base.absoluteString
    self.base = text.hasSuffix("/") ? String(text.dropLast()) : text
    self.host = host
    self.isEncrypted = scheme == "https"
    self.limits = limits
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpMaximumConnectionsPerHost = limits.connectionCount
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(
      configuration: configuration, delegate: SessionDelegate(exchanges), delegateQueue: queue)
  }

  deinit {
    close()
  }

  /// What was sent and received so far.
  package var traffic: Traffic { counter.value }

  /// Ends every request under way with `closed`; later ones end so at once. May be called again.
  package func close() {
    guard let waiting = exchanges.close() else { return }
    for exchange in waiting { exchange.fail(.closed) }
    session.invalidateAndCancel()
  }

  /// The answer to `request`; every error is a `TransportError` with the facts.
  ///
  /// The deadline and the cancellation of the calling task end the call at once and close the
  /// connection. Answers beyond `limits.responseByteCount` are given up while they arrive.
  package func send(
    _ request: HTTPRequest, timeout: Duration
  ) async throws(TransportError) -> HTTPResponse {
    let message = try urlRequest(for: request)
    let exchange = Exchange(byteLimit: limits.responseByteCount, traffic: counter)
    guard let task = exchanges.add(exchange, makeTask: { session.dataTask(with: message) })
    else { throw .closed }
    counter.addRequest(request)
    let deadline = Task {
      guard (try? await Task.sleep(for: timeout)) != nil else { return }
      if exchange.fail(.timedOut(after: timeout)) { task.cancel() }
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if exchange.deliver(to: continuation) { task.resume() }
      }
    } onCancel: {
      if exchange.fail(.cancelled) { task.cancel() }
    }
    deadline.cancel()
    exchanges.remove(task)
    return try outcome.mapError { namingHost($0) }.get()
  }

  private func urlRequest(for request: HTTPRequest) throws(TransportError) -> URLRequest {
    // Foundation would encode what is not valid; the server should see what the caller wrote.
    guard Self.isEncoded(request.path), let url = URL(string: base + request.path)
    else { throw .invalidURL }
    var message = URLRequest(url: url)
    message.httpMethod = request.method
    message.timeoutInterval = Self.platformTimeout
    message.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    for (name, value) in request.headers {
      message.addValue(value, forHTTPHeaderField: name)
    }
    if !request.body.isEmpty { message.httpBody = Data(request.body) }
    return message
  }

  /// Whether `path` can stand in a request line as it is.
  private static func isEncoded(_ path: String) -> Bool {
    guard path.utf8.first == UInt8(ascii: "/"),
      path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
    else { return false }
    return path.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy {
      $0.count >= 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
    }
  }

  /// One day, in seconds: the platform's own deadline must never be the first.
  private static let platformTimeout = 86_400.0

  /// The delegate knows no host; and on Linux neither a certificate that fails nor a connection
  /// that ends too early has a code of its own.
  private func namingHost(_ error: TransportError) -> TransportError {
    switch error {
    case .unreachable(_, let reason): .unreachable(host: host, reason: reason)
    case .insecure: .insecure(host: host)
    case .failed(URLError.unknown.rawValue): isEncrypted ? .insecure(host: host) : .connectionLost
    default: error
    }
  }
}
