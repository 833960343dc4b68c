package import DaybookServerCore

/// Why a server does not start, or had to stop.
///
/// The message never holds the contents of a record. Compare ``code``, not the message.
public struct SyncServerError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Bytes of the data fail their checks; nothing is served from it, and nothing was changed.
    case damaged
    /// A newer version of Daybook wrote the data.
    case newerFormat
    /// Another server uses the data.
    case locked
    /// The directory holds something else than a server's data.
    case notALog
    /// The disk is full; what was answered is safe.
    case diskFull
    /// No permission, or a failure of the disk or the system.
    case inputOutput
    /// The port or address can't be listened on.
    case notListening
  }

  /// The kind of failure.
  public let code: Code
  /// What happened: a clause that begins small and has no full stop.
  package let problem: String
  /// What to do: a whole sentence.
  package let remedy: String
  /// The error of a lower part.
  public let cause: (any Error)?

  /// What happened and what to do, in two sentences.
  public var message: String {
    "\(problem.prefix(1).uppercased())\(problem.dropFirst()). \(remedy)"
  }

  /// The message with its code.
  public var description: String { "\(message) (\(code.rawValue))" }

  /// The failure of a server's data.
  package init(_ error: StoreError) {
    switch error.kind {
    case .damaged: code = .damaged
    case .newerFormat: code = .newerFormat
    case .locked: code = .locked
    case .notALog: code = .notALog
    case .diskFull: code = .diskFull
    case .inputOutput, .closed: code = .inputOutput
    }
    problem = error.problem
    remedy = error.remedy
    cause = error
  }

  init(_ error: ServerError) {
    code = .notListening
    cause = error
    switch error {
    case .portInUse(let port):
      problem = "another program listens on port \(port)"
      remedy = "Stop it, or choose another port; 0 takes any free one."
    case .notPermitted(let port):
      problem = "this user may not listen on port \(port)"
      remedy = "Choose a port from 1024 on; 0 takes any free one."
    case .addressUnavailable(let address):
      problem = "this machine has no address \(address)"
      remedy = "Give a numeric address of this machine, such as 127.0.0.1."
    case .alreadyStarted:
      problem = "the server was started before"
      remedy = "Make a new one."
    case .systemCall(let name, let number):
      problem = "\(name) failed with error \(number) of the system"
      remedy = "Look that number up in errno(3); often the process has too many open files."
    case .notStarted:
      problem = "the HTTP server did not start"
      remedy = "Raise the limit of open files of this process, and start it again."
    }
  }
}

extension SyncServerError.Code {
  /// Lets a `catch` clause name a code: `catch SyncServerError.Code.locked`.
  public static func ~= (code: SyncServerError.Code, error: any Error) -> Bool {
    (error as? SyncServerError)?.code == code
  }
}
