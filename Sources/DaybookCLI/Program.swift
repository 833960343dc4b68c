/// From the words of a command line to an exit status.
enum Program {
  /// Runs the command that `words` name, without the program's own name.
  static func run(_ words: [String]) async -> ExitStatus {
    let output = Output()
    let status = await run(words, output)
    if let failure = output.finish() {
      output.failure(failure)
      return failure.status
    }
    return status
  }

  private static func run(_ words: [String], _ output: Output) async -> ExitStatus {
    let command: any Command.Type
    let arguments: Arguments
    do throws(ArgumentError) {
      let found = try CommandTable.command(of: words)
      command = found.command
      arguments = try Arguments(found.rest, for: command.syntax)
    } catch {
      let understood = (try? CommandTable.command(of: words))?.command.syntax.name ?? ""
      output.failure(Failure(error, command: understood))
      return .usage
    }
    if arguments.asksForHelp {
      output.write(HelpText.text(of: command.syntax))
      return .done
    }
    return await perform(command, arguments, output)
  }

  /// Runs `command` on the pool, cancelled by a signal or when nobody reads its output any more.
  private static func perform(
    _ command: any Command.Type, _ arguments: Arguments, _ output: Output
  ) async -> ExitStatus {
    let task = Task.detached { try await command.run(arguments, output) }
    let interruption = Interruption {
      output.note("Stopping: closing what is open. Once more ends at once.")
      task.cancel()
    }
    defer { withExtendedLifetime(interruption) {} }
    output.onClosedReader { task.cancel() }
    do {
      return try await task.value
    } catch {
      if output.readerHasGone { return .done }
      if task.isCancelled { return .interrupted }
      let failure = Failure(error)
      output.failure(failure)
      return failure.status
    }
  }
}
