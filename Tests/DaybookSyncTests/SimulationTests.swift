import DaybookTestKit
import Testing

@Suite struct `the simulations of the command line` {
  @Test func `seed 7 saves 62 of 50 orders without op ids and 50 with them`() async throws {
    let pair = try await LossySimulation.run(seed: 7)
    #expect(
      pair.withoutOperationIDs == LossySimulation.Outcome(taken: 50, saved: 62, sends: 82))
    #expect(pair.withOperationIDs == LossySimulation.Outcome(taken: 50, saved: 50, sends: 82))
  }

  @Test func `every seed saves orders twice without op ids and none with them`() async throws {
    for seed in 0..<UInt64(30) {
      let pair = try await LossySimulation.run(seed: seed)
      #expect((2...26).contains(pair.withoutOperationIDs.duplicates), "seed \(seed)")
      #expect(pair.withOperationIDs.duplicates == 0, "seed \(seed)")
      #expect(pair.withOperationIDs.sends == pair.withoutOperationIDs.sends, "seed \(seed)")
    }
  }

  @Test func `a fast clock reopens a cancelled order unless versions are checked`() async throws {
    let office = try await ClockSimulation.run(.office)
    #expect(office.lastWriteWins == .init(status: "open", quantity: 12, drafts: 0))
    #expect(office.versionCheck == .init(status: "cancelled", quantity: 10, drafts: 1))
  }

  @Test func `the version check cancels the edited order when the edit came first`() async throws {
    let rep = try await ClockSimulation.run(.rep)
    #expect(rep.lastWriteWins == .init(status: "open", quantity: 12, drafts: 0))
    #expect(rep.versionCheck == .init(status: "cancelled", quantity: 12, drafts: 0))
  }
}
