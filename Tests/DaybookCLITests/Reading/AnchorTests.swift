import DaybookFormat
import DaybookLog
import Foundation
import Testing

/// `daybook anchor`, and `daybook verify --anchor` on histories that were added to, and on others.
@Suite struct AnchorTests {
  private typealias Entries = [(stream: String, time: Timestamp, entries: [Entry])]

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ arguments: String...) async throws -> CommandRun.Outcome {
    try await CommandRun(arguments, in: directory.path).outcome()
  }

  /// Keeps the anchor of the log at `path` as the file `name`.
  private func keep(_ name: String, of path: String) async throws {
    let run = try await run("anchor", path)
    #expect(run.status == 0, "\(run.errors)")
    try run.output.write(toFile: directory.path(name), atomically: true, encoding: .utf8)
  }

  /// The log of the morning, with one entry changed by whoever wrote all of it anew.
  private func rewritten() -> Entries {
    var entries = SampleDay.deviceEntries
    let other = SampleDay.operation(
      1, at: SampleDay.time(9, 0), record: SampleDay.order, action: .create,
      fields: ["quantity": .int(1)])
    for index in entries.indices {
      entries[index].entries = entries[index].entries.map { entry in
        if case .operation(let operation) = entry, operation.id == other.id {
          return .operation(other)
        }
        return entry
      }
    }
    return entries
  }

  @Test func `a history that was only added to is told so, closed and in use`() async throws {
    let path = directory.path("log")
    let log = try SampleDay.openDevice(at: path)
    try log.markIdle()
    try await keep("in-use", of: "log")
    try log.close()
    try await keep("closed", of: "log")
    let again = try SampleDay.openDevice(at: path, [SampleDay.deviceEntries[10]])
    for name in ["in-use", "closed"] {
      let run = try await run("verify", "--anchor", name, "log")
      #expect(run.status == 0, "\(run.output)\(run.errors)")
      #expect(run.lines.contains { $0.contains("outbox: everything up to entry 10") })
      #expect(run.lines.contains { $0.contains("feed: everything up to entry 6") })
    }
    try again.close()
    let run = try await run("verify", "--anchor", "in-use", "log", "--json")
    #expect(run.status == 0)
    #expect(run.lines.last == #"{"whole":true,"anchored":true}"#)
    #expect(
      run.lines.contains(
        #"{"anchor":"outbox","verdict":"extended","number":10,"proven":10}"#))
  }

  @Test func `a history written anew from end to end is whole, and the anchor tells`() async throws
  {
    try SampleDay.openDevice(at: directory.path("log")).close()
    try await keep("kept", of: "log")
    try FileManager.default.removeItem(atPath: directory.path("log"))
    try SampleDay.openDevice(at: directory.path("log"), rewritten()).close()
    let plain = try await run("verify", "log")
    #expect(plain.status == 0, "\(plain.output)")
    let run = try await run("verify", "--anchor", "kept", "log")
    #expect(run.status == 1)
    #expect(run.lines.contains { $0.contains("outbox: the entries up to 10 are not those") })
    #expect(run.lines.contains { $0.contains("feed: everything up to entry 6") })
    let json = try await self.run("verify", "--anchor", "kept", "log", "--json")
    #expect(json.status == 1)
    #expect(json.lines.last == #"{"whole":true,"anchored":false}"#)
  }

  @Test func `a log set back to an older copy is told`() async throws {
    try SampleDay.openDevice(at: directory.path("log")).close()
    try FileManager.default.copyItem(
      atPath: directory.path("log"), toPath: directory.path("copy"))
    try SampleDay.openDevice(at: directory.path("log"), [SampleDay.deviceEntries[10]]).close()
    try await keep("kept", of: "log")
    let run = try await run("verify", "--anchor", "kept", "copy")
    #expect(run.status == 1)
    #expect(run.lines.contains { $0.contains("outbox: it ends with entry 10, and had 12") })
  }

  @Test func `an anchor of another log, and a file that is none, are told`() async throws {
    try SampleDay.openDevice(at: directory.path("log")).close()
    try await keep("kept", of: "log")
    let text = try String(contentsOfFile: directory.path("kept"), encoding: .utf8)
    let logID = try #require(try? Anchor(text: text)).logID
    for (name, content) in [
      ("other", text.replacing("\(logID)", with: "\(Identifier(high: 1, low: 2))")),
      ("none", "hello\n"), ("newer", text.replacing("anchor 1", with: "anchor 7")),
    ] {
      try content.write(toFile: directory.path(name), atomically: true, encoding: .utf8)
    }
    let other = try await run("verify", "--anchor", "other", "log")
    #expect(other.status == 1)
    #expect(other.lines.contains { $0.contains("the anchor is of the log") })
    let none = try await run("verify", "--anchor", "none", "log")
    #expect(none.status == 2)
    #expect(none.errors.contains("none is no anchor"))
    #expect(try await run("verify", "--anchor", "newer", "log").status == 11)
    #expect(try await run("verify", "--anchor", "missing", "log").status == 2)
    try SampleDay.openDevice(at: directory.path("more")).close()
    #expect(try await run("verify", "--anchor", "kept", "log", "more").status == 2)
  }

  @Test func `what is damaged below the anchor is damage, not a rewritten history`() async throws {
    try SampleDay.openDevice(at: directory.path("log")).close()
    try await keep("kept", of: "log")
    let file = LogFile(path: directory.path("log/feed/00000001.g0.dbs"))
    try file.flip(8_192 + 100, bit: 3)
    let run = try await run("verify", "--anchor", "kept", "log")
    #expect(run.status == 12)
    #expect(run.lines.contains { $0.contains("feed: what stands up to entry") })
    #expect(try await self.run("anchor", "log").status == 12)
  }

  @Test func `a server keeps what each device last sent, and can say it`() async throws {
    let demo = try await run("demo", "--orders", "6", "--reps", "1", "--keep", "day")
    #expect(demo.status == 0, "\(demo.errors)")
    let incarnation = try #require(
      try LogDirectory(directory.path("day/reps/01"), fileSystem: SystemFileSystem())
        .newestHeader()?.incarnation)
    let told = try await run("anchor", "day/server", "--device", "\(incarnation)")
    #expect(told.status == 0, "\(told.errors)")
    try told.output.write(toFile: directory.path("told"), atomically: true, encoding: .utf8)
    let anchor = try Anchor(text: told.output)
    #expect(anchor.places.map(\.stream) == ["feed", "outbox"])
    #expect(anchor.places.allSatisfy { $0.number > 0 })
    let run = try await run("verify", "--anchor", "told", "day/reps/01")
    #expect(run.status == 0, "\(run.output)")
    #expect(run.lines.count { $0.contains("everything up to entry") } == 2)
    let dump = try await self.run("dump", "day/server", "--json")
    #expect(dump.output.contains(#""anchor":"daybook anchor 1\nlog \#(anchor.logID)\n"#))
    let unknown = try await self.run("anchor", "day/server", "--device", "\(anchor.logID)")
    #expect(unknown.status == 1)
    #expect(try await self.run("anchor", "day/server", "--device", "x").status == 2)
    #expect(try await self.run("anchor", "day/server").status == 0)
  }
}
