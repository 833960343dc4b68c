/// The text of `daybook COMMAND --help`, written from the command's syntax alone.
struct HelpText {
  /// Terminals are this wide at least.
  static let columnCount = 80

  /// Help for one command.
  static func text(of syntax: Syntax) -> String {
    var text = "daybook \(syntax.name): \(syntax.summary)\n\nUsage: \(usage(of: syntax))\n"
    for paragraph in syntax.detail { text += "\n" + wrapped(paragraph, indent: 0) + "\n" }
    if !syntax.positionals.isEmpty {
      text += "\nArguments:\n" + rows(syntax.positionals.map { ($0.placeholder, phrase($0)) })
    }
    let options = syntax.options.map { parameter in
      (
        parameter.role == .flag ? parameter.name : "\(parameter.name) \(parameter.placeholder)",
        phrase(parameter)
      )
    }
    text += "\nOptions:\n" + rows(options + [("--help, -h", "this text")])
    if !syntax.examples.isEmpty {
      text += "\nExamples:\n"
      for example in syntax.examples {
        text += "  \(example.line)\n" + wrapped(example.effect, indent: 6) + "\n"
      }
    }
    let statuses = ([.done, .usage, .interrupted] + syntax.statuses).sorted()
    text += "\nExit status:\n" + rows(statuses.map { ("\($0.rawValue)", $0.meaning) })
    return text
  }

  /// Help for a list of commands; `title` is its first line.
  static func text(of commands: [any Command.Type], title: String) -> String {
    var text = title + "\n\nUsage: daybook COMMAND [ARGUMENTS]\n\nCommands:\n"
    text += rows(commands.map { ($0.syntax.name, $0.syntax.summary) })
    text += "\nExit status:\n" + rows(ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })
    text += "\nData goes to standard output, everything else to standard error.\n"
    text += "`daybook COMMAND --help` says what a command takes, with examples.\n"
    return text
  }

  private static func usage(of syntax: Syntax) -> String {
    var words = ["daybook", syntax.name]
    for parameter in syntax.options where parameter.isRequired {
      words.append("\(parameter.name) \(parameter.placeholder)")
    }
    for parameter in syntax.positionals {
      words.append(parameter.role == .remaining ? "[\(parameter.name)...]" : parameter.name)
    }
    return words.joined(separator: " ") + " [OPTIONS]"
  }

  private static func phrase(_ parameter: any AnyParameter) -> String {
    var facts: [String] = []
    if let limits = parameter.expectation.limits { facts.append(limits) }
    if let text = parameter.defaultText { facts.append("default \(text)") }
    if parameter.role == .option, parameter.isRequired { facts.append("required") }
    return parameter.help + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
  }

  /// Two columns; the right one wrapped below itself.
  private static func rows(_ rows: [(String, String)]) -> String {
    let width = min(24, rows.map(\.0.count).max() ?? 0)
    return rows.map { left, right in
      let indent = width + 4
      let text = wrapped(right, indent: indent)
      guard left.count <= width else { return "  \(left)\n\(text)\n" }
      let label = "  " + left + String(repeating: " ", count: indent - 2 - left.count)
      return label + text.dropFirst(indent) + "\n"
    }.joined()
  }

  /// `text` broken between words, each line behind `indent` spaces, without a line feed at the end.
  static func wrapped(_ text: String, indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > columnCount {
        lines.append(margin + line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(margin + line)
    return lines.joined(separator: "\n")
  }
}
