import Testing

@Suite struct `the simulate commands` {
  @Test func `lossy prints what was taken, saved and sent, both ways`() async throws {
    let run = try await CommandRun("simulate", "lossy", "--seed", "7", "--json").outcome()
    #expect(run.status == 0)
    #expect(
      run.lines == [
        #"{"withoutOpIDs":{"taken":50,"saved":62,"sends":82},"#
          + #""withOpIDs":{"taken":50,"saved":50,"sends":82}}"#
      ])
    let text = try await CommandRun("simulate", "lossy", "--seed", "7").outcome()
    #expect(text.lines.last?.split(separator: " ").suffix(4) == ["50", "50", "0", "82"])
  }

  @Test func `lossy sums up a range of seeds in its last line`() async throws {
    let run = try await CommandRun("simulate", "lossy", "--seeds", "5-14", "--json").outcome()
    #expect(run.status == 0)
    #expect(run.lines.count == 11)
    #expect(run.lines.first?.hasPrefix(#"{"seed":5,"withoutOpIDs":{"taken":50,"#) == true)
    #expect(
      run.lines.last?.hasSuffix(
        #""runsWithDuplicates":10},"withOpIDs":{"minDuplicates":0,"maxDuplicates":0,"#
          + #""runsWithDuplicates":0}}"#) == true)
  }

  @Test func `clock prints both arrival orders, the office's last`() async throws {
    let run = try await CommandRun("simulate", "clock", "--json").outcome()
    #expect(run.status == 0)
    let reopened = #""lastWriteWins":{"status":"open","quantity":12}"#
    #expect(
      run.lines == [
        #"{"arrival":"rep",\#(reopened),"#
          + #""versionCheck":{"status":"cancelled","quantity":12,"drafts":0}}"#,
        #"{"arrival":"office",\#(reopened),"#
          + #""versionCheck":{"status":"cancelled","quantity":10,"drafts":1}}"#,
      ])
    #expect(try await CommandRun("simulate", "clock").outcome().lines.count == 3)
  }

  @Test func `one seed and a range of seeds exclude each other`() async throws {
    let run = try await CommandRun("simulate", "lossy", "--seed", "1", "--seeds", "1-2").outcome()
    #expect(run.status == 2)
    #expect(run.output.isEmpty && run.errorLines.count == 2)
  }
}
