/// Why a command could not do what it was asked, in words for the person who asked.
struct Failure: Error, Equatable {
  let status: ExitStatus
  /// What happened: one sentence, its first letter small, without a full stop.
  let message: String
  /// What to do next: a whole sentence. It becomes the last line of standard error.
  let remedy: String
}

/// An error that says itself how a command ends because of it.
///
/// Each module's error gets its conformance in `Failures/`, one file per module.
protocol Explained: Error {
  var failure: Failure { get }
}

extension Failure {
  /// The failure that `error` is.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let explained as any Explained: self = explained.failure
    default:
      self.init(
        status: .checkFailed, message: "unexpected error: \(error)",
        remedy: "Please report this with the command line that led to it.")
    }
  }

  /// A command line that was not understood; `command` is the part of it that was.
  init(_ error: ArgumentError, command: String) {
    let help = command.isEmpty ? "daybook --help" : "daybook \(command) --help"
    self.init(
      status: .usage, message: error.message, remedy: "Run `\(help)` to see what it takes.")
  }
}
