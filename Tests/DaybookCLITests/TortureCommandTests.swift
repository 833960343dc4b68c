import Testing

@Suite struct `the torture command` {
  @Test func `a run ends in one line that sums up`() async throws {
    let run = try await CommandRun(
      "torture", "--seed", "3", "--steps", "60", "--json"
    ).outcome()
    #expect(run.lines.count == 1)
    let line = try #require(run.lines.last)
    #expect(line.hasPrefix(#"{"seed":3,"steps":60,"crashes":"#))
    #expect(line.contains(#""violations":0,"invariants":[{"name":"durable before visible","#))
    #expect(run.status == 0)
  }

  @Test func `a range has a line for each seed and one for all`() async throws {
    let run = try await CommandRun(
      "torture", "--seeds", "4-6", "--steps", "20", "--json"
    ).outcome()
    #expect(run.lines.count == 4)
    #expect(run.lines.last?.contains(#""steps":60,"#) == true)
    #expect(run.lines.last?.contains(#""seeds":3,"firstFailingSeed":null"#) == true)
  }

  @Test func `a planted bug is named with the step it was caught in`() async throws {
    let run = try await CommandRun(
      "torture", "--planted", "lying-sync", "--json"
    ).outcome()
    #expect(run.status == 0)
    #expect(run.lines.last?.hasPrefix(#"{"planted":"lying-sync","caught":true,"steps":"#) == true)
  }

  @Test func `an unknown bug is told with those that are known`() async throws {
    let run = try await CommandRun("torture", "--planted", "gremlin").outcome()
    #expect(run.status == 2)
    #expect(run.errors.contains("lying-sync"))
  }
}
