import Daybook
import DaybookFormat
import DaybookNet
import DaybookServer
import DaybookSync
import DaybookTestKit
import Foundation
import Synchronization

/// A shop's data for tests: orders with states, and plain notes.
enum TestShop {
  static let schema = Schema(
    name: "shop",
    collections: [
      CollectionSchema(
        name: "orders",
        fields: [
          "shop": FieldSchema(.text), "quantity": FieldSchema(.int),
          "status": FieldSchema(.text, isOptional: true),
          "note": FieldSchema(.text, isOptional: true),
        ],
        scope: .constant("shop"), indexes: ["shop", "status"],
        states: StateRules(
          field: "status", initial: ["open", ""], transitions: [:], final: ["cancelled"]),
        actions: ["cancel": NamedAction(from: ["open"], set: ["status": "cancelled"])]),
      CollectionSchema(
        name: "notes", fields: ["text": FieldSchema(.text)], policy: .serverOrder,
        scope: .account),
    ])

  struct Sale: Record, Equatable {
    static let collection = "orders"
    var id: String
    var shop: String
    var quantity: Int
    var status: String? = "open"
    var note: String?
  }

  struct Note: Record, Equatable {
    static let collection = "notes"
    var id: Int
    var text: String
  }
}

/// A folder that is gone when the test is over.
final class PassingFolder: Sendable {
  let url: URL

  init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appendingPathComponent("daybook-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A place in the folder.
  func place(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// A whole server on loopback, and devices of it that sync by hand.
final class TestServer: Sendable {
  let folder: PassingFolder
  let server: SyncServer
  let schema: Schema

  init(schema: Schema = TestShop.schema, folder: PassingFolder? = nil) async throws {
    let folder = try folder ?? PassingFolder()
    self.folder = folder
    self.schema = schema
    server = try await SyncServer.start(dataDirectory: folder.place("server"), schema: schema)
  }

  var address: URL? { URL(string: "http://127.0.0.1:\(server.port)") }

  /// Opens the device `name` of `account`, in the test's folder.
  func device(
    _ name: String, account: String = "rep-7", port: UInt16? = nil,
    sync: DaybookOptions.SyncMode = .manual,
    _ change: (inout DaybookOptions) -> Void = { _ in }
  ) async throws -> Daybook {
    let address = try unwrapped(URL(string: "http://127.0.0.1:\(port ?? server.port)"))
    return try await open(name, account, .http(address), sync, change)
  }

  /// Opens the device `name` with a transport on which the test decides about each request.
  func device(
    _ name: String, account: String = "rep-7", sync: DaybookOptions.SyncMode = .manual,
    transport: HookedTransport, _ change: (inout DaybookOptions) -> Void = { _ in }
  ) async throws -> Daybook {
    try await open(name, account, .transport(transport), sync, change)
  }

  private func open(
    _ name: String, _ account: String, _ address: ServerAddress,
    _ sync: DaybookOptions.SyncMode, _ change: (inout DaybookOptions) -> Void
  ) async throws -> Daybook {
    var options = DaybookOptions()
    options.sync = sync
    options.device = name
    options.retrySchedule = RetrySchedule(
      startMilliseconds: 10, floorMilliseconds: 1, capMilliseconds: 50)
    change(&options)
    return try await Daybook.open(
      at: folder.place(name), account: account, schema: schema, server: address,
      options: options)
  }

  /// A way to the server that lets the test decide about each request.
  func hooked() throws -> HookedTransport {
    HookedTransport(try URLSessionTransport(base: unwrapped(address)))
  }
}

/// The value, or an error that names what is missing.
func unwrapped<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw CocoaError(.coderValueNotFound) }
  return value
}

/// A number that any task may raise.
final class Counter: Sendable {
  private let value = Mutex(0)

  /// The number.
  var count: Int { value.withLock { $0 } }

  /// Raises it by one and gives the new number.
  @discardableResult
  func add() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}

/// Values that any task may add to.
final class Collected<Element: Sendable>: Sendable {
  private let values = Mutex<[Element]>([])

  /// The values so far.
  var all: [Element] { values.withLock { $0 } }

  /// Adds values.
  func add(_ more: [Element]) { values.withLock { $0 += more } }
}
