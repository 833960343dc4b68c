/// `daybook help`: the list of commands, or one command's help.
enum HelpCommand: Command {
  static let words = Parameter.remaining("COMMAND", help: "the command to explain")

  static let syntax = Syntax(
    name: "help",
    summary: "list the commands, or explain one",
    parameters: [words],
    examples: [.init("daybook help version", "the same as `daybook version --help`")])

  static func run(_ arguments: Arguments, _ output: Output) throws -> ExitStatus {
    let words = arguments[Self.words]
    guard let first = words.first else {
      let title = "daybook: an offline-first sync engine on an append-only log, and its tools"
      output.write(HelpText.text(of: CommandTable.listed, title: title))
      return .done
    }
    let family = CommandTable.members(of: first)
    if words.count == 1, !family.isEmpty {
      output.write(HelpText.text(of: family, title: "daybook \(first): a family of commands"))
      return .done
    }
    do throws(ArgumentError) {
      let found = try CommandTable.command(of: words)
      output.write(HelpText.text(of: found.command.syntax))
    } catch {
      throw Failure(error, command: "")
    }
    return .done
  }
}
