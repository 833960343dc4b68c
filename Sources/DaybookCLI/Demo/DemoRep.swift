import Daybook
import DaybookFormat
import DaybookSync
import DaybookTestKit
import Foundation

/// One rep's device in the demo: a log, and a way through the poor network.
struct DemoRep: Sendable {
  let account: String
  let directory: URL
  let network: ProxiedDevice

  /// The wait between tries: milliseconds here, half a minute and more in an app.
  static let schedule = RetrySchedule(
    startMilliseconds: 20, floorMilliseconds: 5, capMilliseconds: 200)
  /// Rounds of sync after which a device counts as stuck: each loses a request or a reply with the
  /// chance of the network, so that a hundred in a row do not happen.
  static let roundLimit = 400

  /// Opens the rep's log.
  func open(schema: Schema, batchOperationLimit: Int = 200) async throws -> Daybook {
    guard let server = URL(string: "http://127.0.0.1:\(network.port)") else {
      throw DaybookError(.invalidAddress, "The loopback address can't be used.")
    }
    return try await DemoRep.open(
      directory, account: account, server: server, schema: schema,
      batchOperationLimit: batchOperationLimit)
  }

  /// Opens a device's log, to be synced by hand.
  static func open(
    _ directory: URL, account: String, server: URL, schema: Schema,
    batchOperationLimit: Int = 200
  ) async throws -> Daybook {
    var options = DaybookOptions()
    options.sync = .manual
    options.retrySchedule = schedule
    options.device = "\(account)-phone"
    options.batchLimits.operationLimit = batchOperationLimit
    return try await Daybook.open(
      at: directory, account: account, schema: schema, server: .http(server), options: options)
  }

  /// Syncs until everything is sent, settled and pulled.
  static func settle(_ store: Daybook) async throws {
    for round in 0..<roundLimit {
      try Task.checkCancellation()
      if round > 0 {
        let wait = schedule.wait(afterAttempt: min(round, 5), random: .random(in: .min ... .max))
        try await Task.sleep(for: .milliseconds(wait))
      }
      let status = await store.sync()
      if status.problem == nil, status.unsettledCount == 0, status.unconfirmedCount == 0,
        status.isComplete, store.withState({ $0.withdrawals.isEmpty })
      {
        return
      }
    }
    let status = await store.status
    throw Failure(
      status: .checkFailed, message: "\(store.account) could not finish syncing",
      remedy: status.problem?.message ?? "It has \(status.unsettledCount) operations to send.")
  }

  /// Takes `orders` offline, each with a visit to the shop every third time; calls `taken` with the
  /// id once it is durable.
  static func take(
    _ orders: [FieldSales.SalesOrder], in store: Daybook, taken: (String) -> Void
  ) async throws {
    for (index, order) in orders.enumerated() {
      try Task.checkCancellation()
      try await store.write { transaction in
        try transaction.insert(order)
        if index.isMultiple(of: 3) {
          try transaction.insert(
            FieldSales.Visit(
              id: "visit-\(order.id)", rep: order.rep, shop: order.shop, at: order.takenAt))
        }
      }
      taken(order.id)
    }
  }
}
