import CMicrohttpd

/// What the library's callbacks work with; lives as long as the library's daemon.
final class ServerCore: Sendable {
  let limits: HTTPLimits
  let refusalHeaders: [(name: String, value: String)]
  let handler: @Sendable (ServerRequest) async -> ServerResponse
  let registry = RequestRegistry()

  init(
    limits: HTTPLimits, refusalHeaders: [(name: String, value: String)],
    handler: @escaping @Sendable (ServerRequest) async -> ServerResponse
  ) {
    self.limits = limits
    self.refusalHeaders = refusalHeaders
    self.handler = handler
  }
}

/// The shape of `openRequest`, which the library takes as an untyped option.
typealias OpenCallback =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
  ) -> UnsafeMutableRawPointer?

/// The shape of `completeRequest`, likewise.
typealias CompleteCallback =
  @convention(c) (
    UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    MHD_RequestTerminationCode
  ) -> Void

// The callbacks run on the library's thread. They are global functions outside of a main file,
// because a function there belongs to the main actor and traps on any other thread.

/// The request line was read: makes the request's context, which `completeRequest` releases.
func openRequest(
  core: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let core, let target else { return nil }
  let server = Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue()
  let context = RequestContext(
    target: String(cString: target), limits: server.limits,
    refusalHeaders: server.refusalHeaders)
  return Unmanaged.passRetained(context).toOpaque()
}

/// Called with the head, then with each piece of the body, then when the body is whole, then again
/// when the connection was resumed.
func continueRequest(
  core: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, piece: UnsafePointer<CChar>?,
  pieceByteCount: UnsafeMutablePointer<Int>?,
  context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let core, let connection, let method, let pieceByteCount, let opaque = context?.pointee
  else { return .NO }
  let server = Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue()
  let context = Unmanaged<RequestContext>.fromOpaque(opaque).takeUnretainedValue()
  let step: RequestContext.Step
  if context.isOpened {
    step = context.begin(
      method: String(cString: method), headers: headers(of: connection),
      isStopping: server.registry.isStopping)
  } else if pieceByteCount.pointee > 0 {
    step = context.receive(UnsafeRawBufferPointer(start: piece, count: pieceByteCount.pointee))
    pieceByteCount.pointee = 0
  } else {
    step = context.proceed()
  }
  switch step {
  case .read:
    return .YES
  case .close:
    return .NO
  case .send(let response):
    return queue(response, on: connection, andClose: server.registry.isStopping)
  case .run(let request):
    MHD_suspend_connection(connection)
    run(request, context, SuspendedConnection(pointer: connection), on: server)
    return .YES
  }
}

/// The answer was sent, or the connection ended.
func completeRequest(
  core: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
  guard let core, let opaque = context?.pointee else { return }
  context?.pointee = nil
  let request = Unmanaged<RequestContext>.fromOpaque(opaque).takeRetainedValue()
  Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue().registry.end(request)
}

/// A connection that the library keeps as it is until it is resumed, by whatever thread.
private struct SuspendedConnection: @unchecked Sendable {
  let pointer: OpaquePointer
}

private func run(
  _ request: ServerRequest, _ context: RequestContext, _ connection: SuspendedConnection,
  on server: ServerCore
) {
  server.registry.begin(context)
  context.attach(
    Task.detached {
      context.answer(await server.handler(request))
      MHD_resume_connection(connection.pointer)
      server.registry.endHandler()
    })
}

private func queue(
  _ response: ServerResponse, on connection: OpaquePointer, andClose: Bool
) -> MHD_Result {
  let message = response.body.withUnsafeBytes { bytes in
    MHD_create_response_from_buffer(
      bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
  }
  guard let message else { return .NO }
  defer { MHD_destroy_response(message) }
  for (name, value) in response.headers {
    _ = MHD_add_response_header(message, name, value)
  }
  if andClose { _ = MHD_add_response_header(message, "Connection", "close") }
  return MHD_queue_response(connection, UInt32(clamping: response.status), message)
}

private func headers(of connection: OpaquePointer) -> [(name: String, value: String)] {
  var headers: [(name: String, value: String)] = []
  withUnsafeMutablePointer(to: &headers) { pointer in
    _ = MHD_get_connection_values(connection, .HEADER_KIND, appendHeader, pointer)
  }
  return headers
}

private func appendHeader(
  headers: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
  value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let headers, let name else { return .NO }
  let pair = (name: String(cString: name), value: value.map { String(cString: $0) } ?? "")
  headers.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(pair)
  return .YES
}
