package import DaybookFormat
import DaybookServerCore
package import DaybookSync

/// The way between devices and a server, on which each call meets the fate that a script gives it.
///
/// Messages go through their bytes, so that what a device says is what the server hears. Not safe
/// to share: a simulation is one task.
package final class SimulatedNetwork {
  /// What becomes of one call.
  package enum Fate: Sendable, Hashable {
    /// The server acts and its answer arrives.
    case deliver
    /// The server never hears of it.
    case loseRequest
    /// The server acts and its answer is lost.
    case loseReply
    /// The server acts; the answer to this push stays under way until the device asks for it.
    case holdReply
    /// Something answers in the server's place, which never hears of it.
    case answer(SyncFailure)
  }

  /// One call of a device.
  package struct Call: Sendable, Hashable {
    /// What is called.
    package enum Kind: Sendable, Hashable { case push, changes, rows }

    /// What is called.
    package let kind: Kind
    /// The device that calls.
    package let device: String
    /// The operations of a push, in order.
    package let operationIDs: [Identifier]
    /// The operations that a push withdraws.
    package let withdrawals: [Identifier]
  }

  /// What a device gets for a call.
  package enum Answer<Message: Sendable>: Sendable {
    case reply(Message)
    case failure(SyncFailure)
    case held(Message)
  }

  /// The server at the other end.
  package let server: SimulatedServer
  /// Decides the fate of each call, in the order in which they are made.
  package var fate: (Call) -> Fate = { _ in .deliver }
  /// Every call so far.
  package private(set) var calls: [Call] = []
  /// Stands in for a client that sends other operations than it keeps; `nil` sends what is kept.
  package var translation: (any PushTranslation)?

  /// A network in front of `server` that delivers everything.
  package init(_ server: SimulatedServer) { self.server = server }

  /// The pushes so far.
  package var pushCount: Int { calls.count { $0.kind == .push } }

  func push(_ request: PushRequest) async -> Answer<PushReply> {
    let call = Call(
      kind: .push, device: request.device, operationIDs: request.items.map(\.operation.id),
      withdrawals: request.withdrawals.map(\.operationID))
    return await run(call) { () async throws in
      let sent = self.translation?.translate(request) ?? request
      let heard = try PushRequest(value: Self.carry(sent.value))
      let reply = try await self.server.engine.push(heard)
      let told = try PushReply(value: Self.carry(reply.value))
      return self.translation?.translate(told) ?? told
    }
  }

  func changes(_ request: ChangesRequest) async -> Answer<ChangesPage> {
    let call = Call(kind: .changes, device: request.device, operationIDs: [], withdrawals: [])
    return await run(call) { () async throws in
      let page = try await self.server.engine.changes(request)
      return try ChangesPage(value: Self.carry(page.value))
    }
  }

  func rows(_ request: BootstrapRequest) async -> Answer<BootstrapPage> {
    let call = Call(kind: .rows, device: request.device, operationIDs: [], withdrawals: [])
    return await run(call) { () async throws in
      let page = try await self.server.engine.bootstrap(request)
      return try BootstrapPage(value: Self.carry(page.value))
    }
  }

  private func run<Message: Sendable>(
    _ call: Call, _ body: () async throws -> Message
  ) async -> Answer<Message> {
    calls.append(call)
    let fate = fate(call)
    switch fate {
    case .loseRequest: return .failure(.unreachable(reason: "the request was lost"))
    case .answer(let failure): return .failure(failure)
    case .deliver, .loseReply, .holdReply: break
    }
    let message: Message
    do {
      message = try await body()
    } catch let problem as ServerProblem {
      if fate == .loseReply { return .failure(.unreachable(reason: "the reply was lost")) }
      return .failure(
        .status(problem.status, retryAfterSeconds: nil, problem: problem))
    } catch {
      return .failure(.status(400, retryAfterSeconds: nil, problem: nil))
    }
    switch fate {
    case .loseReply: return .failure(.unreachable(reason: "the reply was lost"))
    case .holdReply: return .held(message)
    default: return .reply(message)
    }
  }

  private static func carry(_ value: Value) throws -> Value {
    try CBORDecoder.decode(CBOREncoder.encode(value)[...], mode: .canonical)
  }
}

/// Turns what a device sends into what another kind of client would send, and the answer back.
package protocol PushTranslation: AnyObject {
  /// The batch as the server is to see it.
  func translate(_ request: PushRequest) -> PushRequest
  /// The answer as the device is to see it.
  func translate(_ reply: PushReply) -> PushReply
}
