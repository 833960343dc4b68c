import DaybookLog

extension CopyError: Explained {
  var failure: Failure {
    switch self {
    case .sameDirectory(let path):
      return Failure(
        status: .usage, message: "\(path) is the log itself",
        remedy: "Give another directory for the copy, on another disk if you can.")
    case .inside(let path, let log):
      return Failure(
        status: .usage, message: "\(path) lies in the log \(log)",
        remedy: "Give a directory outside of the log, on another disk if you can.")
    case .otherLog(let path):
      return Failure(
        status: .usage, message: "\(path) holds a copy of another log; nothing was changed",
        remedy: "Give each log a directory of its own.")
    case .otherLife(let path, let file):
      return Failure(
        status: .usage,
        message: "\(path) holds another life of this log, or a newer state: see \(file); nothing "
          + "was changed",
        remedy: "Keep it, and give a new directory for this one.")
    case .notEmpty(let path):
      return Failure(
        status: .usage, message: "\(path) is not empty, and holds no copy of this log",
        remedy: "Give a new directory, or an empty one.")
    case .nothingWhole(let path):
      return Failure(
        status: .damaged, message: "\(path) has no segment with a whole header",
        remedy: "Try another copy; `daybook verify \(path)` tells what is wrong with this one.")
    case .noSegment(let path):
      return Failure(
        status: .damaged, message: "\(path) has no segment: there is nothing to copy",
        remedy: "If it is not a log that nothing was ever written to, its files are gone: "
          + "`daybook restore` makes a log of an earlier copy.")
    case .lacksEntries(let path, let stream, let count):
      let noun = count == 1 ? "entry" : "entries"
      return Failure(
        status: .damaged,
        message: "\(path) lacks \(grouped(count)) \(noun) of \(printable(stream)) that are in "
          + "what it was made of",
        remedy: "Keep that as it is, and run `daybook verify` on it; don't rely on the copy.")
    case .hole(let finding, let path):
      return Failure(
        status: .damaged, message: finding.message,
        remedy: "What was compacted can't be cut there: `daybook repair \(path)` saves what can be "
          + "read, and makes a log to restore from.")
    case .notVerified(let path):
      return Failure(
        status: .inputOutput, message: "what was read back from \(path) is not what was written",
        remedy: "The disk can't be trusted: copy to another one. Nothing there was replaced.")
    case .unsteady(let path):
      return Failure(
        status: .inputOutput,
        message: "files of \(path) changed or went away as fast as they were copied",
        remedy: "Run it again: what was copied stays, and only the rest is copied then.")
    case .compacted(let path):
      return Failure(
        status: .usage,
        message: "\(path) was compacted: what it held at that place is not kept any more",
        remedy: "Give a later place, or a copy that was taken before.")
    case .log(let error): return error.failure
    }
  }
}
