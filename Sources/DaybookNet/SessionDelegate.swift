import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The exchanges under way, by their task; closed once.
final class ExchangeTable: Sendable {
  private struct State {
    var byTask: [Int: Exchange] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Makes a task for `exchange`; `nil` when closed. A session that was invalidated traps on a new
  /// task, so making one and closing exclude each other.
  func add(_ exchange: Exchange, makeTask: () -> URLSessionDataTask) -> URLSessionDataTask? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let task = makeTask()
      state.byTask[task.taskIdentifier] = exchange
      return task
    }
  }

  func exchange(of task: URLSessionTask) -> Exchange? {
    state.withLock { $0.byTask[task.taskIdentifier] }
  }

  func remove(_ task: URLSessionTask) {
    state.withLock { $0.byTask[task.taskIdentifier] = nil }
  }

  /// The exchanges to fail; `nil` when it was closed before.
  func close() -> [Exchange]? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      defer { state.byTask = [:] }
      return Array(state.byTask.values)
    }
  }
}

/// Hands what the session reports to the exchange it belongs to. Called on the session's own queue.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
  private let exchanges: ExchangeTable

  init(_ exchanges: ExchangeTable) {
    self.exchanges = exchanges
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // On Linux the head of a redirect that is not followed is reported nowhere else.
    begin(task, response)
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      // Here a 401 with `WWW-Authenticate` is a challenge that can only be met or cancelled, and
      // the body of the answer is not to be had.
      if let response = challenge.failureResponse, begin(task, response) {
        exchanges.exchange(of: task)?.endAtHead()
      }
      completionHandler(.cancelAuthenticationChallenge, nil)
    #else
      let isAboutServer =
        challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
      completionHandler(isAboutServer ? .performDefaultHandling : .rejectProtectionSpace, nil)
    #endif
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(begin(dataTask, response) ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let exchange = exchanges.exchange(of: dataTask) else { return }
    if !exchange.receive(data) { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let exchange = exchanges.exchange(of: task) else { return }
    if let error {
      exchange.endEarly(TransportError(platformError: error))
    } else {
      exchange.end()
    }
  }

  @discardableResult
  private func begin(_ task: URLSessionTask, _ response: URLResponse) -> Bool {
    guard let exchange = exchanges.exchange(of: task), let response = response as? HTTPURLResponse
    else { return false }
    let headers = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
    let fits = exchange.begin(
      status: response.statusCode, headers: headers.sorted { $0.name < $1.name },
      expectedByteCount: response.expectedContentLength)
    if !fits { task.cancel() }
    return fits
  }
}

extension TransportError {
  /// What the platform's `error` means; the transport fills in the host.
  init(platformError error: any Error) {
    guard let error = error as? URLError else {
      self = .failed(code: (error as NSError).code)
      return
    }
    switch error.code {
    case .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed:
      self = .unreachable(host: "", reason: .offline)
    case .cannotFindHost, .dnsLookupFailed:
      self = .unreachable(host: "", reason: .unknownHost)
    // The transport's own deadline comes first: this one is the system giving up on a connection.
    case .cannotConnectToHost, .timedOut:
      self = .unreachable(host: "", reason: .noConnection)
    // The address was checked: on Linux this is about an answer that is not HTTP.
    case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .badURL,
      .unsupportedURL:
      self = .connectionLost
    case .cancelled:
      self = .cancelled
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      self = .insecure(host: "")
    default:
      self = .failed(code: error.code.rawValue)
    }
  }
}
