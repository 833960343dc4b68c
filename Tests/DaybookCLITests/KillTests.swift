import Foundation
import Testing

/// `daybook kill-rounds`: promises 1 and 3 against SIGKILL, on the real disk.
@Suite struct KillTests {
  /// Rounds: more of them by hand, as `DAYBOOK_KILL_ROUNDS=1000 swift test --filter KillTests`.
  private static let rounds =
    ProcessInfo.processInfo.environment["DAYBOOK_KILL_ROUNDS"].flatMap(Int.init) ?? 60

  @Test func `a killed process loses nothing that it acknowledged`() async throws {
    let seed = UInt32.random(in: 0...9_999)
    let run = try await CommandRun(
      "kill-rounds", "--rounds", "\(Self.rounds)", "--seed", "\(seed)", "--json",
      deadline: .seconds(120 + Self.rounds)
    ).outcome()
    #expect(run.status == 0, "seed \(seed): \(run.errors)")
    let last = try #require(run.lines.last)
    #expect(last.contains("\"violations\":0"), "\(last)")
    #expect(last.contains("\"rounds\":\(Self.rounds)"))
  }
}
