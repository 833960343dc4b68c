import CMicrohttpd
import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// An HTTP/1.1 server over libmicrohttpd: one thread of its own for all connections, and a handler
/// that runs as a detached task for each request while its connection is suspended.
///
///     idle ──start──▶ running ──stop──▶ stopped
///
/// A running server must be stopped: its thread and port live until then, whoever lets go of it. A
/// request that never reaches the handler is answered here: 400 for a path that can't be decoded or
/// a body without one clear length, 413, 431, and 503 while stopping, with a small JSON body. What
/// is not HTTP at all is answered 400 by the library, in HTML.
package final class HTTPServer: Sendable {
  private struct Daemon: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Keeps the core alive for the callbacks; balanced by `stop`.
    let core: Unmanaged<ServerCore>
    let socket: ListeningSocket
  }

  private enum State {
    case idle
    case running(Daemon)
    case stopped
  }

  private let requestedPort: UInt16
  private let address: String
  private let core: ServerCore
  private let state = Mutex(State.idle)

  /// A server that is not listening yet. Port 0 takes any free one; `address` is numeric, and the
  /// default reaches this machine alone. `refusalHeaders` go on what is answered without `handler`.
  ///
  /// `handler` is called for each whole request, for many at once, on Swift's cooperative pool, so
  /// it must not block. Its task is cancelled only when `stop` has waited for `limits.stopGrace`.
  package init(
    port: UInt16 = 0, address: String = "127.0.0.1", limits: HTTPLimits = HTTPLimits(),
    refusalHeaders: [(name: String, value: String)] = [],
    handler: @escaping @Sendable (ServerRequest) async -> ServerResponse
  ) {
    requestedPort = port
    self.address = address
    core = ServerCore(limits: limits, refusalHeaders: refusalHeaders, handler: handler)
  }

  /// The real port while it is running, else the one it was made with.
  package var port: UInt16 {
    state.withLock { state in
      if case .running(let daemon) = state { daemon.socket.port } else { requestedPort }
    }
  }

  /// Listens: on return, connections are accepted. From here on the process ignores SIGPIPE.
  package func start() throws(ServerError) {
    try state.withLock { (state) throws(ServerError) in
      guard case .idle = state else { throw .alreadyStarted }
      let socket = try ListeningSocket(address: address, port: requestedPort)
      signal(SIGPIPE, SIG_IGN)
      let retained = Unmanaged.passRetained(core)
      guard let pointer = startDaemon(socket, core: retained.toOpaque()) else {
        retained.release()
        _ = close(socket.descriptor)
        throw .notStarted
      }
      state = .running(Daemon(pointer: pointer, core: retained, socket: socket))
    }
  }

  /// Stops listening, lets the requests under way be answered, and closes every connection.
  ///
  /// After `limits.stopGrace` the tasks of the handlers that still run are cancelled; a handler
  /// that does not end then keeps this call waiting. A client that is still sending is cut off. A
  /// second call returns at once.
  package func stop() async {
    let daemon = state.withLock { state -> Daemon? in
      guard case .running(let daemon) = state else { return nil }
      state = .stopped
      return daemon
    }
    guard let daemon else { return }
    core.registry.stopAccepting()
    MHD_quiesce_daemon(daemon.pointer)
    await core.registry.waitUntilSent(grace: core.limits.stopGrace)
    core.registry.cancelHandlers()
    // The library aborts the process if a connection is still suspended when it stops.
    await core.registry.waitUntilHandlersEnd()
    await withCheckedContinuation { continuation in
      // It waits for its thread, which must not block Swift's cooperative pool; and a queue of its
      // own gets a thread at once, however many of the global queue's are blocked.
      DispatchQueue(label: "HTTPServer.stop").async {
        MHD_stop_daemon(daemon.pointer)
        continuation.resume()
      }
    }
    // A quiesced daemon leaves its socket to us, and may use it until it has stopped.
    _ = close(daemon.socket.descriptor)
    daemon.core.release()
  }

  private func startDaemon(
    _ socket: ListeningSocket, core opaque: UnsafeMutableRawPointer
  ) -> OpaquePointer? {
    let limits = core.limits
    let open: OpenCallback = openRequest
    let complete: CompleteCallback = completeRequest
    var options = [
      option(.LISTEN_SOCKET, Int(socket.descriptor)),
      option(.CONNECTION_MEMORY_LIMIT, limits.headerByteCount * 2),
      option(.CONNECTION_LIMIT, limits.connectionCount),
      option(.CONNECTION_TIMEOUT, limits.idleSeconds),
      option(.STRICT_FOR_CLIENT, 1),
      option(.SIGPIPE_HANDLED_BY_APP, 1),
      option(.URI_LOG_CALLBACK, unsafeBitCast(open, to: Int.self), opaque),
      option(.NOTIFY_COMPLETED, unsafeBitCast(complete, to: Int.self), opaque),
      option(.END, 0),
    ]
    #if os(Linux) || os(Android)
      let polling = MHD_USE_EPOLL_INTERNAL_THREAD
    #else
      let polling = MHD_USE_AUTO_INTERNAL_THREAD
    #endif
    let flags = polling.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ITC.rawValue
    return options.withUnsafeMutableBufferPointer { buffer in
      guard let list = buffer.baseAddress else { return nil }
      return withVaList([
        Int32(MHD_OPTION.ARRAY.rawValue), list, Int32(MHD_OPTION.END.rawValue),
      ]) { arguments in
        MHD_start_daemon_va(flags, 0, nil, nil, continueRequest, opaque, arguments)
      }
    }
  }

  private func option(
    _ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil
  ) -> MHD_OptionItem {
    MHD_OptionItem(option: option, value: value, ptr_value: pointer)
  }
}
