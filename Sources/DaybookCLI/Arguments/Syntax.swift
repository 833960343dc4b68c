/// What a command is called, takes and ends with: enough to parse its arguments and to write its
/// help.
struct Syntax: Sendable {
  /// One word, or two for a command of a family: `dump`, `simulate lossy`.
  let name: String
  /// What it does, in one line without a full stop.
  let summary: String
  /// Paragraphs of help below the summary.
  var detail: [String] = []
  /// Positional ones in order, then options in the order help shows them.
  var parameters: [any AnyParameter] = []
  var examples: [Example] = []
  /// The statuses that the command may end with beside `done`, `usage` and `interrupted`.
  var statuses: [ExitStatus] = []
  /// Not listed in help: a command that the program gives itself.
  var isHidden = false

  /// A command line that works, and what it does.
  struct Example: Sendable {
    let line: String
    let effect: String

    init(_ line: String, _ effect: String) {
      self.line = line
      self.effect = effect
    }
  }

  /// The words of the name.
  var words: [String] { name.split(separator: " ").map(String.init) }
  var positionals: [any AnyParameter] {
    parameters.filter { $0.role == .argument || $0.role == .remaining }
  }
  var options: [any AnyParameter] {
    parameters.filter { $0.role == .flag || $0.role == .option }
  }
}

/// One command of the program. A command is one file in `Commands/`, listed in
/// `CommandTable.swift`.
protocol Command: Sendable {
  static var syntax: Syntax { get }

  /// Does it and says how it ended.
  ///
  /// Cancelled by Ctrl-C, SIGTERM or a closed standard output: close what is open, then throw
  /// `CancellationError` or return the status that is true. Throw a ``Failure``, or an error that
  /// is ``Explained``.
  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus
}
