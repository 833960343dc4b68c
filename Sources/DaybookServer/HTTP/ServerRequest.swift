/// One whole request, as a handler sees it.
package struct ServerRequest: Sendable {
  /// As the client sent it, usually in capitals: `GET`.
  package var method: String
  /// Where it goes, decoded.
  package var target: RequestTarget
  /// In the client's order, repeated names included.
  package var headers: [(name: String, value: String)]
  /// Whole, at most `HTTPLimits.bodyByteCount` bytes.
  package var body: [UInt8]

  /// A request of these parts.
  package init(
    method: String, target: RequestTarget, headers: [(name: String, value: String)] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  /// The first value of the header called `name`, whatever the case of its letters.
  package func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }

  /// The first value of the query's parameter called exactly `name`.
  package func query(_ name: String) -> String? {
    target.query.first { $0.name == name }?.value
  }
}
