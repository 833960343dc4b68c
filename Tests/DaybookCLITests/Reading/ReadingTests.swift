import DaybookFormat
import DaybookLog
import Foundation
import Testing

/// What the reading commands show of whole logs.
@Suite struct ReadingTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
  }

  /// The history of the cancelled order, as the device and the server tell it.
  private static let accepted = [
    #"{"device":"phone-7","deviceTime":"2026-03-02T09:00:00Z","serverTime":"2026-03-02T09:01:00Z","#
      + #""account":"rep-7","op":"00000000-0000-000a-0000-000000000001","action":"create","#
      + #""seen":0,"from":null,"to":{"shop":"17","status":"open","quantity":10},"#
      + #""verdict":"accepted","version":"1-c0ffee0000000001"}"#,
    #"{"device":"desk-1","deviceTime":"2026-03-02T11:00:00Z","serverTime":"2026-03-02T11:00:00Z","#
      + #""account":"office","op":"00000000-0000-000a-0000-000000000064","action":"cancel","#
      + #""seen":1,"from":{"status":"open"},"to":{"status":"cancelled"},"#
      + #""verdict":"accepted","version":"2-c0ffee0000000002"}"#,
  ]

  @Test func `the history of a cancelled order on its device has every event`() async throws {
    let refused =
      #"{"device":"phone-7","deviceTime":"2026-03-02T10:58:00Z","#
      + #""serverTime":"2026-03-02T11:03:00Z","account":"rep-7","#
      + #""op":"00000000-0000-000a-0000-000000000002","action":"patch","seen":1,"#
      + #""from":{"quantity":10},"to":{"quantity":12},"verdict":"refused","version":null}"#
    let history = try await directory.run("history", "day/reps/07", "orders/1001", "--json")
    #expect(history.lines == Self.accepted + [refused, #"{"events":3}"#])
  }

  @Test func `the history on the server has the refused edit without its fields`() async throws {
    let refused =
      #"{"device":"phone-7","deviceTime":null,"serverTime":"2026-03-02T11:03:00Z","#
      + #""account":"rep-7","op":"00000000-0000-000a-0000-000000000002","action":null,"#
      + #""seen":null,"from":null,"to":null,"verdict":"refused","version":null}"#
    let history = try await directory.run("history", "day/server", "orders/1001", "--json")
    #expect(history.lines == Self.accepted + [refused, #"{"events":3}"#])
  }

  @Test func `what waits is pending and stands last`() async throws {
    let history = try await directory.run("history", "day/reps/07", "orders/1002", "--json")
    #expect(history.lines.count == 2)
    #expect(history.lines[0].contains(#""serverTime":null"#))
    #expect(history.lines[0].hasSuffix(#""verdict":"pending","version":null}"#))
  }

  @Test func `a record that the log does not know has no events, and a hint`() async throws {
    let history = try await directory.run("history", "day/server", "order/1001", "--json")
    #expect(history.lines == [#"{"events":0}"#])
    #expect(
      history.errorLines == ["The log at day/server has no collection `order`. It has `orders`."])
  }

  @Test func `a bootstrapped row is one event of its last author`() async throws {
    let begin = BootstrapStep.begin(
      scope: SampleDay.scope, epoch: SampleDay.epoch,
      position: SampleDay.position(SampleDay.cancelled))
    let row = SampleDay.cancelChange.carrying(
      row: SampleDay.row.applying(set: ["status": .text("cancelled")], unset: []))
    let entries: [Entry] = [
      .bootstrap(begin), .change(row), .bootstrap(.end(scope: SampleDay.scope)),
    ]
    try SampleDay.openDevice(
      at: directory.path("fresh"), [("feed", SampleDay.time(12, 0), entries)]
    ).close()
    let history = try await directory.run("history", "fresh", "orders/1001", "--json")
    #expect(history.lines.count == 2)
    #expect(history.lines[0].contains(#""account":"office""#))
    #expect(
      history.lines[0].contains(
        #""from":null,"to":{"shop":"17","status":"cancelled","quantity":10}"#))
  }

  @Test func `the outbox keeps the draft and what waits`() async throws {
    let outbox = try await directory.run("outbox", "day/reps/07", "--json")
    #expect(outbox.lines.count == 4)
    #expect(outbox.lines[0].hasPrefix(#"{"position":"outbox:5","state":"refused","#))
    #expect(outbox.lines[0].contains(#""code":"stale-base""#))
    #expect(outbox.lines[1].contains(#""state":"pending""#))
    #expect(outbox.lines[2].contains(#""record":"visits/v-1""#))
    #expect(
      outbox.lines[3]
        == #"{"operations":3,"pending":2,"accepted":0,"refused":1,"conflict":0,"tooOld":0,"#
        + #""superseded":0,"withdrawn":0,"deadLetter":0,"failed":0,"left":0}"#)
  }

  @Test func `stat sums up a device and a server`() async throws {
    let device = try await directory.run("stat", "day/reps/07", "--json")
    #expect(
      device.lines.contains(
        #"{"collection":"orders","records":1}"#))
    let last = try #require(device.lines.last)
    #expect(last.contains(#""account":"rep-7""#))
    #expect(last.contains(#""positions":{"rep/rep-7":2}"#))
    #expect(last.hasSuffix(#""operations":3,"states":{"pending":2,"refused":1}}"#))
    let server = try await directory.run("stat", "day/server", "--json")
    #expect(server.lines.last?.hasSuffix(#""incarnations":1}"#) == true)
  }

  @Test func `dump shows every frame and entry once, echoes and marks too`() async throws {
    let dump = try await directory.run("dump", "day/reps/07", "--stream", "outbox", "--json")
    let kinds = dump.lines.map { line -> String in
      let type = line.firstMatch(of: #/^\{"type":"(\w+)"/#).map { String($0.1) } ?? "sum"
      return type == "frame"
        ? line.firstMatch(of: #/"kind":"(\w+)"/#).map { String($0.1) } ?? "" : type
    }
    #expect(
      kinds == ["segment"]
        + Array(repeating: ["batch", "entry", "echo"], count: 6).joined()
        + ["batch", "entry", "entry", "echo"] + ["batch", "entry", "entry", "echo"]
        + ["seal", "closingMark", "closingMark", "sum"])
    #expect(dump.lines.last == #"{"segments":1,"frames":19,"entries":10}"#)
  }

  @Test func `dump of a record has its entries alone, in the order of writing`() async throws {
    let dump = try await directory.run("dump", "day/reps/07", "--record", "orders/1001", "--json")
    let positions = dump.lines.compactMap {
      $0.firstMatch(of: #/"position":"([a-z]+:\d+)","kind":"(\w+)"/#).map { "\($0.1) \($0.2)" }
    }
    #expect(
      positions == [
        "outbox:2 operation", "outbox:3 attempt", "outbox:4 settlement", "feed:3 change",
        "outbox:5 operation", "outbox:6 attempt", "outbox:7 settlement", "outbox:8 departure",
        "feed:5 change",
      ])
    let outbox = try await directory.run(
      "dump", "day/reps/07", "--record", "orders/1001", "--stream", "outbox", "--json")
    #expect(outbox.lines.count == 8)
  }

  @Test func `a kind that need not be known is shown as such`() async throws {
    let log = try SampleDay.openDevice(at: directory.path("odd"), [])
    _ = try log.appendAndWait("feed", [[NewEntry(kind: 200, bytes: [1, 2, 3])]])
    try log.close()
    let text = try await directory.run("dump", "odd")
    #expect(
      text.output.contains("feed:1 unknown 200 3 bytes that this version need not know"))
    let json = try await directory.run("dump", "odd", "--json")
    #expect(
      json.output.contains(#""kind":"unknown 200","#))
    #expect(json.output.contains(#""bytes":3,"skipped":true}"#))
  }

  @Test func `control characters of a record's name can't move the cursor`() async throws {
    let name = RecordKey("orders", "a\u{1B}[2Jb\n")
    let operation = SampleDay.operation(
      1, at: SampleDay.time(9, 0), record: name, action: .create, fields: [:])
    try SampleDay.openDevice(
      at: directory.path("odd"), [("outbox", SampleDay.time(9, 0), [.operation(operation)])]
    ).close()
    for words in [["dump", "odd"], ["outbox", "odd"], ["history", "odd", name.description]] {
      let text = try await CommandRun(words, in: directory.path).outcome()
      #expect(!text.output.contains("\u{1B}"))
      #expect(text.output.contains("orders/a\\u{1b}[2Jb\\u{a}"), "\(words): \(text.output)")
    }
  }
}
