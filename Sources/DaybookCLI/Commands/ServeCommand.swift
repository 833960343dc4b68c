import DaybookFormat
import DaybookServer
import Foundation

/// `daybook serve`: an embedded server until it is interrupted.
enum ServeCommand: Command {
  static let data = Parameter.requiredOption(
    "data", .directory, help: "the server's data; made at the first start")
  static let port = Parameter.option(
    "port", .wholeNumber(in: 0...65_535), default: 8_080,
    help: "the port on this machine; 0 takes any free one")
  static let schema = Parameter.optionalOption(
    "schema", .file, help: "the schema, from now on; without it the one of the last start")

  static let syntax = Syntax(
    name: "serve",
    summary: "serve devices from an embedded store",
    detail: [
      "Prints one line with its address when it answers, and serves until Ctrl-C or SIGTERM. "
        + "Devices and people ask the same paths: /v1/push, /v1/changes, /v1/bootstrap and "
        + "/v1/health, in CBOR or JSON.",
      "The schema is needed at the first start. A copy stays in DIR/schema.json, which later "
        + "starts use. It listens to this machine alone and checks no credentials.",
    ],
    parameters: [data, port, schema],
    examples: [
      .init("daybook serve --data server --schema schema.json", "the first start"),
      .init("daybook serve --data server --port 0", "again, on any free port"),
      .init("curl http://127.0.0.1:8080/v1/health", "ask whether it is well"),
    ],
    statuses: [
      .newerFormat, .damaged, .locked, .notALog, .inputOutput, .diskFull, .schema,
    ])

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    let directory = arguments[data]
    let schema = try StoredSchema(directory: directory, given: arguments[schema])
    let server = try await SyncServer.start(
      dataDirectory: URL(filePath: directory), schema: schema.schema,
      port: UInt16(arguments[port]))
    do {
      // Only now: until the data is locked, it may be another server's.
      try schema.keep()
    } catch {
      try? await server.stop()
      throw error
    }
    for note in server.notes { output.note(note) }
    output.line(
      "Serving \(schema.schema.name) from \(directory) at http://127.0.0.1:\(server.port)")
    output.flush()
    try await server.run()
    throw CancellationError()
  }
}
