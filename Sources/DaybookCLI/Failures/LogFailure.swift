import DaybookLog

extension LogError: Explained {
  /// The exit status of `Docs/Operating.md`, a sentence, and what to do next.
  var failure: Failure {
    switch self {
    case .notFound(let path):
      return Failure(
        status: .notALog, message: "there is nothing at \(path)",
        remedy: "Check the path: it must lead to the directory of a log.")
    case .notADirectory(let path):
      return Failure(
        status: .notALog, message: "\(path) is a file, and a log is a directory",
        remedy: "Give the directory that holds `FORMAT` and the folders of the streams.")
    case .notALog(let path):
      return Failure(
        status: .notALog, message: "\(path) holds no log",
        remedy: "Give the directory that holds `FORMAT` and the folders of the streams.")
    case .locked(let path, let process):
      let who = process.map { "process \($0)" } ?? "another process"
      return Failure(
        status: .locked, message: "the log at \(path) is open in \(who)",
        remedy: "Close it there first, or use a command that only reads: it needs no lock.")
    case .newerFormat(let file, let found, let supported):
      return Failure(
        status: .newerFormat,
        message: "\(file) has format \(found), and this version reads up to \(supported)",
        remedy: "Use the version of Daybook that wrote it, or a newer one.")
    case .otherAccount(let path, let found):
      return Failure(
        status: .notALog,
        message: "the log at \(path) belongs to the account \(printable(found))",
        remedy: "Open it as that account, or use another directory.")
    case .damaged(let finding):
      return Failure(
        status: .damaged, message: finding.message,
        remedy: "Copy the directory as it is, then run `daybook verify` on it.")
    case .readOnlyFormat(let file):
      return Failure(
        status: .newerFormat, message: "\(file) has features that this version can't write",
        remedy: "Use the version of Daybook that wrote it, or a newer one.")
    case .unreadableEntry(let file, let offset, let stream, let number):
      return Failure(
        status: .damaged,
        message: "\(file), byte \(offset): the entry \(stream):\(number) can't be read",
        remedy: "Copy the directory as it is, then run `daybook verify` on it.")
    case .noSuchStream(let name):
      return Failure(
        status: .usage, message: "the log has no stream `\(printable(name))`",
        remedy: "`daybook stat` shows the streams that it has.")
    case .tooLarge(let byteCount, let limit):
      return Failure(
        status: .inputOutput,
        message: "a write has \(grouped(byteCount)) bytes, and at most \(grouped(limit)) are taken",
        remedy: "Split it: nothing of it was stored.")
    case .numbersUsedUp(let stream):
      return Failure(
        status: .damaged, message: "the stream \(stream) has no numbers left for entries",
        remedy: "Damage may have made one up: run `daybook verify`, then `daybook repair`.")
    case .closed:
      return Failure(
        status: .inputOutput, message: "the log has been closed",
        remedy: "Open it again to go on.")
    case .suspended:
      return Failure(
        status: .inputOutput, message: "the log is suspended", remedy: "Resume it to go on.")
    case .writtenByOther(let path):
      return Failure(
        status: .locked, message: "somebody else has written \(path)",
        remedy: "Run the command again when nobody else has the log open.")
    case .diskFull(let path): return .diskFull(path)
    case .notPermitted(let path): return .notPermitted(path)
    case .inputOutput(let error): return Failure(disk: error)
    case .notWritten(let error):
      return error.reason == .diskFull ? .diskFull(error.path) : Failure(disk: error)
    case .outcomeUnknown(let error): return Failure(disk: error)
    }
  }
}

extension Failure {
  /// The disk of `path` is full.
  static func diskFull(_ path: String) -> Failure {
    Failure(
      status: .diskFull, message: "the disk of \(path) is full",
      remedy: "Free some space and run the command again; what was stored is safe.")
  }

  /// No permission for `path`, or a read-only disk.
  static func notPermitted(_ path: String) -> Failure {
    Failure(
      status: .inputOutput, message: "\(path) may not be read or written",
      remedy: "Check who owns it, its permissions, and whether the disk is read-only.")
  }

  /// A call to the disk that failed.
  init(disk error: FileError) {
    let path = error.path
    switch error.reason {
    case .diskFull: self = .diskFull(path)
    case .permission: self = .notPermitted(path)
    case .readOnly:
      self.init(
        status: .inputOutput, message: "the disk of \(path) is read-only",
        remedy: "Make it writable, or give a place on another disk.")
    case .notFound: self = LogError.notFound(path: path).failure
    case .notADirectory: self = LogError.notADirectory(path: path).failure
    case .locked(let process): self = LogError.locked(path: path, by: process).failure
    case .isADirectory:
      self.init(
        status: .usage, message: "\(path) is a directory, and a file is meant",
        remedy: "Check the path: it must lead to a file.")
    case .exists:
      self.init(
        status: .inputOutput, message: "there is something at \(path) already",
        remedy: "Give another place, or move away what is there.")
    case .other(let number):
      self.init(
        status: .inputOutput, message: "\(path): \(error.call.rawValue) failed (error \(number))",
        remedy: "Check the disk, then run `daybook verify` on the log.")
    }
  }
}

/// `text` as it may stand in a line for people: control characters, which could move a terminal's
/// cursor or break the line, as their numbers: `\u{1b}`.
func printable(_ text: String) -> String {
  var line = ""
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029:
      line += "\\u{\(String(scalar.value, radix: 16))}"
    default: line.unicodeScalars.append(scalar)
    }
  }
  return line
}
