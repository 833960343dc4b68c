import Synchronization

/// What a transport has sent and received so far.
///
/// Counts the message as composed and as read here (start line, headers, body). What the platform's
/// networking adds below (a `Host` line, TLS, repetitions) is not in it: exact wire bytes are
/// counted by a proxy.
package struct Traffic: Sendable, Equatable {
  /// Requests begun, answered or not.
  package var requests = 0
  /// Bytes of those requests.
  package var bytesUp = 0
  /// Bytes of the answers' heads and of every piece of body that arrived, kept or not.
  package var bytesDown = 0

  /// Nothing sent yet.
  package init() {}
}

/// A `Traffic` that many requests add to at once.
final class TrafficCounter: Sendable {
  private let traffic = Mutex(Traffic())

  var value: Traffic { traffic.withLock { $0 } }

  func addRequest(_ request: HTTPRequest) {
    let head = request.method.utf8.count + request.path.utf8.count + " ".utf8.count * 2
    let size = head + "HTTP/1.1\r\n\r\n".utf8.count + byteCount(of: request.headers)
    traffic.withLock {
      $0.requests += 1
      $0.bytesUp += size + request.body.count
    }
  }

  func addHead(_ headers: [(name: String, value: String)]) {
    let size = "HTTP/1.1 200 OK\r\n\r\n".utf8.count + byteCount(of: headers)
    traffic.withLock { $0.bytesDown += size }
  }

  func addBody(byteCount: Int) {
    traffic.withLock { $0.bytesDown += byteCount }
  }

  private func byteCount(of headers: [(name: String, value: String)]) -> Int {
    headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + ": \r\n".utf8.count }
  }
}
