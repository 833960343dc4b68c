import Foundation
import Testing

/// The facts that `Fixtures/field-sales/README.md` states.
@Suite struct FixtureTests {
  private struct Order: Decodable {
    let id: String
    let shop: String
    let customer: String
    let takenAt: String
    let lines: [Line]
  }

  private struct Line: Decodable {
    let sku: String
    let qty: Int
    let amountCents: Int
  }

  private struct Product: Decodable {
    let sku: String
  }

  private struct Shop: Decodable {
    let id: String
    let orders: Int
  }

  private func rows<Row: Decodable>(_ name: String) throws -> [Row] {
    let url = House.directory.appending(path: "Fixtures/field-sales/\(name).jsonl")
    return try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Row.self, from: $0)
    }
  }

  @Test func `the orders are those of the first day of the year`() throws {
    let orders: [Order] = try rows("orders")
    #expect(orders.count == 300)
    #expect(Set(orders.map(\.id)).count == 300)
    #expect(Set(orders.map(\.customer)).count == 252)
    #expect(orders.map(\.takenAt) == orders.map(\.takenAt).sorted())
    #expect(orders.first?.takenAt == "2017-01-01T11:53:26Z")
    #expect(orders.last?.takenAt == "2017-01-02T00:01:00Z")
    let lines = orders.flatMap(\.lines)
    #expect(lines.count == 3_149)
    #expect(lines.map(\.amountCents).reduce(0, +) == 889_703)
    #expect(lines.count { $0.qty == 0 } == 13)
    #expect(lines.count { $0.amountCents == 0 } == 15)
    #expect(lines.map(\.qty).max() == 18_192)
  }

  @Test func `the products hold all that the orders name but two`() throws {
    let orders: [Order] = try rows("orders")
    let products: [Product] = try rows("products")
    let skus = products.compactMap { Int($0.sku) }
    #expect(skus.count == 5_000)
    #expect(skus == Set(skus).sorted())
    let named = orders.flatMap(\.lines).map(\.sku)
    #expect(Set(named).count == 2_299)
    let known = Set(products.map(\.sku))
    let missing = named.filter { !known.contains($0) }
    #expect(Set(missing) == ["1093587", "5978656"])
    #expect(missing.count == 6)
  }

  @Test func `the shops hold every shop of an order`() throws {
    let orders: [Order] = try rows("orders")
    let shops: [Shop] = try rows("shops")
    let ids = shops.compactMap { Int($0.id) }
    #expect(ids.count == 400)
    #expect(ids == Set(ids).sorted())
    #expect(Set(orders.map(\.shop)).count == 98)
    #expect(Set(orders.map(\.shop)).isSubset(of: shops.map(\.id)))
    #expect(shops.map(\.orders).reduce(0, +) == 155_791)
    #expect(shops.map(\.orders).max() == 4_194)
  }
}
