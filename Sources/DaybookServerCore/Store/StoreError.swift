package import DaybookLog

/// Why a server's data can't be opened, or why nothing more can be written.
package enum StoreError: Error, Sendable, Hashable {
  /// What the log says.
  case log(LogError)
  /// The log is whole, but holds something else than a server's data.
  case notAServer(path: String)
  /// The change at `sequence` of `scope` does not continue the one before it.
  case discontinuous(scope: String, sequence: UInt64)
  /// The store was closed.
  case closed

  /// What it means for whoever runs the server.
  package enum Kind: Sendable, Hashable {
    case damaged, newerFormat, locked, notALog, diskFull, inputOutput, closed
  }

  /// What it means for whoever runs the server.
  package var kind: Kind {
    switch self {
    case .notAServer: return .notALog
    case .discontinuous: return .damaged
    case .closed: return .closed
    case .log(let error):
      switch error {
      case .damaged, .unreadableEntry: return .damaged
      case .newerFormat, .readOnlyFormat: return .newerFormat
      case .locked: return .locked
      case .notADirectory, .notALog, .otherAccount: return .notALog
      case .diskFull: return .diskFull
      case .notWritten(let cause), .outcomeUnknown(let cause), .inputOutput(let cause):
        return cause.reason == .diskFull ? .diskFull : .inputOutput
      case .notFound, .notPermitted, .tooLarge, .noSuchStream, .numbersUsedUp:
        return .inputOutput
      case .writtenByOther: return .locked
      case .closed, .suspended: return .closed
      }
    }
  }

  /// What happened: a clause that begins small and has no full stop. Names files and bytes, and
  /// never the contents of a record.
  package var problem: String {
    switch self {
    case .notAServer(let path): return "\(path) holds the log of a device, not a server's data"
    case .discontinuous(let scope, let sequence):
      return "change \(sequence) of \(scope) does not continue the one before it"
    case .closed: return "the server's data was closed"
    case .log(let error): return StoreError.problem(of: error)
    }
  }

  /// What to do: a whole sentence.
  package var remedy: String {
    switch self {
    case .discontinuous:
      return "This is a defect: nothing was written. Start the server again, and report it."
    case .closed: return "Start the server again."
    case .notAServer: return "Give the server a folder of its own."
    case .log(let error): return StoreError.remedy(for: error)
    }
  }

  private static func problem(of error: LogError) -> String {
    switch error {
    case .notFound(let path): return "there is no \(path)"
    case .notADirectory(let path): return "\(path) is a file, not a folder"
    case .notALog(let path): return "\(path) holds something that is not a log"
    case .otherAccount(let path, _):
      return "\(path) holds the log of a device, not a server's data"
    case .locked(_, let process):
      return
        "the server's data is in use by \(process.map { "process \($0)" } ?? "another process")"
    case .newerFormat(let file, let found, let supported):
      return "the file \(file) has format \(found), and this version reads up to \(supported)"
    case .readOnlyFormat(let file):
      return "the file \(file) has features that this version can't write"
    case .damaged(let finding): return "the server's data is damaged: \(finding.message)"
    case .unreadableEntry(let file, let offset, let stream, let number):
      return "the server's data is damaged: entry \(stream):\(number) in \(file), byte \(offset), "
        + "can't be read"
    case .diskFull(let path): return "the disk of \(path) is full"
    case .notPermitted(let path): return "\(path) can't be read or written by this user"
    case .tooLarge(let byteCount, let limit):
      return "a transaction has \(byteCount) bytes, more than \(limit)"
    case .noSuchStream(let name): return "the log has no stream \(name)"
    case .closed: return "the log was closed"
    case .suspended: return "the log is suspended"
    case .numbersUsedUp(let stream): return "the stream \(stream) has no numbers left"
    case .writtenByOther(let path): return "somebody else has written \(path)"
    case .notWritten(let cause), .outcomeUnknown(let cause), .inputOutput(let cause):
      let reason = cause.reason == .diskFull ? ": the disk is full" : ""
      return "\(cause.call.rawValue) failed on \(cause.path)\(reason)"
    }
  }

  private static func remedy(for error: LogError) -> String {
    switch error {
    case .notFound: return "Make the folder above it first, or check the path."
    case .notADirectory, .notALog, .otherAccount: return "Give the server a folder of its own."
    case .locked, .writtenByOther: return "Stop that server first, or serve another folder."
    case .newerFormat, .readOnlyFormat: return "Update this program; the data is as it was."
    case .damaged, .unreadableEntry:
      return
        "Nothing was changed. Run `daybook verify` on the folder to see all of it, and restore "
        + "the folder from a backup."
    case .diskFull: return "Free some space and start the server again; what it answered is safe."
    case .notPermitted: return "Give this user the right to write there, or choose another folder."
    case .notWritten(let cause), .outcomeUnknown(let cause), .inputOutput(let cause):
      return cause.reason == .diskFull
        ? "Free some space and start the server again; what it answered is safe."
        : "Check the disk, then start the server again; what it answered is safe."
    case .tooLarge, .noSuchStream, .numbersUsedUp, .closed, .suspended:
      return "Start the server again."
    }
  }
}
