import Daybook
import DaybookFormat
import Foundation

/// `daybook demo-device`: the demo's device that is killed, as a process of its own.
///
/// It fetches the catalogue, takes its orders and says each on standard output once it is durable;
/// then it sends them until it is done, or until it is killed.
enum DemoDeviceCommand: Command {
  static let directory = Parameter.requiredOption("dir", .directory, help: "the device's log")
  static let server = Parameter.requiredOption("server", .text(as: "URL"), help: "the server")
  static let orders = Parameter.requiredOption(
    "orders", .wholeNumber(in: 1...1_000_000), help: "how many orders all reps take")
  static let reps = Parameter.requiredOption(
    "reps", .wholeNumber(in: 1...64), help: "how many reps there are")

  static let syntax = Syntax(
    name: "demo-device", summary: "the demo's device that is killed",
    parameters: [directory, server, orders, reps], isHidden: true)

  static func run(_ arguments: Arguments, _ output: Output) async throws -> ExitStatus {
    guard let server = URL(string: arguments[Self.server]) else {
      throw Failure(
        status: .usage, message: "the server's address is no URL", remedy: "Run `daybook demo`.")
    }
    let data = try FieldSalesData.load()
    let reps = arguments[Self.reps]
    let account = DemoPlan.account(0)
    let mine = stride(from: 0, to: arguments[Self.orders], by: reps).map {
      data.order($0, rep: account)
    }
    // Small batches, so that it dies with operations pending beside those in flight.
    let store = try await DemoRep.open(
      URL(fileURLWithPath: arguments[Self.directory]), account: account, server: server,
      schema: data.schema, batchOperationLimit: max(1, mine.count / 3))
    try await DemoRep.settle(store)
    try await DemoRep.take(mine, in: store) { id in
      output.line("taken \(id)")
      output.flush()
    }
    output.line("sending")
    output.flush()
    try await DemoRep.settle(store)
    try await store.close()
    return .done
  }
}
