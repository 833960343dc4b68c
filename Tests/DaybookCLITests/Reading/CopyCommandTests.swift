import DaybookFormat
import DaybookLog
import DaybookSync
import Foundation
import Testing

/// `backup`, `restore` and `dump --at`, as they are typed.
@Suite struct CopyCommandTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
  }

  private func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path(path)).sorted()
  }

  @Test func `a backup tells what it copied, and the next one that nothing was new`() async throws {
    let first = try await directory.run("backup", "day/reps/07", "copy", "--json")
    #expect(first.lines.last?.hasSuffix(#""keptFiles":[],"inUse":false,"whole":true}"#) == true)
    let again = try await directory.run("backup", "day/reps/07", "copy/")
    #expect(
      again.lines == [
        "Copied 0 files, 0 bytes; 4 were there already.", "copy/ is whole: verified.",
      ])
    #expect(try await directory.run("verify", "copy").lines.last == "Whole: 2 files of 1 log.")
    let dump = try await directory.run("dump", "copy", "--json")
    #expect(try await directory.run("dump", "day/reps/07", "--json").output == dump.output)
    // A server's log too.
    #expect(try await directory.run("backup", "day/server", "server-copy").status == 0)
  }

  @Test func `a backup of a damaged log is made, and its status is that of verify`() async throws {
    let file = LogFile(path: directory.path("day/reps/07/outbox/00000001.g0.dbs"))
    for offset in 16_384..<24_576 { _ = offset }
    var bytes = try file.bytes
    for offset in 16_384..<24_576 { bytes[offset] = 0 }
    try file.write(bytes)
    let verify = try await CommandRun(["verify", "day/reps/07"], in: directory.path).outcome()
    let backup = try await directory.run("backup", "day/reps/07", "copy", status: verify.status)
    #expect(backup.errorLines.last == "Run `daybook verify copy` to see what it means.")
    #expect(try LogFile(path: directory.path("copy/outbox/00000001.g0.dbs")).bytes == bytes)
  }

  @Test(arguments: [
    (["backup", "day/reps/07"], 2, "daybook: `DEST` is missing"),
    (["backup", "day/reps/07", "day/reps/07"], 2, "is the log itself"),
    (["backup", "day/reps/07", "day/reps/07/copy"], 2, "lies in the log"),
    (
      ["backup", "day/reps/07", "day/server"], 2, "holds another life of this log"
    ),
    (["backup", "day/reps/07", "day"], 2, "is not empty, and holds no copy of this log"),
    (["backup", "day/reps/07", "none/copy"], 2, "there is no directory"),
    (["backup", "none", "copy"], 14, "there is nothing at"),
    (["backup", "day", "copy"], 14, "holds no log"),
    (["restore", "day/reps/07", "day/reps/07"], 2, "is the log itself"),
    (["restore", "day/reps/07", "day"], 2, "is not empty"),
    (["restore", "day/reps/07", "none/copy"], 2, "there is no directory"),
    (
      ["restore", "day/reps/07", "copy", "--until", "yesterday"], 2,
      "needs a position as `outbox:17`"
    ),
    (
      ["restore", "day/reps/07", "copy", "--until", "changes:1"], 2,
      "the log has no stream `changes`"
    ),
    (
      ["restore", "day/reps/07", "copy", "--outbox", "keep"], 2,
      "needs one of `hold`, `send`, `drop`"
    ),
    (["dump", "day/reps/07", "--at", "inbox:1"], 2, "needs a position as `outbox:17`"),
    (["dump", "day/reps/07", "--at", "changes:1"], 2, "the log has no stream `changes`"),
    (["dump", "day/reps/07", "--at", "feed:1", "--stream", "feed"], 2, "not `--stream`"),
    (["dump", "day/reps/07", "--collection", "orders"], 2, "goes with `--at`"),
  ])
  func `a misuse is told in a sentence and changes nothing`(
    words: [String], status: Int32, part: String
  ) async throws {
    let before = try names("")
    let outcome = try await CommandRun(words, in: directory.path).outcome()
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errorLines.first?.contains(part) == true, "\(outcome.errors)")
    #expect(outcome.errorLines.count == 2 && outcome.output.isEmpty)
    #expect(try names("") == before)
  }

  @Test func `a restore is a new life of the log in a new or an empty directory`() async throws {
    try FileManager.default.createDirectory(
      atPath: directory.path("empty"), withIntermediateDirectories: false)
    for target in ["new", "empty"] {
      let run = try await directory.run("restore", "day/reps/07", target, "--json")
      #expect(run.lines.last?.contains(#""ends":{"outbox":10,"feed":6}"#) == true)
      #expect(run.lines.last?.hasSuffix(#""held":2,"leavesOut":false,"whole":true}"#) == true)
      #expect(try await directory.run("verify", target).lines.last?.hasPrefix("Whole:") == true)
      let outbox = try await directory.run("outbox", target)
      #expect(outbox.lines.last?.contains("2 pending") == true)
    }
    #expect(try names("") == ["day", "empty", "new"], "nothing half is left")
    let dropped = try await directory.run("restore", "day/reps/07", "dropped", "--outbox", "drop")
    #expect(dropped.lines.count == 2, "nothing waits")
    #expect(try await directory.run("outbox", "dropped").lines.last == "1 operation: 1 refused")
  }

  @Test func `a restore that was cut short is begun anew, and a server's log is restored too`()
    async throws
  {
    let stage = directory.path("again.daybook-restoring")
    try FileManager.default.createDirectory(
      atPath: stage + "/outbox", withIntermediateDirectories: true)
    _ = try await directory.run("restore", "day/reps/07", "again")
    #expect(try names("") == ["again", "day"])
    let server = try await directory.run(
      "restore", "day/server", "server", "--until", "changes:5", "--json")
    #expect(server.lines.last?.contains(#""ends":{"changes":5}"#) == true)
    #expect(try await directory.run("verify", "server").lines.last?.hasPrefix("Whole:") == true)
  }

  @Test func `a restore up to a time or a position shows what dump shows at it`() async throws {
    for place in ["outbox:5", "feed:4", "2026-03-02 11:03", "2026-03-02T11:03:30+00:00"] {
      let target = "at-\(place.filter { $0.isNumber || $0.isLetter })"
      _ = try await directory.run("restore", "day/reps/07", target, "--until", place)
      let then = try await directory.run("dump", "day/reps/07", "--at", place, "--json")
      let now = try await directory.run("dump", target, "--at", "2100-01-01T00:00:00Z", "--json")
      #expect(then.lines.dropLast() == now.lines.dropLast(), "\(place)")
    }
  }

  @Test func `a copy whose end was not whole is restored up to there, with status 10`() async throws
  {
    let log = directory.path("day/reps/07")
    // A feed that was copied before the last page.
    let feed = LogFile(path: log + "/feed/00000001.g0.dbs")
    let scan = SegmentScan(try feed.bytes)
    let last = try #require(scan.frames.last { $0.isBatch })
    try feed.write(Array(try feed.bytes.prefix(last.offset)))
    try FileManager.default.removeItem(atPath: log + "/HEAD")
    let run = try await directory.run("restore", "day/reps/07", "again", status: 10)
    #expect(
      run.errorLines.last
        == "The end of the copy was not whole and was left out, as after a power cut.")
    #expect(try await directory.run("verify", "again").lines.last?.hasPrefix("Whole:") == true)
  }

  // MARK: - dump --at

  /// What a fold made entry by entry shows behind each of its entries, by position.
  private func expected() throws -> [String: [String]] {
    var state = ClientState(
      schema: Schema(name: "", collections: []), incarnation: SampleDay.incarnation)
    var numbers: [String: UInt64] = [:]
    var shown: [String: [String]] = [:]
    for (stream, _, entries) in SampleDay.deviceEntries {
      for entry in entries {
        numbers[stream, default: 0] += 1
        let number = numbers[stream] ?? 0
        state.apply(entry, position: number)
        var lines: [String] = []
        for name in state.collections.keys.sorted() {
          for id in state.collections[name]?.shownIDs.sorted() ?? [] {
            guard let record = state.shown(RecordKey(name, id)) else { continue }
            lines.append(
              "\(record.key) \(record.isPending) \(record.version?.number ?? 0) "
                + JSONText.text(of: .map(record.row)))
          }
        }
        shown["\(stream):\(number)"] = lines
      }
    }
    return shown
  }

  @Test func `dump at every position of the day equals a fold made entry by entry`() async throws {
    for (position, lines) in try expected() {
      let run = try await directory.run("dump", "day/reps/07", "--at", position, "--json")
      var found: [String] = []
      for line in run.lines.dropLast() {
        let map = try #require(try JSONText.parse(Array(line.utf8)).map)
        let version = map["version"]?.text?.prefix { $0 != "-" } ?? "0"
        let isPending = map["pending"] == .bool(true)
        let row = JSONText.text(of: map["row"] ?? .null)
        found.append("\(map["record"]?.text ?? "") \(isPending) \(version) \(row)")
      }
      #expect(found == lines, "\(position)")
      #expect(run.lines.last?.contains("\"records\":\(lines.count)") == true)
    }
  }

  @Test func `dump at picks a record or a collection, and says where the log ends`() async throws {
    let one = try await directory.run(
      "dump", "day/reps/07", "--at", "outbox:99", "--record", "orders/1002")
    #expect(one.lines.first == "orders/1002  not on the server yet, pending: create")
    #expect(one.errorLines == ["The log ends at outbox:10."])
    let visits = try await directory.run(
      "dump", "day/reps/07", "--at", "2026-03-02 12:00", "--collection", "visits", "--json")
    #expect(visits.lines.count == 2)
    let early = try await directory.run("dump", "day/reps/07", "--at", "2026-03-01 12:00")
    #expect(early.lines == ["0 records, 0 pending, before the first entry"])
    let server = try await directory.run("dump", "day/server", "--at", "changes:4")
    #expect(server.lines.first == "orders/1001  1-c0ffee0000000001")
  }
}
