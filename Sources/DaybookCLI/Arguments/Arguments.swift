/// The values of one command line, each checked against its parameter.
struct Arguments: Sendable {
  private var values: [String: any Sendable] = [:]

  /// What was given for `parameter`, else its default.
  subscript<Value>(_ parameter: Parameter<Value>) -> Value {
    if let value = values[parameter.name] as? Value { return value }
    guard let value = parameter.defaultValue else {
      preconditionFailure("\(parameter.name) is not listed in the command's syntax")
    }
    return value
  }

  /// Whether the command line names `parameter`, also with the value of its default.
  func names(_ parameter: some AnyParameter) -> Bool { values[parameter.name] != nil }

  /// Whether help was asked for; then nothing else was checked.
  private(set) var asksForHelp = false

  /// Reads `words`, the command line behind the command's name.
  init(_ words: [String], for syntax: Syntax) throws(ArgumentError) {
    if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      asksForHelp = true
      return
    }
    var positionals = syntax.positionals[...]
    var rest = words[...]
    var optionsEnded = false
    while let word = rest.popFirst() {
      if !optionsEnded, word == "--" {
        optionsEnded = true
      } else if !optionsEnded, word.hasPrefix("-"), word != "-" {
        try take(option: word, &rest, syntax)
      } else {
        try take(positional: word, &positionals, syntax)
      }
    }
    for parameter in syntax.parameters where parameter.isRequired {
      if values[parameter.name] == nil { throw .missing(parameter.name, placeholder(parameter)) }
    }
  }

  private func placeholder(_ parameter: any AnyParameter) -> String? {
    parameter.role == .option ? parameter.placeholder : nil
  }

  private mutating func take(
    option word: String, _ rest: inout ArraySlice<String>, _ syntax: Syntax
  ) throws(ArgumentError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let parameter = syntax.options.first(where: { $0.name == name }) else {
      guard name != "--help" else { throw .flagWithValue(name) }
      let known = syntax.options.map(\.name) + ["--help"]
      throw .unknownOption(name, nearest: nearestName(to: name, in: known))
    }
    guard values[name] == nil else { throw .repeated(name) }
    if parameter.role == .flag {
      guard parts.count == 1 else { throw .flagWithValue(name) }
      values[name] = true
      return
    }
    if parts.count == 2 {
      try set(parameter, String(parts[1]))
    } else if let value = rest.first, !value.hasPrefix("--") {
      rest.removeFirst()
      try set(parameter, value)
    } else {
      throw .missingValue(name, parameter.placeholder, followedBy: rest.first)
    }
  }

  private mutating func take(
    positional word: String, _ positionals: inout ArraySlice<any AnyParameter>, _ syntax: Syntax
  ) throws(ArgumentError) {
    guard let parameter = positionals.first else {
      throw .unexpected(word, expectedCount: syntax.positionals.count)
    }
    guard parameter.role == .remaining else {
      positionals.removeFirst()
      return try set(parameter, word)
    }
    let earlier = values[parameter.name] as? [String] ?? []
    values[parameter.name] = earlier + [word]
  }

  private mutating func set(
    _ parameter: any AnyParameter, _ text: String
  ) throws(ArgumentError) {
    guard let value = parameter.value(of: text) else {
      throw .badValue(parameter.name, text, parameter.expectation)
    }
    values[parameter.name] = value
  }
}
