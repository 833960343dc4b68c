import DaybookFormat

/// `daybook version`: which program this is.
enum VersionCommand: Command {
  /// The version of the package, as its tags name it.
  static let version = "0.1.0"

  static let syntax = Syntax(
    name: "version",
    summary: "print the version",
    parameters: [CommonParameter.json],
    examples: [.init("daybook --version", "the same")])

  static func run(_ arguments: Arguments, _ output: Output) -> ExitStatus {
    if arguments[CommonParameter.json] {
      var object = JSONObject()
      object.set("version", version)
      output.object(object)
    } else {
      output.line("daybook \(version)")
    }
    return .done
  }
}
