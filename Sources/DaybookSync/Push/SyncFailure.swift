package import DaybookFormat

/// Why a request brought no usable answer.
package enum SyncFailure: Sendable, Hashable {
  /// No answer: not reached, connection lost, or no reply in time. The server may have acted.
  case unreachable(reason: String)
  /// What answered is not the server: a login page, a proxy.
  case notTheServer(status: UInt16)
  /// An answer with this status and no verdict; the seconds to wait, if it names them.
  case status(UInt16, retryAfterSeconds: UInt64?, problem: ServerProblem?)
}

/// What a failed request means for the queue.
///
/// Source: `Docs/Sync.md`, section "Reply classes".
package enum ReplyClass: Sendable, Hashable {
  /// Try again later: the network or the server is at fault, whatever was sent.
  case retry(afterSeconds: UInt64?)
  /// A 5xx that may be the fault of one operation: try again, then look for it.
  case suspect
  /// The server takes smaller batches.
  case split
  /// The request can never succeed; one operation alone is a dead letter.
  case terminal(status: UInt16, message: String)
  /// Nothing is sent until somebody acts; the queue stays whole.
  case pause(SyncPause)

  /// The longest time that a Retry-After is obeyed: one hour.
  static let retryAfterLimitSeconds: UInt64 = 3_600

  /// The class of `failure`.
  package init(_ failure: SyncFailure) {
    switch failure {
    case .unreachable, .notTheServer:
      self = .retry(afterSeconds: nil)
    case .status(let status, let seconds, let problem):
      let wait = seconds.map { min($0, ReplyClass.retryAfterLimitSeconds) }
      if let pause = problem.flatMap({ SyncPause($0) }) {
        self = .pause(pause)
        return
      }
      switch status {
      case 404, 405, 409, 410:
        // About the address, the log or the cursor, never about one operation.
        self = .retry(afterSeconds: wait)
      case 401, 403: self = .pause(.credentials)
      case 408, 429, 502, 503, 504: self = .retry(afterSeconds: wait)
      case 500...599: self = wait == nil ? .suspect : .retry(afterSeconds: wait)
      case 413: self = .split
      case 426: self = .pause(.upgradeRequired)
      case 400...499:
        self = .terminal(status: status, message: problem?.message ?? "status \(status)")
      default: self = .retry(afterSeconds: wait)
      }
    }
  }
}

/// Why nothing is sent until somebody acts. The queue stays whole.
package enum SyncPause: Sendable, Hashable {
  /// The server wants other credentials.
  case credentials
  /// The server wants a newer app.
  case upgradeRequired
  /// The log belongs to another server.
  case notOurServer
  /// The server was restored from an older copy.
  case historyChanged
  /// Another copy of this log has been sending.
  case oldCopy
  /// The server has forgotten the log, and with it which operations it took.
  case incarnationForgotten

  /// The pause that `problem` leads to, if it does.
  package init?(_ problem: ServerProblem) {
    switch problem.code {
    case .wrongAccount: self = .credentials
    case .notOurServer: self = .notOurServer
    case .historyChanged: self = .historyChanged
    case .oldCopy: self = .oldCopy
    case .incarnationUnknown: self = .incarnationForgotten
    default: return nil
    }
  }
}
