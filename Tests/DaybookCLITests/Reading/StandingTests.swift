import DaybookFormat
import DaybookLog
import Testing

/// How operations without effect are told, by `outbox` and by `history`.
@Suite struct StandingTests {
  /// An edit of the sample's order, the `n`th operation.
  private static func edit(_ number: UInt64, base: Base = .none) -> Operation {
    SampleDay.operation(
      number, at: SampleDay.time(12, Int64(number)), seen: 2, record: SampleDay.order,
      action: .patch, base: base, fields: ["quantity": .int(Int64(number))])
  }

  private static func settlement(_ number: UInt64, _ code: RefusalCode) -> Settlement {
    Settlement(
      operationID: SampleDay.id(number), serverTime: SampleDay.time(13, Int64(number)),
      verdict: .refused(.init(code: code, message: "No.")))
  }

  private static func departure(
    _ numbers: [UInt64], _ reason: Departure.Reason
  ) -> Entry {
    let members = numbers.map(SampleDay.id)
    return .departure(Departure(root: members[0], members: members, reason: reason))
  }

  /// After the sample's morning: a conflict and what builds on it, a dead letter, one withdrawn
  /// before and one after it was sent, one superseded, one whose attempts are used up.
  private static let entries: [Entry] = [
    .operation(edit(10)), .operation(edit(11, base: .operation(SampleDay.id(10)))),
    .operation(edit(12)), .operation(edit(13)), .operation(edit(14)), .operation(edit(15)),
    .operation(edit(16)),
    .attempt(Attempt(operationIDs: [10, 12, 14, 15].map(SampleDay.id))),
    .settlement(
      Settlement(
        operationID: SampleDay.id(10), serverTime: SampleDay.time(13, 10),
        verdict: .conflict(.init(code: .staleBase, message: "Two versions.")))),
    departure([10, 11], .verdict),
    departure([12], .deadLetter(status: 500, message: "answered 8 times")),
    departure([13], .withdrawn), departure([14], .withdrawn),
    .settlement(settlement(14, .withdrawn)), .settlement(settlement(15, .superseded)),
    departure([15], .verdict),
    departure([16], .failed(message: "not reached")),
  ]

  private func verdicts(_ words: String..., key: String) async throws -> [String] {
    let directory = try TemporaryDirectory()
    try SampleDay.openDevice(
      at: directory.path("log"),
      Array(SampleDay.deviceEntries.prefix(10)) + [("outbox", SampleDay.time(13, 0), Self.entries)]
    ).close()
    let run = try await CommandRun(words, in: directory.path).outcome()
    #expect(run.status == 0, "\(run.errors)")
    return run.lines.dropLast().map { line in
      String(line.split(separator: "\"\(key)\":\"").last?.prefix { $0 != "\"" } ?? "")
    }
  }

  @Test func `the outbox has a word for each way to have no effect`() async throws {
    let states = try await verdicts("outbox", "log", "--json", key: "state")
    #expect(
      states == [
        "refused", "conflict", "left", "deadLetter", "withdrawn", "withdrawn", "superseded",
        "failed",
      ])
  }

  @Test func `what left with another has its verdict in the history`() async throws {
    let verdicts = try await verdicts(
      "history", "log", "orders/1001", "--json", key: "verdict")
    // What has no answer stands behind the events that were in the log before it.
    #expect(
      verdicts == [
        "accepted", "accepted", "refused", "conflict", "conflict", "deadLetter", "withdrawn",
        "withdrawn", "superseded", "failed",
      ], "\(verdicts)")
  }
}
