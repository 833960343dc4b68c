/// One thing a server can be asked: a method, a path, and what answers.
package struct Route: Sendable {
  /// What a path gave for the `{names}` of its pattern.
  package typealias Parameters = [String: String]

  let method: String
  let pattern: [String]
  let handler: @Sendable (ServerRequest, Parameters) async -> ServerResponse

  /// A route for `method` (in capitals) and paths like `/v1/orders/{id}`, where a part in braces
  /// stands for any one part that is not empty.
  package init(
    _ method: String, _ path: String,
    handler: @escaping @Sendable (ServerRequest, Parameters) async -> ServerResponse
  ) {
    self.method = method
    pattern = path.split(separator: "/").map(String.init)
    self.handler = handler
  }

  /// The parameters when the path fits, else `nil`.
  func match(_ segments: [String]) -> Parameters? {
    guard segments.count == pattern.count else { return nil }
    var parameters: Parameters = [:]
    for (part, segment) in zip(pattern, segments) {
      if part.hasPrefix("{"), part.hasSuffix("}"), !segment.isEmpty {
        parameters[String(part.dropFirst().dropLast())] = segment
      } else if part != segment {
        return nil
      }
    }
    return parameters
  }
}

/// Finds the route of a request; the first that fits answers.
package struct Router: Sendable {
  private let routes: [Route]

  /// A router that tries `routes` in this order.
  package init(_ routes: [Route]) {
    self.routes = routes
  }

  /// The route's answer; 404 for a path that no route has, 405 with `Allow` for a method that the
  /// routes of this path do not have.
  package func respond(to request: ServerRequest) async -> ServerResponse {
    var allowed: [String] = []
    for route in routes {
      guard let parameters = route.match(request.target.segments) else { continue }
      if route.method == request.method { return await route.handler(request, parameters) }
      if !allowed.contains(route.method) { allowed.append(route.method) }
    }
    guard !allowed.isEmpty else {
      return .failure(404, error: "not-found", message: "Nothing is at \(request.target.path).")
    }
    let methods = allowed.sorted().joined(separator: ", ")
    var response = ServerResponse.failure(
      405, error: "method-not-allowed",
      message: "\(request.target.path) takes \(methods), not \(request.method).")
    response.headers.append(("Allow", methods))
    return response
  }
}
