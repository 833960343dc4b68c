import DaybookFormat

/// Why a request is answered with a problem: one of the rules', or one of HTTP's own.
struct EndpointProblem: Error {
  let status: UInt16
  /// CBOR map: "error", "message", and "watermark" where it is given.
  let value: Value

  init(_ problem: ServerProblem) {
    status = problem.status
    value = problem.value
  }

  /// A problem that only HTTP knows.
  init(status: UInt16, error: String, message: String) {
    self.status = status
    value = .map(["error": .text(error), "message": .text(message)])
  }

  /// The request can't be read; `message` says where and what to do.
  static func malformed(_ message: String) -> EndpointProblem {
    EndpointProblem(ServerProblem(.malformed, message))
  }

  /// The request is larger than the server takes.
  static func tooLarge(_ message: String) -> EndpointProblem {
    EndpointProblem(ServerProblem(.tooLarge, message))
  }
}

extension EntryError {
  /// What is wrong with a body, in a sentence without anything of its contents.
  var sentence: String {
    switch self {
    case .member(let name):
      return "The body's member \"\(name)\" is missing or of another type."
    case .truncated(let offset, _, _):
      return "An entry in the body ends too early, at its byte \(offset)."
    case .invalid(let field, let offset):
      return "An entry in the body has no valid \(field.rawValue) at its byte \(offset)."
    case .payload:
      return "An entry in the body holds fields that are not canonical CBOR."
    }
  }
}
