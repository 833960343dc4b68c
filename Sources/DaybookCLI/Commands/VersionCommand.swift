/// `daybook version`: which program this is.
enum VersionCommand: Command {
  /// The version of the package, as its tags name it.
  static let version = "0.1.0"

  static let syntax = Syntax(
    name: "version",
    summary: "print the version",
    examples: [.init("daybook --version", "the same")])

  static func run(_ arguments: Arguments, _ output: Output) -> ExitStatus {
    output.line("daybook \(version)")
    return .done
  }
}
