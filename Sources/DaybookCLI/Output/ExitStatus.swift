/// How a command ended, as a shell sees it. The numbers never change.
enum ExitStatus: Int32, Sendable, CaseIterable, Comparable {
  case done = 0
  case checkFailed = 1
  case usage = 2
  case tornTail = 10
  case newerFormat = 11
  case damaged = 12
  case locked = 13
  case notALog = 14
  case inputOutput = 15
  case diskFull = 16
  case schema = 17
  case serverNotReached = 18
  case notOurServer = 19
  case interrupted = 130

  /// What it means, as help and docs say it.
  var meaning: String {
    switch self {
    case .done: return "done and whole"
    case .checkFailed: return "a check failed"
    case .usage: return "the command line was not understood"
    case .tornTail: return "whole but for a torn tail"
    case .newerFormat: return "written by a newer version of the format"
    case .damaged: return "damaged"
    case .locked: return "locked by another process"
    case .notALog: return "not a log"
    case .inputOutput: return "I/O error or no permission"
    case .diskFull: return "disk full"
    case .schema: return "the schema is not valid or does not fit"
    case .serverNotReached: return "the server was not reached"
    case .notOurServer: return "another server than the log's"
    case .interrupted: return "interrupted"
    }
  }

  static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }

  /// The worse of what two files of one log showed: damaged, then newer format, then torn tail.
  func worse(of other: ExitStatus) -> ExitStatus { max(self, other) }
}
