import Synchronization

/// One request inside the server, from its request line to the end of its answer.
///
///     opened ──begin──▶ receiving ──whole──▶ running ──answer──▶ answered
///        │                  │
///        └──────────────────┴── too large, or bad ──▶ refused (reads and drops the rest)
///
/// The library's thread moves it up to `running`, the handler's task to `answered`.
final class RequestContext: Sendable {
  /// What the library's thread does next.
  enum Step: Sendable {
    /// Goes on reading.
    case read
    /// Suspends the connection and runs the handler.
    case run(ServerRequest)
    /// Sends this.
    case send(ServerResponse)
    /// Closes the connection: nothing can be sent in this state.
    case close
  }

  private enum Phase: Sendable {
    case opened
    case receiving(ServerRequest)
    case running
    case answered(ServerResponse)
    case refused(ServerResponse, dropped: Int)
  }

  private struct State {
    var phase = Phase.opened
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let target: RequestTarget?
  private let limits: HTTPLimits
  private let refusalHeaders: [(name: String, value: String)]
  private let state = Mutex(State())

  /// A request whose line named `target`. `refusalHeaders` go on what this type answers by itself.
  init(target: String, limits: HTTPLimits, refusalHeaders: [(name: String, value: String)]) {
    self.target = RequestTarget(target)
    self.limits = limits
    self.refusalHeaders = refusalHeaders
  }

  /// Whether the request's head is still to come.
  var isOpened: Bool {
    state.withLock { if case .opened = $0.phase { true } else { false } }
  }

  /// Takes the head. A refusal is sent at once only if the client waits for leave to send its body.
  func begin(
    method: String, headers: [(name: String, value: String)], isStopping: Bool
  ) -> Step {
    let head = RequestHead(headers)
    guard let refusal = refusal(of: head, isStopping: isStopping) else {
      // `refusal` has refused a request without a target.
      guard let target else { return .close }
      var request = ServerRequest(method: method, target: target, headers: headers)
      request.body.reserveCapacity(head.bodyByteCount ?? 0)
      state.withLock { $0.phase = .receiving(request) }
      return .read
    }
    state.withLock { $0.phase = .refused(refusal, dropped: 0) }
    return head.waitsForLeave || !head.hasBody ? .send(refusal) : .read
  }

  /// Takes a piece of the body.
  func receive(_ piece: UnsafeRawBufferPointer) -> Step {
    state.withLock { state in
      switch state.phase {
      case .receiving(var request):
        // The copy in `phase` must go, or the append would copy the body.
        state.phase = .running
        if request.body.count + piece.count > limits.bodyByteCount {
          state.phase = .refused(tooLarge, dropped: request.body.count + piece.count)
        } else {
          request.body.append(contentsOf: piece)
          state.phase = .receiving(request)
        }
        return .read
      case .refused(let response, let dropped):
        state.phase = .refused(response, dropped: dropped + piece.count)
        return dropped + piece.count > limits.droppedByteCount ? .close : .read
      case .opened, .running, .answered:
        return .close
      }
    }
  }

  /// The body is whole, or the connection was resumed.
  func proceed() -> Step {
    state.withLock { state in
      switch state.phase {
      case .receiving(let request):
        state.phase = .running
        return .run(request)
      case .answered(let response), .refused(let response, _):
        return .send(response)
      case .opened, .running:
        return .close
      }
    }
  }

  /// Names the task that answers, so that it can be cancelled.
  func attach(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Asks the handler to end early.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }

  /// The handler's answer, to be sent when the connection is resumed.
  func answer(_ response: ServerResponse) {
    state.withLock { state in
      state.phase = .answered(response)
      state.task = nil
    }
  }

  private func refusal(of head: RequestHead, isStopping: Bool) -> ServerResponse? {
    if isStopping {
      return failure(503, error: "stopping", message: "The server is stopping. Try again later.")
    }
    if target == nil {
      return failure(400, error: "bad-target", message: "The path or query can't be decoded.")
    }
    if head.byteCount > limits.headerByteCount {
      return failure(
        431, error: "headers-too-large",
        message: "The headers have more than \(limits.headerByteCount) bytes.")
    }
    if head.isAmbiguous {
      return failure(
        400, error: "bad-length", message: "The length of the body is not given exactly once.")
    }
    if let count = head.bodyByteCount, count > limits.bodyByteCount { return tooLarge }
    return nil
  }

  private var tooLarge: ServerResponse {
    failure(
      413, error: "too-large", message: "The body has more than \(limits.bodyByteCount) bytes.")
  }

  private func failure(_ status: Int, error: String, message: String) -> ServerResponse {
    var response = ServerResponse.failure(status, error: error, message: message)
    response.headers += refusalHeaders
    return response
  }
}
