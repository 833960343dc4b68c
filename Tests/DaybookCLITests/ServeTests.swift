import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `daybook serve`, started and stopped as a user does it.
@Suite struct ServeTests {
  private let directory: TemporaryDirectory
  private var data: String { directory.path("server") }
  private var schema: String { directory.path("schema.json") }

  init() throws {
    directory = try TemporaryDirectory()
    try write(#"{"name": "sample", "version": 4, "collections": {}}"#, to: "schema.json")
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: directory.path(name)))
  }

  /// The address that a server prints when it answers.
  private func address(of run: CommandRun) async throws -> URL {
    let line = try #require(await run.line("http://"))
    #expect(line.hasPrefix("Serving sample from \(data) at http://127.0.0.1:"))
    let text = try #require(line.split(separator: " ").last)
    return try #require(URL(string: String(text)))
  }

  private func health(_ address: URL) async throws -> String {
    let (data, _) = try await URLSession.shared.data(from: address.appending(path: "v1/health"))
    return String(decoding: data, as: UTF8.self)
  }

  /// A server that was started once and stopped in order.
  private func makeData() async throws {
    let run = try CommandRun("serve", "--data", data, "--port", "0", "--schema", schema)
    _ = try await address(of: run)
    run.send(SIGTERM)
    #expect(await run.outcome().status == 130)
  }

  private func expectFailure(
    _ status: Int32, _ parts: String..., arguments: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let outcome = try await CommandRun(["serve"] + arguments).outcome()
    #expect(outcome.status == status, sourceLocation: sourceLocation)
    #expect(outcome.output == "", sourceLocation: sourceLocation)
    #expect(outcome.errorLines.count == 2, sourceLocation: sourceLocation)
    for part in parts {
      #expect(outcome.errors.contains(part), sourceLocation: sourceLocation)
    }
    #expect(outcome.errorLines.last?.hasSuffix(".") == true, sourceLocation: sourceLocation)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a server answers until a signal and starts again without its schema`(
    signal: Int32
  ) async throws {
    let first = try CommandRun("serve", "--data", data, "--port", "0", "--schema", schema)
    let health = try await health(address(of: first))
    #expect(health.contains(#""status":"ok""#))
    #expect(health.contains(#""version":4"#))
    first.send(signal)
    #expect(await first.outcome().status == 130)

    let second = try CommandRun("serve", "--data", data, "--port", "0")
    let server = #/"server":"[^"]+"/#
    let again = try await self.health(address(of: second))
    #expect(again.firstMatch(of: server)?.0 == health.firstMatch(of: server)?.0)
    second.send(signal)
    let outcome = await second.outcome()
    #expect(outcome.status == 130)
    #expect(outcome.lines.count == 1)
    #expect(outcome.errorLines == ["Stopping: closing what is open. Once more ends at once."])
  }

  @Test func `a server that was killed starts again and says nothing of it`() async throws {
    try await makeData()
    let killed = try CommandRun("serve", "--data", data, "--port", "0")
    _ = try await address(of: killed)
    killed.send(SIGKILL)
    #expect(await killed.outcome().status == 137)
    try await makeData()
  }

  @Test func `a later schema takes the place of the first`() async throws {
    try await makeData()
    try write(#"{"name": "sample", "version": 5, "collections": {}}"#, to: "schema.json")
    try await makeData()
    let kept = try String(contentsOfFile: data + "/schema.json", encoding: .utf8)
    #expect(kept.contains(#""version": 5"#))
    let names = try FileManager.default.contentsOfDirectory(atPath: data)
    #expect(!names.contains("schema.json.new"))
  }

  @Test func `a first start without a schema, or with a wrong one, is status 17`() async throws {
    try await expectFailure(17, "no schema", "--schema", arguments: ["--data", data])
    try write("{", to: "half.json")
    try write(#"{"name": "a"}"#, to: "wrong.json")
    for name in ["half.json", "wrong.json"] {
      try await expectFailure(
        17, name, "The schema", arguments: ["--data", data, "--schema", directory.path(name)])
    }
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test func `a schema that is not there, or is a folder, is status 15`() async throws {
    for (name, part) in [("none.json", "there is no file"), ("", "is a folder")] {
      try await expectFailure(
        15, part, arguments: ["--data", data, "--schema", directory.path(name)])
    }
  }

  @Test func `a file, or a folder of something else, is status 14`() async throws {
    try await expectFailure(14, "is a file", arguments: ["--data", schema])
    try await expectFailure(14, "is a file", arguments: ["--data", schema, "--schema", schema])
    try await expectFailure(14, "not a log", arguments: ["--data", directory.path])
    try await expectFailure(
      14, "not a log", arguments: ["--data", directory.path, "--schema", schema])
  }

  @Test func `a missing folder above the data is status 15`() async throws {
    try await expectFailure(
      15, "there is no", arguments: ["--data", directory.path("a/b"), "--schema", schema])
  }

  @Test func `data and port in use are status 13 and 15`() async throws {
    let run = try CommandRun("serve", "--data", data, "--port", "0", "--schema", schema)
    let port = try #require(try await address(of: run).port)
    try await expectFailure(
      13, "in use by process \(run.processIdentifier)", arguments: ["--data", data])
    try await expectFailure(
      15, "port \(port)",
      arguments: ["--data", directory.path("other"), "--schema", schema, "--port", "\(port)"])
    run.send(SIGTERM)
    #expect(await run.outcome().status == 130)
  }

  @Test func `damaged data is status 12 with file and byte, a newer format 11`() async throws {
    try await makeData()
    let segment = URL(filePath: data + "/changes/00000001.g0.dbs")
    let whole = try Data(contentsOf: segment)
    var damaged = whole
    damaged[8_192 + 60] ^= 1
    try damaged.write(to: segment)
    try await expectFailure(
      12, "changes/00000001.g0.dbs, byte 8192", "daybook verify", arguments: ["--data", data])
    try whole.write(to: segment)
    try FileManager.default.removeItem(at: segment)
    try Data("daybook 7\n".utf8).write(to: URL(filePath: data + "/FORMAT"))
    try await expectFailure(11, "format 7", arguments: ["--data", data])
  }

  @Test func `a command line without data is status 2`() async throws {
    try await expectFailure(2, "--data", arguments: [])
    try await expectFailure(2, "--port", arguments: ["--data", data, "--port", "65536"])
  }
}
