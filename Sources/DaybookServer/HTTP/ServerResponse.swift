/// A whole answer, as a handler gives it; the server adds the headers that frame it.
package struct ServerResponse: Sendable {
  /// 200 to 599.
  package var status: Int
  /// A header that cannot be sent (a line break in it) is left out.
  package var headers: [(name: String, value: String)]
  /// Sent with a `Content-Length`; the answer to a HEAD leaves it out.
  package var body: [UInt8]

  /// An answer of these parts.
  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer with a body of this media type.
  package init(status: Int, contentType: String, body: [UInt8]) {
    self.init(status: status, headers: [("Content-Type", contentType)], body: body)
  }

  /// `{"error":"...","message":"..."}`: a word for programs and a sentence for people.
  package static func failure(
    _ status: Int, error: String, message: String
  ) -> ServerResponse {
    let text = "{\"error\":\(quoted(error)),\"message\":\(quoted(message))}\n"
    return ServerResponse(status: status, contentType: "application/json", body: Array(text.utf8))
  }

  /// A JSON string (RFC 8259, section 7) of `text`.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\u{0}"..."\u{1F}": quoted += "\u{FFFD}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
