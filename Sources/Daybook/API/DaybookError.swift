public import DaybookFormat

/// What went wrong, for a program and for a person.
///
/// The message never holds the contents of a field. Compare ``code``, not the message.
public struct DaybookError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The directory is there and holds something else.
    case notALog
    /// Another process, or another part of this one, has the log open.
    case locked
    /// A newer version of Daybook wrote it.
    case newerFormat
    /// The log belongs to another account.
    case otherAccount
    /// Bytes of the log fail their checks, and opening was strict.
    case damaged
    /// The disk is full; nothing that was acknowledged is lost.
    case diskFull
    /// No permission, or a read-only disk.
    case notPermitted
    /// Another failure of the disk.
    case inputOutput
    /// The write was not stored: its operations do not exist.
    case notWritten
    /// The disk did not say whether the write is stored; the next open tells.
    case outcomeUnknown
    /// The value does not fit the schema.
    case schema
    /// The record is not there.
    case noSuchRecord
    /// There is a record of this id already.
    case recordExists
    /// The records of one write are in more than one scope.
    case severalScopes
    /// The write has more operations or bytes than one transaction may.
    case tooLarge
    /// The draft or dead letter is no longer there.
    case alreadyDecided
    /// The store has been closed.
    case closed
    /// The store is suspended: resume it first.
    case suspended
    /// Another process wrote to the log while it was suspended or its lock was taken away: open it
    /// anew.
    case writtenByOther
    /// The server's address can't be used.
    case invalidAddress
    /// A stored row does not fit the app's type.
    case notDecodable
  }

  /// The kind of failure.
  public let code: Code
  /// What happened and what to do, in a sentence or two.
  public let message: String
  /// The operations that the failure is about, if any.
  public internal(set) var operationIDs: [Identifier]
  /// The error of a lower part, if there is one.
  public let cause: (any Error)?

  /// A failure of this kind.
  public init(
    _ code: Code, _ message: String, operationIDs: [Identifier] = [], cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.operationIDs = operationIDs
    self.cause = cause
  }

  /// The message with its code.
  public var description: String { "\(message) (\(code.rawValue))" }
}

extension DaybookError.Code {
  /// Lets a `catch` clause name a code: `catch DaybookError.Code.locked`.
  public static func ~= (code: DaybookError.Code, error: any Error) -> Bool {
    (error as? DaybookError)?.code == code
  }
}
