import Foundation
import Testing

/// Command lines that are not understood: each a sentence, what to do next, and status 2.
@Suite struct ArgumentTests {
  /// What a command line is answered with.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let message: String
    let next: String

    var testDescription: String { "daybook " + arguments.joined(separator: " ") }
  }

  static let refusals = [
    Refusal(
      arguments: [], message: "daybook: no command was given",
      next: "Run `daybook --help` to see what it takes."),
    Refusal(
      arguments: ["verson"],
      message: "daybook: there is no command `verson`; did you mean `version`?",
      next: "Run `daybook --help` to see what it takes."),
    Refusal(
      arguments: ["frobnicate"], message: "daybook: there is no command `frobnicate`",
      next: "Run `daybook --help` to see what it takes."),
    Refusal(
      arguments: ["--frobnicate"], message: "daybook: there is no command `--frobnicate`",
      next: "Run `daybook --help` to see what it takes."),
    Refusal(
      arguments: ["version", "--helo"],
      message: "daybook: there is no option `--helo`; did you mean `--help`?",
      next: "Run `daybook version --help` to see what it takes."),
    Refusal(
      arguments: ["version", "--frobnicate=3"],
      message: "daybook: there is no option `--frobnicate`",
      next: "Run `daybook version --help` to see what it takes."),
    Refusal(
      arguments: ["version", "--help=yes"], message: "daybook: `--help` takes no value",
      next: "Run `daybook version --help` to see what it takes."),
    Refusal(
      arguments: ["version", "again"],
      message: "daybook: `again` is one too many: it takes no arguments",
      next: "Run `daybook version --help` to see what it takes."),
    Refusal(
      arguments: ["version", "--", "--help"],
      message: "daybook: `--help` is one too many: it takes no arguments",
      next: "Run `daybook version --help` to see what it takes."),
    Refusal(
      arguments: ["help", "verson"],
      message: "daybook: there is no command `verson`; did you mean `version`?",
      next: "Run `daybook --help` to see what it takes."),
  ]

  @Test(arguments: refusals)
  func `a command line that is not understood gets a sentence and status 2`(
    _ refusal: Refusal
  ) async throws {
    let run = try await CommandRun(refusal.arguments).outcome()
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(run.errorLines == [refusal.message, refusal.next])
  }

  @Test func `the version is one line on standard output`() async throws {
    for word in ["version", "--version"] {
      let run = try await CommandRun(word).outcome()
      #expect(run.status == 0)
      #expect(run.lines.count == 1)
      #expect(run.output.wholeMatch(of: /daybook \d+\.\d+\.\d+\n/) != nil)
      #expect(run.errors == "")
    }
  }

  @Test func `the version for programs is one object`() async throws {
    for words in [["version", "--json"], ["--version", "--json"]] {
      let run = try await CommandRun(words).outcome()
      #expect(run.status == 0)
      #expect(run.output.wholeMatch(of: /\{"version":"\d+\.\d+\.\d+"\}\n/) != nil)
    }
  }

  @Test func `help lists every command and every exit status`() async throws {
    let help = try await CommandRun("help").outcome()
    let option = try await CommandRun("--help").outcome()
    let letter = try await CommandRun("-h").outcome()
    #expect(help.status == 0)
    #expect(help.errors == "")
    #expect(help.output == option.output)
    #expect(help.output == letter.output)
    #expect(help.output.contains("\n  version  "))
    for status in [
      "0", "1", "2", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "130",
    ] {
      #expect(help.lines.contains { $0.hasPrefix("  \(status) ") })
    }
  }

  @Test func `every command explains itself within eighty columns`() async throws {
    let list = try await CommandRun("help").outcome()
    let names = list.lines.drop { $0 != "Commands:" }.dropFirst()
      .prefix { $0.hasPrefix("  ") }
      .filter { !$0.hasPrefix("   ") }
      .map { line in line.dropFirst(2).prefix { $0 != " " } }
    try #require(names.count >= 2)
    for name in Set(names) {
      let help = try await CommandRun(String(name), "--help").outcome()
      #expect(help.status == 0)
      #expect(help.output.contains("Usage: daybook"))
      #expect(help.output.contains("\nExit status:\n"))
      for line in help.lines { #expect(line.count <= 80, "\(name): \(line)") }
    }
  }

  @Test func `help for a command is the same in both spellings`() async throws {
    let option = try await CommandRun("version", "--help").outcome()
    let command = try await CommandRun("help", "version").outcome()
    #expect(option.output == command.output)
    #expect(option.output.hasPrefix("daybook version: "))
  }
}
