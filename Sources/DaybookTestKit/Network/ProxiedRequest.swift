/// A request that a proxy has read whole and not yet passed on.
package struct ProxiedRequest: Sendable {
  /// The device whose listener it came to.
  package let device: String
  /// 0 for the device's first.
  package let number: Int
  /// As on the wire: `POST`.
  package let method: String
  /// As on the wire, with the query.
  package let path: String
  /// Whole, as on the wire.
  package let body: [UInt8]
}

/// What becomes of a request, and of the answer to it.
package enum ProxyVerdict: Sendable, Equatable {
  /// The device's loss decides, by its draws.
  case draw
  /// It goes through, and so does the answer; nothing is drawn.
  case forward
  /// The connection is closed, and the server never sees the request; nothing is drawn.
  case loseRequest
  /// The server answers, and the connection is closed instead; nothing is drawn.
  case loseReply
  /// The server answers, and the connection is closed after the head and half of the body (at once,
  /// if there is none); nothing is drawn.
  case cutReply
}

/// What a proxy has done for one device so far.
package struct ProxyCounters: Sendable, Equatable {
  /// Requests read whole. Each is lost, refused (offline, no server), given a fixed answer, or
  /// passed on.
  package var requests = 0
  /// Requests that the server never saw, by a draw or a verdict.
  package var requestsLost = 0
  /// Answers that were lost whole or cut, by a draw or a verdict.
  package var repliesLost = 0
  /// Answers that nobody was there to take: the client had left, or was killed.
  package var repliesAbandoned = 0
  /// Answers to a POST, lost or abandoned, with a status below 500: the server may have acted.
  package var repliesLostAfterActing = 0
  /// Those of them whose path is the push's.
  package var pushRepliesLostAfterActing = 0
  /// Requests closed because the device was offline.
  package var refusedOffline = 0
  /// Requests closed because the server took no connection or gave no whole answer.
  package var upstreamFailures = 0
  /// Bytes of all requests read, heads included.
  package var bytesUp = 0
  /// Bytes of all answers sent, heads included.
  package var bytesDown = 0

  /// Nothing done yet.
  package init() {}

  /// Adds another device's.
  package static func += (left: inout ProxyCounters, right: ProxyCounters) {
    left.requests += right.requests
    left.requestsLost += right.requestsLost
    left.repliesLost += right.repliesLost
    left.repliesAbandoned += right.repliesAbandoned
    left.repliesLostAfterActing += right.repliesLostAfterActing
    left.pushRepliesLostAfterActing += right.pushRepliesLostAfterActing
    left.refusedOffline += right.refusedOffline
    left.upstreamFailures += right.upstreamFailures
    left.bytesUp += right.bytesUp
    left.bytesDown += right.bytesDown
  }
}

/// An answer that a network gives instead of the server.
package struct FixedAnswer: Sendable {
  /// 100 to 599.
  package var status: Int
  /// The value of `Content-Type`.
  package var contentType: String
  /// Whole.
  package var body: [UInt8]

  /// An answer of these parts.
  package init(status: Int, contentType: String, body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// What a hotel's network answers until somebody logs in: 200, and a page.
  package static let loginPage = FixedAnswer(
    status: 200, contentType: "text/html",
    body: Array("<!doctype html><title>Welcome</title><p>Please log in.".utf8))
}
