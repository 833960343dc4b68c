import Daybook
import DaybookFormat
import DaybookSync
import DaybookTestKit
import Foundation
import Testing

/// Queries against a filter written down plainly.
@Suite struct QueryTests {
  static let fields: [String: FieldSchema] = [
    "shop": FieldSchema(.text, isOptional: true), "rank": FieldSchema(.int, isOptional: true),
    "size": FieldSchema(.double, isOptional: true),
    "price": FieldSchema(.decimal, isOptional: true),
    "at": FieldSchema(.time, isOptional: true),
  ]
  static let schema = Schema(
    name: "query",
    collections: [
      CollectionSchema(
        name: "indexed", fields: fields, scope: .constant("q"),
        indexes: ["shop", "rank", "price", "at"]),
      CollectionSchema(name: "scanned", fields: fields, scope: .constant("q")),
    ])

  struct Item: Codable, Equatable {
    var id: String
    var shop: String?
    var rank: Int?
    var size: Double?
    var price: ExactDecimal?
    var at: Timestamp?
  }

  struct Indexed: Record {
    static let collection = "indexed"
    var item: Item
    var id: String { item.id }
    init(_ item: Item) { self.item = item }
    init(from decoder: any Decoder) throws { item = try Item(from: decoder) }
    func encode(to encoder: any Encoder) throws { try item.encode(to: encoder) }
  }

  struct Scanned: Record {
    static let collection = "scanned"
    var item: Item
    var id: String { item.id }
    init(_ item: Item) { self.item = item }
    init(from decoder: any Decoder) throws { item = try Item(from: decoder) }
    func encode(to encoder: any Encoder) throws { try item.encode(to: encoder) }
  }

  /// A condition, and the same in plain words.
  struct Case {
    let condition: Condition
    let admits: (Item) -> Bool
  }

  static func item(_ id: Int, _ random: inout SplitMix64) -> Item {
    func perhaps<V>(_ value: V) -> V? { Int.random(in: 0..<5, using: &random) == 0 ? nil : value }
    return Item(
      id: "item-\(id)", shop: perhaps("s\(Int.random(in: 0..<6, using: &random))"),
      rank: perhaps(Int.random(in: -5..<5, using: &random)),
      size: perhaps(Double(Int.random(in: -8..<8, using: &random)) / 4),
      price: perhaps(
        ExactDecimal(
          mantissa: Int64.random(in: -40..<40, using: &random),
          exponent: Int64.random(in: -2...0, using: &random))),
      at: perhaps(Timestamp(milliseconds: Int64.random(in: 0..<9, using: &random))))
  }

  static func cents(_ price: ExactDecimal) -> Int64 {
    var cents = price.mantissa
    for _ in 0..<price.exponent + 2 { cents *= 10 }
    return cents
  }

  static func condition(_ depth: Int, _ random: inout SplitMix64) -> Case {
    let shop = "s\(Int.random(in: 0..<7, using: &random))"
    let low = Int.random(in: -6..<6, using: &random)
    let high = Int.random(in: -6..<6, using: &random)
    switch Int.random(in: 0..<(depth > 0 ? 11 : 8), using: &random) {
    case 0: return Case(condition: .equals("shop", .text(shop))) { $0.shop == shop }
    case 1: return Case(condition: .equals("rank", .int(Int64(low)))) { $0.rank == low }
    case 2:
      return Case(condition: .oneOf("shop", [.text(shop), "s1"])) {
        $0.shop == shop || $0.shop == "s1"
      }
    case 3:
      return Case(
        condition: .between("rank", from: .int(Int64(low)), upTo: .int(Int64(high)))
      ) { $0.rank.map { low <= $0 && $0 < high } ?? false }
    case 4:
      return Case(condition: .between("size", from: .int(Int64(low)), upTo: nil)) {
        $0.size.map { Double(low) <= $0 } ?? false
      }
    case 5:
      let price = ExactDecimal(mantissa: Int64(low), exponent: -1)
      return Case(condition: .between("price", from: nil, upTo: .decimal(price))) {
        $0.price.map { cents($0) < cents(price) } ?? false
      }
    case 6: return Case(condition: .isMissing("at")) { $0.at == nil }
    case 7:
      let at = Timestamp(milliseconds: Int64(low))
      return Case(condition: .equals("at", .time(at))) { $0.at == at }
    case 8:
      let (a, b) = (condition(depth - 1, &random), condition(depth - 1, &random))
      return Case(condition: .and([a.condition, b.condition])) { a.admits($0) && b.admits($0) }
    case 9:
      let (a, b) = (condition(depth - 1, &random), condition(depth - 1, &random))
      return Case(condition: .or([a.condition, b.condition])) { a.admits($0) || b.admits($0) }
    default:
      let inner = condition(depth - 1, &random)
      return Case(condition: .not(inner.condition)) { !inner.admits($0) }
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `an index, a scan and a plain filter agree, while records change`(seed: UInt64)
    async throws
  {
    var random = SplitMix64(seed: seed)
    let folder = try PassingFolder()
    let store = try await Daybook.open(
      at: folder.place("log"), account: "a", schema: Self.schema)
    var items: [String: Item] = [:]
    for _ in 0..<4 {
      var changed: [Item] = []
      var removed: [String] = []
      for _ in 0..<60 {
        let item = Self.item(Int.random(in: 0..<120, using: &random), &random)
        if changed.contains(where: { $0.id == item.id }) || removed.contains(item.id) { continue }
        if items[item.id] != nil, Int.random(in: 0..<4, using: &random) == 0 {
          removed.append(item.id)
        } else {
          changed.append(item)
        }
      }
      let (new, known) = (
        changed.filter { items[$0.id] == nil },
        changed.filter {
          items[$0.id] != nil
        }
      )
      let gone = removed
      try await store.write { tx in
        for item in new {
          try tx.insert(Indexed(item))
          try tx.insert(Scanned(item))
        }
        for item in known {
          try tx.update(Indexed.self, item.id) { $0.item = item }
          try tx.replace(Scanned(item))
        }
        for id in gone {
          try tx.delete(Indexed.self, id)
          try tx.delete(Scanned.self, id)
        }
      }
      for item in changed { items[item.id] = item }
      for id in removed { items[id] = nil }
      let sorted = items.values.sorted { $0.id < $1.id }
      for _ in 0..<60 {
        let asked = Self.condition(2, &random)
        let expected = sorted.filter(asked.admits)
        let found = store.collection(Indexed.self).query(where: asked.condition).map(\.item)
        #expect(found == expected, "\(asked.condition)")
        let scanned = store.collection(Scanned.self).query(where: asked.condition).map(\.item)
        #expect(scanned == expected, "\(asked.condition)")
        #expect(store.collection(Indexed.self).count(where: asked.condition) == expected.count)
        let limit = Int.random(in: 0..<8, using: &random)
        let few = store.collection(Scanned.self).query(where: asked.condition, limit: limit)
        #expect(few.map(\.item) == Array(expected.prefix(limit)))
      }
      try check(store, sorted)
    }
    try await store.close()
  }

  private func check(_ store: Daybook, _ sorted: [Item]) throws {
    let indexed = store.collection(Indexed.self)
    let up = indexed.query(order: .ascending("price"), limit: 20).map(\.item)
    let expected = sorted.filter { $0.price != nil }.sorted {
      let (a, b) = (
        Self.cents($0.price ?? .init(mantissa: 0, exponent: 0)),
        Self.cents($1.price ?? .init(mantissa: 0, exponent: 0))
      )
      return a == b ? $0.id < $1.id : a < b
    }
    #expect(up == Array((expected + sorted.filter { $0.price == nil }).prefix(20)))
    let down = indexed.query(order: .descending("rank")).map(\.item)
    let ranked = sorted.filter { $0.rank != nil }.sorted {
      ($1.rank ?? 0, $0.id) < ($0.rank ?? 0, $1.id)
    }
    #expect(down == ranked + sorted.filter { $0.rank == nil })
  }

  @Test func `numbers of all kinds stand in one order, to the last digit`() async throws {
    struct Mixed: Record {
      static let collection = "any"
      var id: String
      var value: Value
    }
    struct Real: Record {
      static let collection = "real"
      var id: String
      var value: Value
    }
    let folder = try PassingFolder()
    let schema = Schema(
      name: "any",
      collections: [
        CollectionSchema(
          name: "any", fields: ["value": FieldSchema(.decimal)], scope: .constant("q")),
        CollectionSchema(
          name: "real", fields: ["value": FieldSchema(.double)], scope: .constant("q")),
      ])
    let store = try await Daybook.open(at: folder.place("log"), account: "a", schema: schema)
    let ordered: [Value] = [
      .decimal(ExactDecimal(mantissa: -1, exponent: 400)), .int(.min), .int(.min + 1),
      .decimal(ExactDecimal(mantissa: -11, exponent: -1)), .int(-1), .int(0),
      .decimal(ExactDecimal(mantissa: 1, exponent: -400)),
      .decimal(ExactDecimal(mantissa: 9_007_199_254_740_993, exponent: -10)),
      .decimal(ExactDecimal(mantissa: 9_007_199_254_740_994, exponent: -10)),
      .int(9_007_199_254_740_992), .int(9_007_199_254_740_993),
      .decimal(ExactDecimal(mantissa: .max, exponent: .max)),
    ]
    try await store.write { tx in
      for (place, value) in ordered.enumerated().reversed() {
        try tx.insert(Mixed(id: "\(100 - place)", value: value))
      }
    }
    let all = store.collection(Mixed.self)
    #expect(all.query(order: .ascending("value")).map(\.value) == ordered)
    #expect(all.query(order: .descending("value")).map(\.value) == ordered.reversed())
    let above = all.query(where: .between("value", from: .int(9_007_199_254_740_993), upTo: nil))
    #expect(above.count == 2)
    let reals: [Value] = [
      .double(-.infinity), .int(.min), .double(-0x1p60), .double(-0.5), .int(0), .double(0.25),
      .int(1), .double(0x1p53), .int(9_007_199_254_740_993), .double(0x1p60), .double(.infinity),
      .double(.nan),
    ]
    try await store.write { tx in
      for (place, value) in reals.enumerated() {
        try tx.insert(Real(id: "\(100 - place)", value: value))
      }
    }
    let real = store.collection(Real.self)
    #expect(real.query(order: .ascending("value")).map(\.value) == reals)
    #expect(real.query(where: .between("value", from: 1, upTo: .double(.infinity))).count == 4)
    try await store.close()
  }
}
