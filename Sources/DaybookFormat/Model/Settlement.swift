/// The server's verdict on one operation, made in the transaction of its effect and repeated
/// verbatim.
public struct Settlement: Sendable, Hashable {
  /// What the server decided.
  public enum Verdict: Sendable, Hashable {
    /// The operation took effect.
    case accepted(Acceptance)
    /// Two versions stand against each other; `resolve` decides.
    case conflict(Refusal)
    /// A rule forbids it; the operation is kept as a draft.
    case refused(Refusal)
    /// The server no longer knows whether it was applied; the operation is kept as a draft.
    case tooOld(Refusal)
  }

  /// Where in the server's history an operation took effect, and what the server added.
  public struct Acceptance: Sendable, Hashable {
    /// The scope.
    public let scope: String
    /// The sequence number in the scope.
    public let sequence: UInt64
    /// The record's version afterwards; its mark is the scope's at ``sequence``.
    public let version: Version
    /// The fields that the server set beside those asked for.
    public let assigned: ValueMap

    /// The acceptance at `sequence` of `scope`.
    public init(scope: String, sequence: UInt64, version: Version, assigned: ValueMap = [:]) {
      self.scope = scope
      self.sequence = sequence
      self.version = version
      self.assigned = assigned
    }
  }

  /// Why an operation did not take effect, and what stands in its place.
  public struct Refusal: Sendable, Hashable {
    /// The reason, for programs.
    public let code: RefusalCode
    /// The reason in a sentence, without the contents of any field.
    public let message: String
    /// The record's version when it was refused, if it has ever been there.
    public let currentVersion: Version?
    /// The record's row then; `nil` if it is not there.
    public let currentRow: ValueMap?

    /// A refusal for `code`.
    public init(
      code: RefusalCode, message: String, currentVersion: Version? = nil,
      currentRow: ValueMap? = nil
    ) {
      self.code = code
      self.message = message
      self.currentVersion = currentVersion
      self.currentRow = currentRow
    }
  }

  /// The operation.
  public let operationID: Identifier
  /// The server's clock at the verdict.
  public let serverTime: Timestamp
  /// The decision.
  public let verdict: Verdict

  /// The verdict on `operationID`.
  public init(operationID: Identifier, serverTime: Timestamp, verdict: Verdict) {
    self.operationID = operationID
    self.serverTime = serverTime
    self.verdict = verdict
  }

  /// The acceptance, if the operation took effect.
  public var acceptance: Acceptance? {
    if case .accepted(let acceptance) = verdict { return acceptance }
    return nil
  }

  /// The reason, if the operation did not take effect.
  public var refusal: Refusal? {
    switch verdict {
    case .accepted: return nil
    case .conflict(let refusal), .refused(let refusal), .tooOld(let refusal): return refusal
    }
  }

  /// The verdict in a word: `accepted`, `conflict`, `refused` or `tooOld`.
  public var verdictName: String {
    switch verdict {
    case .accepted: return "accepted"
    case .conflict: return "conflict"
    case .refused: return "refused"
    case .tooOld: return "tooOld"
    }
  }
}

/// Why an operation was refused. A server may know more reasons than this version.
public struct RefusalCode: RawRepresentable, Sendable, Hashable {
  /// The code as it is stored and sent.
  public let rawValue: String

  /// The reason `rawValue`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The record has changed since the version that the author had before them.
  public static let staleBase = RefusalCode(rawValue: "stale-base")
  /// The record's state does not allow it.
  public static let stateRule = RefusalCode(rawValue: "state-rule")
  /// There is no such record.
  public static let unknownRecord = RefusalCode(rawValue: "unknown-record")
  /// The record has been deleted.
  public static let deletedRecord = RefusalCode(rawValue: "deleted-record")
  /// There is a record of this id already.
  public static let recordExists = RefusalCode(rawValue: "record-exists")
  /// A field refers to a record that is not there.
  public static let missingReference = RefusalCode(rawValue: "missing-reference")
  /// The operation or a field of it does not fit the schema.
  public static let schemaMismatch = RefusalCode(rawValue: "schema-mismatch")
  /// The record belongs to another scope, or the account may not write to this one.
  public static let wrongScope = RefusalCode(rawValue: "wrong-scope")
  /// Another member of the transaction was refused.
  public static let transaction = RefusalCode(rawValue: "transaction")
  /// The operation whose result it was based on was refused.
  public static let baseRefused = RefusalCode(rawValue: "base-refused")
  /// Another operation took its place before it arrived.
  public static let superseded = RefusalCode(rawValue: "superseded")
  /// The device gave it up before it arrived.
  public static let withdrawn = RefusalCode(rawValue: "withdrawn")
  /// It supersedes an operation that had been accepted after all.
  public static let wasAccepted = RefusalCode(rawValue: "was-accepted")
  /// It lies below the device's watermark, so the server can't tell whether it was applied.
  public static let belowWatermark = RefusalCode(rawValue: "below-watermark")
}
