/// Every command, in the order help lists them. A new one is a file in `Commands/` and a line here.
enum CommandTable {
  static let commands: [any Command.Type] = [
    DemoCommand.self,
    DemoDeviceCommand.self,
    ServeCommand.self,
    DumpCommand.self,
    OutboxCommand.self,
    HistoryCommand.self,
    StatCommand.self,
    VerifyCommand.self,
    AnchorCommand.self,
    CompactCommand.self,
    BackupCommand.self,
    RestoreCommand.self,
    RepairCommand.self,
    SimulateLossyCommand.self,
    SimulateClockCommand.self,
    TortureCommand.self,
    KillRoundsCommand.self,
    KillWriterCommand.self,
    HelpCommand.self,
    VersionCommand.self,
  ]

  /// The commands that help lists.
  static var listed: [any Command.Type] { commands.filter { !$0.syntax.isHidden } }

  /// The command that `words` begin with, and the words behind its name.
  static func command(
    of words: [String]
  ) throws(ArgumentError) -> (command: any Command.Type, rest: [String]) {
    guard let first = words.first else { throw .noCommand }
    if first == "--help" || first == "-h" { return (HelpCommand.self, Array(words.dropFirst())) }
    if first == "--version" { return (VersionCommand.self, Array(words.dropFirst())) }
    for command in commands {
      let name = command.syntax.words
      if words.starts(with: name) { return (command, Array(words.dropFirst(name.count))) }
    }
    let family = members(of: first)
    guard family.isEmpty else {
      // Help of a family is the list of its members.
      let second = words.dropFirst().first
      if second == "--help" || second == "-h" { return (HelpCommand.self, [first]) }
      if let second, !second.hasPrefix("-") {
        let name = "\(first) \(second)"
        throw .unknownCommand(
          name, nearest: nearestName(to: name, in: family.map { $0.syntax.name }))
      }
      throw .incompleteCommand(first, choices: family.map { $0.syntax.words[1] })
    }
    let names = Set(listed.map { $0.syntax.words[0] }).sorted()
    throw .unknownCommand(first, nearest: nearestName(to: first, in: names))
  }

  /// The commands of two words that begin with `word`.
  static func members(of word: String) -> [any Command.Type] {
    commands.filter { $0.syntax.words.count == 2 && $0.syntax.words[0] == word }
  }
}
