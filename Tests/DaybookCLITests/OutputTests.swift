import Testing

@Suite struct OutputTests {
  @Test func `a reader that has gone ends the command quietly`() async throws {
    let run = try await CommandRun("help", output: .closedPipe).outcome()
    #expect(run.status == 0)
    #expect(run.errors == "")
  }

  #if os(Linux)
    @Test func `a full disk under standard output is status 16 and a sentence`() async throws {
      let run = try await CommandRun("help", output: .file("/dev/full")).outcome()
      #expect(run.status == 16)
      #expect(
        run.errorLines == [
          "daybook: standard output could not be written: No space left on device",
          "Its last part is missing: write it elsewhere and run the command again.",
        ])
    }
  #endif

  @Test func `the harness sees what a command leaves on its pipes`() async throws {
    let run = try CommandRun("help")
    #expect(await run.line("Commands:") == "Commands:")
    #expect(await run.line("no line has this") == nil)
    #expect(await run.outcome().status == 0)
  }
}
