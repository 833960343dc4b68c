import Synchronization

/// One device's way through a `LossyProxy`: its port, its draws, its counters.
///
/// A request is read whole; then the hook may decide. By default the first draw loses it; else it
/// is passed on, the answer read whole, and the second draw loses that; of the lost ones,
/// `cutShare` are cut in the middle by a third draw (none is drawn if the share is 0). What is not
/// lost is sent with `Connection: close`, so that a client's networking never repeats a request by
/// itself. Draws are taken in the order of events: the same seed gives the same day if the device
/// has one request in flight at a time.
package final class ProxiedDevice: Sendable {
  /// Called on the connection's own thread with a request read whole, and may block.
  package typealias Hook = @Sendable (ProxiedRequest) -> ProxyVerdict

  /// The bounds and odds of a device's network.
  package struct Network: Sendable {
    /// The chance of a request to be lost, and of an answer: 0 to 1.
    package var loss: Double
    /// Of the lost answers, those that are cut in the middle: 0 to 1.
    package var cutShare: Double
    /// The path, without query, that `pushRepliesLostAfterActing` counts.
    package var pushPath = "/v1/push"
    /// Bytes of a request or an answer: 128 MiB. Beyond, the connection is closed.
    package var messageByteCount = 128 << 20

    /// A network of these odds.
    package init(loss: Double = 0, cutShare: Double = 0) {
      self.loss = loss
      self.cutShare = cutShare
    }
  }

  private struct State {
    var network: Network
    var generator: any RandomNumberGenerator & Sendable
    var hook: Hook?
    var fixedAnswer: FixedAnswer?
    var isOffline = false
    var counters = ProxyCounters()
  }

  /// As given.
  package let name: String
  /// The port on 127.0.0.1 that stands for the server.
  package let port: UInt16
  let listener: TCPSocket
  private let state: Mutex<State>

  init(
    name: String, network: Network, generator: any RandomNumberGenerator & Sendable, hook: Hook?
  ) throws(ProxyError) {
    self.name = name
    listener = try .listening()
    port = listener.port
    state = Mutex(State(network: network, generator: generator, hook: hook))
  }

  /// What was done so far; a request is counted when it was read, its fate when it is known.
  package var counters: ProxyCounters { state.withLock { $0.counters } }

  /// While true every request is closed unread by the server. Nothing is drawn.
  package var isOffline: Bool {
    get { state.withLock { $0.isOffline } }
    set { state.withLock { $0.isOffline = newValue } }
  }

  /// While there is one it answers every request, and the server sees none. Nothing is drawn.
  package var fixedAnswer: FixedAnswer? {
    get { state.withLock { $0.fixedAnswer } }
    set { state.withLock { $0.fixedAnswer = newValue } }
  }

  /// The odds from the next draw on.
  package var network: Network {
    get { state.withLock { $0.network } }
    set { state.withLock { $0.network = newValue } }
  }

  /// Decides each request from the next one on; `nil` leaves them to the draws.
  package func setHook(_ hook: Hook?) {
    state.withLock { $0.hook = hook }
  }

  /// Serves the one request of `client`; `withServer` lends a connection to the server, if it can.
  func serve(
    _ client: TCPSocket, withServer: ((TCPSocket) -> WireMessage?) -> WireMessage?
  ) {
    defer { client.hangUp() }
    let limit = network.messageByteCount
    let read = WireMessage(.request, from: client, byteLimit: limit) { head in
      guard head.header("Expect") != nil else { return }
      client.send("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    }
    guard let read, let request = note(read) else { return }
    if isOffline { return count { $0.refusedOffline += 1 } }
    if let fixedAnswer { return relay(WireMessage(fixedAnswer), to: client) }
    let verdict = state.withLock { $0.hook }?(request) ?? .draw
    if verdict == .loseRequest || (verdict == .draw && drawLoss()) {
      return count { $0.requestsLost += 1 }
    }
    var forwarded = read
    forwarded.endConnection()
    let answer = withServer { server in
      server.send(forwarded.bytes)
      return WireMessage(.answer, from: server, byteLimit: limit)
    }
    guard let answer else { return count { $0.upstreamFailures += 1 } }
    deliver(answer, to: request, on: client, verdict)
  }

  private func deliver(
    _ answer: WireMessage, to request: ProxiedRequest, on client: TCPSocket,
    _ verdict: ProxyVerdict
  ) {
    let isLost = verdict == .draw ? drawLoss() : verdict == .loseReply || verdict == .cutReply
    let isAbandoned = !isLost && client.isAbandoned
    let hasActed = request.method == "POST" && answer.status < 500
    let isPush = request.path.prefix { $0 != "?" } == network.pushPath
    count { counters in
      counters.repliesLost += isLost ? 1 : 0
      counters.repliesAbandoned += isAbandoned ? 1 : 0
      guard (isLost || isAbandoned) && hasActed else { return }
      counters.repliesLostAfterActing += 1
      counters.pushRepliesLostAfterActing += isPush ? 1 : 0
    }
    if isAbandoned { return }
    if !isLost { return relay(answer, to: client) }
    if verdict == .cutReply || (verdict == .draw && drawCut()) {
      cut(answer, to: client)
    }
  }

  /// Sends the head and half of the body. Never less: `URLSession` on Linux ends the process when a
  /// connection ends inside an answer's head (swift-corelibs-foundation, issue 5285).
  private func cut(_ answer: WireMessage, to client: TCPSocket) {
    guard !answer.body.isEmpty else { return }
    send(answer.bytes.dropLast((answer.body.count + 1) / 2), to: client)
  }

  private func relay(_ answer: WireMessage, to client: TCPSocket) {
    var answer = answer
    answer.endConnection()
    send(answer.bytes, to: client)
  }

  private func send(_ bytes: some Collection<UInt8>, to client: TCPSocket) {
    // Counted first: whoever has the answer finds it counted.
    count { $0.bytesDown += bytes.count }
    client.send(bytes)
  }

  private func note(_ message: WireMessage) -> ProxiedRequest? {
    let parts = message.startLine.split(separator: " ")
    guard parts.count == 3 else { return nil }
    let number = state.withLock { state in
      defer { state.counters.requests += 1 }
      state.counters.bytesUp += message.headByteCount + message.body.count
      return state.counters.requests
    }
    return ProxiedRequest(
      device: name, number: number, method: String(parts[0]), path: String(parts[1]),
      body: message.body)
  }

  private func count(_ change: (inout ProxyCounters) -> Void) {
    state.withLock { change(&$0.counters) }
  }

  private func drawLoss() -> Bool {
    state.withLock { Self.draw($0.network.loss, &$0.generator) }
  }

  private func drawCut() -> Bool {
    state.withLock { state in
      state.network.cutShare > 0 && Self.draw(state.network.cutShare, &state.generator)
    }
  }

  /// True with this chance: the generator's upper 53 bits are below it, as a fraction of one.
  private static func draw(
    _ chance: Double, _ generator: inout any RandomNumberGenerator & Sendable
  ) -> Bool {
    Double(generator.next() >> 11) * 0x1p-53 < chance
  }
}

extension WireMessage {
  fileprivate init(_ answer: FixedAnswer) {
    self.init(
      startLine: "HTTP/1.1 \(answer.status) OK",
      headers: [
        ("Content-Type", answer.contentType), ("Content-Length", "\(answer.body.count)"),
      ], body: answer.body)
  }
}
