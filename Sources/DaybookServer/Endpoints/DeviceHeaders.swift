import DaybookFormat

/// What a device says about itself with every request. The values are percent-encoded UTF-8, the
/// identifiers in their text form.
struct DeviceHeaders: Sendable, Hashable {
  var account: String
  var device: String
  var incarnation: Identifier
  /// The server that the log belongs to; `nil` before the first contact.
  var serverID: Identifier?

  /// The most bytes of an account's or a device's name, decoded: twice what people use, and far
  /// below what an operation's two bytes of length can say.
  static let nameByteLimit = 512

  init(_ request: ServerRequest) throws(EndpointProblem) {
    account = try Self.required(Wire.accountHeader, Self.name(Wire.accountHeader, in: request))
    device = try Self.required(Wire.deviceHeader, Self.name(Wire.deviceHeader, in: request))
    incarnation = try Self.required(
      Wire.incarnationHeader, Self.identifier(Wire.incarnationHeader, in: request))
    serverID = try Self.identifier(Wire.serverHeader, in: request)
  }

  /// Checks that the headers that were sent say what the body says.
  static func check(
    _ request: ServerRequest, against push: PushRequest
  ) throws(EndpointProblem) {
    if let account = try name(Wire.accountHeader, in: request), account != push.account {
      throw EndpointProblem(
        ServerProblem(
          .wrongAccount, "The body is of another account than the header \(Wire.accountHeader)."))
    }
    if let device = try name(Wire.deviceHeader, in: request), device != push.device {
      throw differs(Wire.deviceHeader)
    }
    if let incarnation = try identifier(Wire.incarnationHeader, in: request),
      incarnation != push.incarnation
    {
      throw differs(Wire.incarnationHeader)
    }
    if let serverID = try identifier(Wire.serverHeader, in: request), serverID != push.serverID {
      throw differs(Wire.serverHeader)
    }
  }

  private static func differs(_ header: String) -> EndpointProblem {
    .malformed("The header \(header) and the body do not name the same.")
  }

  private static func required<Part>(
    _ header: String, _ value: Part?
  ) throws(EndpointProblem) -> Part {
    guard let value else { throw .malformed("The header \(header) is missing.") }
    return value
  }

  private static func name(
    _ header: String, in request: ServerRequest
  ) throws(EndpointProblem) -> String? {
    guard let text = request.header(header) else { return nil }
    guard let name = RequestTarget.decoded(text[...]), !name.isEmpty else {
      throw .malformed("The header \(header) is empty or not percent-encoded UTF-8.")
    }
    guard name.utf8.count <= nameByteLimit else {
      throw .malformed("The header \(header) has more than \(nameByteLimit) bytes.")
    }
    return name
  }

  private static func identifier(
    _ header: String, in request: ServerRequest
  ) throws(EndpointProblem) -> Identifier? {
    guard let text = request.header(header) else { return nil }
    guard let identifier = Identifier(text) else {
      throw .malformed("The header \(header) is not an identifier of 32 hexadecimal digits.")
    }
    return identifier
  }
}
