import Synchronization

/// One request on its way: collects the answer, and ends once.
///
///     waiting ──begin──▶ receiving ──end, fail──▶ ended
///        └──────────fail──────────────────────────▲
///
/// Whoever ends it first (the last byte, the limit, the deadline, a cancellation, the session)
/// decides the outcome; what comes later is ignored.
final class Exchange: Sendable {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var continuation: CheckedContinuation<Outcome, Never>?
    var outcome: Outcome?
    var response: HTTPResponse?
  }

  private let state = Mutex(State())
  private let byteLimit: Int
  private let traffic: TrafficCounter

  init(byteLimit: Int, traffic: TrafficCounter) {
    self.byteLimit = byteLimit
    self.traffic = traffic
  }

  /// Hands the outcome to `continuation`, now or when there is one; false if there was one already.
  func deliver(to continuation: CheckedContinuation<Outcome, Never>) -> Bool {
    let outcome = state.withLock { state -> Outcome? in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    guard let outcome else { return true }
    continuation.resume(returning: outcome)
    return false
  }

  /// Takes the answer's head; false if the body it announces (-1: unknown) is beyond the limit.
  func begin(
    status: Int, headers: [(name: String, value: String)], expectedByteCount: Int64
  ) -> Bool {
    traffic.addHead(headers)
    guard expectedByteCount <= Int64(byteLimit) else {
      fail(.tooLarge(limit: byteLimit))
      return false
    }
    state.withLock { $0.response = HTTPResponse(status: status, headers: headers) }
    return true
  }

  /// Adds a piece of the body; false if the limit is passed, and nothing more is wanted.
  func receive(_ piece: some Collection<UInt8>) -> Bool {
    traffic.addBody(byteCount: piece.count)
    let fits = state.withLock { state in
      guard state.outcome == nil, let response = state.response else { return false }
      guard response.body.count + piece.count <= byteLimit else { return false }
      state.response?.body.append(contentsOf: piece)
      return true
    }
    if !fits { fail(.tooLarge(limit: byteLimit)) }
    return fits
  }

  /// The last byte came: the outcome is the answer.
  func end() {
    let outcome: Outcome = state.withLock { state in
      guard let response = state.response else { return .failure(.connectionLost) }
      return .success(response)
    }
    finish(outcome)
  }

  /// Nothing but the head can be had: the outcome is the answer without its body.
  func endAtHead() {
    guard let response = state.withLock({ $0.response }) else { return }
    finish(.success(HTTPResponse(status: response.status, headers: response.headers)))
  }

  /// The platform's networking gave up; once there is a head, an error of no kind is a lost
  /// connection.
  func endEarly(_ error: TransportError) {
    if case .failed = error, state.withLock({ $0.response != nil }) {
      fail(.connectionLost)
    } else {
      fail(error)
    }
  }

  /// Ends without an answer; false if it had ended before.
  @discardableResult
  func fail(_ error: TransportError) -> Bool {
    finish(.failure(error))
  }

  @discardableResult
  private func finish(_ outcome: Outcome) -> Bool {
    let (first, continuation) = state.withLock { state in
      guard state.outcome == nil else {
        return (false, nil as CheckedContinuation<Outcome, Never>?)
      }
      state.outcome = outcome
      state.response = nil
      defer { state.continuation = nil }
      return (true, state.continuation)
    }
    continuation?.resume(returning: outcome)
    return first
  }
}
