/// One request to the server, relative to a transport's base address.
package struct HTTPRequest: Sendable {
  /// The method, in capitals: `GET`, `POST`.
  package var method: String
  /// Begins with `/`, is percent-encoded where needed, and includes the query:
  /// `/v1/changes?limit=5`.
  package var path: String
  /// Sent in this order; a transport adds the ones that frame the message.
  package var headers: [(name: String, value: String)]
  /// Sent whole with a `Content-Length`; empty means no body.
  package var body: [UInt8]

  /// A request of these parts, checked when it is sent.
  package init(
    method: String, path: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }
}

/// A whole answer, whatever its status: a redirect and a 500 are answers, not errors.
package struct HTTPResponse: Sendable {
  /// 100 to 599.
  package var status: Int
  /// In alphabetical order of the names; a name that the server repeated appears once, joined.
  package var headers: [(name: String, value: String)]
  /// At most as long as the transport's limit.
  package var body: [UInt8]

  /// An answer of these parts.
  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the header called `name`, whatever the case of its letters; `nil` without one.
  package func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}
