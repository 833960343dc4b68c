/// Why the server did not run a request at all. Never a settlement, never stored.
package struct ServerProblem: Error, Sendable, Hashable {
  /// The problem, for programs.
  package enum Code: String, Sendable, CaseIterable {
    /// The request could not be read.
    case malformed
    /// There is no such path.
    case notFound = "not-found"
    /// The path has another method.
    case methodNotAllowed = "method-not-allowed"
    /// The body is larger than the server takes.
    case tooLarge = "too-large"
    /// The log belongs to another server.
    case notOurServer = "not-our-server"
    /// The history that the device knows is not this one's: it was restored.
    case historyChanged = "history-changed"
    /// The cursor is older than the change log.
    case cursorExpired = "cursor-expired"
    /// A second copy of the log has been sending.
    case oldCopy = "old-copy"
    /// The incarnation is not registered: it has never pulled, or was forgotten.
    case incarnationUnknown = "incarnation-forgotten"
    /// An operation was made under another account than the one that sends it.
    case wrongAccount = "wrong-account"
    /// A scope that the account may not read, or that does not exist.
    case unknownScope = "unknown-scope"
    /// The device's schema is newer than the server's.
    case schemaUnknown = "schema-unknown"
    /// The device must send less often.
    case busy
    /// The server could not write; its own log says why.
    case storage
  }

  /// The problem.
  package let code: Code
  /// The problem in a sentence with a remedy.
  package let message: String
  /// The watermark that the server holds, where it helps the device to go on.
  package let watermark: UInt64?

  /// The problem `code`.
  package init(_ code: Code, _ message: String, watermark: UInt64? = nil) {
    self.code = code
    self.message = message
    self.watermark = watermark
  }

  /// The HTTP status that goes with the code.
  package var status: UInt16 {
    switch code {
    case .malformed: return 400
    case .wrongAccount, .unknownScope: return 403
    case .notFound: return 404
    case .methodNotAllowed: return 405
    case .notOurServer, .oldCopy, .incarnationUnknown: return 409
    case .historyChanged, .cursorExpired: return 410
    case .tooLarge: return 413
    case .schemaUnknown: return 503
    case .busy: return 429
    case .storage: return 500
    }
  }

  /// CBOR map: "error", "message", and "watermark" where it is given.
  package var value: Value {
    var map: ValueMap = ["error": .text(code.rawValue), "message": .text(message)]
    if let watermark { map["watermark"] = .unsigned(watermark) }
    return .map(map)
  }

  /// The problem that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init) else { throw .member(name: "error") }
    guard let code = Code(rawValue: try map.text("error")) else { throw .member(name: "error") }
    var watermark: UInt64?
    if map.value["watermark"] != nil { watermark = try map.unsigned("watermark") }
    self.init(code, try map.text("message"), watermark: watermark)
  }
}

/// Names that both ends of the wire use.
package enum Wire {
  /// The content type of the log's own bytes.
  package static let cborType = "application/cbor"
  /// The content type for people and other languages.
  package static let jsonType = "application/json"
  /// The path that takes operations.
  package static let pushPath = "/v1/push"
  /// The path that serves changes.
  package static let changesPath = "/v1/changes"
  /// The path that serves a scope's rows.
  package static let bootstrapPath = "/v1/bootstrap"
  /// The path that tells whether the server is well.
  package static let healthPath = "/v1/health"
  /// On every answer of a Daybook server: its identity. What lacks it is not the server.
  package static let serverHeader = "Daybook-Server"
  /// On every request of a device: the account.
  package static let accountHeader = "Daybook-Account"
  /// On every request of a device: its name.
  package static let deviceHeader = "Daybook-Device"
  /// On every request of a device: the life of its log.
  package static let incarnationHeader = "Daybook-Incarnation"
  /// The most bytes of a push that a server must take.
  package static let pushByteLimit = 8 << 20
  /// The most operations in one push.
  package static let pushOperationLimit = 1_000
}
