// README: begin
import Daybook
import Foundation

struct Order: Record {
  static let collection = "orders"
  var id: String, shop: String, quantity: Int
}

func takeOrder(schema: Schema, log: URL, server: URL) async throws -> Outcome? {
  let store = try await Daybook.open(
    at: log, account: "rep-7", schema: schema, server: .http(server))
  let orders = store.collection(Order.self)
  let receipt = try await store.write { tx in  // durable and visible when it returns
    try tx.insert(Order(id: "o1", shop: "17", quantity: 10))
  }
  print(orders.query(where: .equals("shop", "17"), order: .descending("quantity")))
  return await receipt.settlement  // .accepted, or .refused with a draft
}
// README: end
