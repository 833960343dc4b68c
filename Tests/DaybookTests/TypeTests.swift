import Daybook
import DaybookFormat
import DaybookSync
import Foundation
import Testing

/// App types of all sorts, to rows and back.
@Suite struct TypeTests {
  static let schema = Schema(
    name: "types",
    collections: [
      CollectionSchema(
        name: "visits",
        fields: [
          "at": FieldSchema(.time), "price": FieldSchema(.decimal, isOptional: true),
          "photo": FieldSchema(.bytes, isOptional: true), "rating": FieldSchema(.double),
          "lines": FieldSchema(.list, isOptional: true),
        ],
        scope: .constant("visits"), indexes: ["price"]),
      CollectionSchema(
        name: "numbers", fields: ["text": FieldSchema(.text)], scope: .constant("numbers")),
      CollectionSchema(
        name: "zones", fields: ["region": FieldSchema(.text), "text": FieldSchema(.text)],
        scope: .field("region")),
    ])

  struct Line: Codable, Sendable, Equatable {
    var sku: String
    var count: Int
  }

  struct Visit: Record, Equatable {
    static let collection = "visits"
    var id: Identifier
    var at: Date
    var price: Decimal?
    var photo: Data?
    var rating: Double
    var lines: [Line]?
  }

  struct Numbered: Record, Equatable {
    static let collection = "numbers"
    var id: Int
    var text: String
  }

  /// The same collection, as another version of the app sees it.
  struct Named: Record, Equatable {
    static let collection = "numbers"
    var id: String
    var text: String
  }

  struct Zone: Record, Equatable {
    static let collection = "zones"
    var id: String
    var region: String
    var text: String
  }

  func open(_ folder: PassingFolder) async throws -> Daybook {
    try await Daybook.open(at: folder.place("log"), account: "a", schema: Self.schema)
  }

  @Test func `dates, decimals, bytes and lists come back as they were, also after reopening`()
    async throws
  {
    let folder = try PassingFolder()
    var store = try await open(folder)
    let id = Identifier(high: 1, low: 2)
    let visit = Visit(
      id: id, at: Date(timeIntervalSince1970: 1_700_000_000.125),
      price: Decimal(string: "12345678901.05"), photo: Data([0, 255, 7]), rating: -0.5,
      lines: [Line(sku: "a", count: 2)])
    try await store.write { tx in try tx.insert(visit) }
    #expect(try store.collection(Visit.self).get(id) == visit)
    try await store.close()
    store = try await open(folder)
    let visits = store.collection(Visit.self)
    #expect(try visits.get(id) == visit)
    let price = Value.decimal(ExactDecimal(mantissa: 1_234_567_890_105, exponent: -2))
    #expect(visits.query(where: .equals("price", price)) == [visit])
    let from = Value.time(Timestamp(milliseconds: 1_700_000_000_125))
    #expect(visits.query(where: .between("at", from: from, upTo: nil)) == [visit])
    #expect(visits.query(where: .between("at", from: nil, upTo: from)).isEmpty)
    try await store.close()
  }

  @Test func `nil means unset, and a value sets again`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    let id = Identifier(high: 1, low: 2)
    try await store.write { tx in
      try tx.insert(Visit(id: id, at: .init(timeIntervalSince1970: 0), price: 3, rating: 1))
    }
    try await store.write { tx in try tx.update(Visit.self, id) { $0.price = nil } }
    let operation = store.withState { $0.unsettled.last?.operation }
    #expect(operation?.unset == ["price"])
    #expect(operation?.fields == [:])
    #expect(store.collection(Visit.self).query(where: .isMissing("price")).count == 1)
    try await store.write { tx in
      try tx.update(Visit.self, id) {
        $0.price = 4
        $0.rating = 1
      }
    }
    #expect(store.withState { $0.unsettled.last?.operation.fields.names } == ["price"])
    #expect(try store.collection(Visit.self).get(id)?.price == 4)
    try await store.close()
  }

  @Test func `an edit through a type that knows less keeps what it does not know`() async throws {
    struct Short: Record {
      static let collection = "visits"
      var id: Identifier
      var at: Date
      var rating: Double
    }
    let folder = try PassingFolder()
    let store = try await open(folder)
    let id = Identifier(high: 1, low: 2)
    let at = Date(timeIntervalSince1970: 0)
    try await store.write { tx in try tx.insert(Visit(id: id, at: at, price: 3, rating: 1)) }
    try await store.write { tx in try tx.update(Short.self, id) { $0.rating = 2 } }
    let visits = store.collection(Visit.self)
    #expect(try visits.get(id) == Visit(id: id, at: at, price: 3, rating: 2))
    // A whole row is what the type knows.
    try await store.write { tx in try tx.replace(Short(id: id, at: at, rating: 3)) }
    #expect(try visits.get(id) == Visit(id: id, at: at, rating: 3))
    try await store.close()
  }

  @Test func `numbers are ids too, in the order of their digits' bytes`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in
      for id in [10, 9, -3] { try tx.insert(Numbered(id: id, text: "\(id)")) }
    }
    let numbers = store.collection(Numbered.self)
    #expect(numbers.query().map(\.id) == [-3, 10, 9])
    #expect(try numbers.get(9) == Numbered(id: 9, text: "9"))
    #expect(store.collection(Named.self).query().map(\.id) == ["-3", "10", "9"])
    try await store.close()
  }

  @Test func `rows that do not fit the type are hidden and counted, until they fit`()
    async throws
  {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in
      try tx.insert(Named(id: "1", text: "one"))
      try tx.insert(Named(id: "two", text: "two"))
      try tx.insert(Named(id: "03", text: "three"))
    }
    let numbers = store.collection(Numbered.self)
    #expect(numbers.query().map(\.id) == [1])
    #expect(numbers.query().map(\.id) == [1])
    #expect(await store.status.unreadableRecordCount == 2)
    #expect(store.collection(Named.self).query().count == 3)
    #expect(await store.status.unreadableRecordCount == 0)
    #expect(numbers.count() == 3)
    try await store.close()
  }

  @Test func `the field that decides the scope never changes`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    try await store.write { tx in
      try tx.insert(Zone(id: "1", region: "north", text: "a"))
      try tx.insert(Zone(id: "2", region: "north", text: "b"))
    }
    #expect(
      store.withState { $0.unsettled.map(\.operation.scope) }
        == Array(
          repeating: "region/north", count: 2))
    let moved = await #expect(throws: DaybookError.self) {
      try await store.write { tx in try tx.update(Zone.self, "1") { $0.region = "south" } }
    }
    #expect(moved?.code == .schema)
    let replaced = await #expect(throws: DaybookError.self) {
      try await store.write { tx in
        try tx.replace(Zone(id: "1", region: "south", text: "a"))
      }
    }
    #expect(replaced?.code == .schema)
    let both = await #expect(throws: DaybookError.self) {
      try await store.write { tx in
        try tx.update(Zone.self, "1") { $0.text = "c" }
        try tx.insert(Zone(id: "3", region: "south", text: "d"))
      }
    }
    #expect(both?.code == .severalScopes)
    #expect(store.collection(Zone.self).query().map(\.text) == ["a", "b"])
    try await store.close()
  }

  @Test func `replace sets the whole row, delete removes it, insert makes it anew`() async throws {
    let folder = try PassingFolder()
    let store = try await open(folder)
    let id = Identifier(high: 3, low: 4)
    let at = Date(timeIntervalSince1970: 0)
    let visits = store.collection(Visit.self)
    try await store.write { tx in try tx.insert(Visit(id: id, at: at, price: 3, rating: 1)) }
    try await store.write { tx in try tx.replace(Visit(id: id, at: at, rating: 2)) }
    #expect(try visits.get(id) == Visit(id: id, at: at, rating: 2))
    try await store.write { tx in
      try tx.delete(Visit.self, id)
      #expect(try tx.get(Visit.self, id) == nil)
      try tx.insert(Visit(id: id, at: at, rating: 5))
      #expect(try tx.get(Visit.self, id)?.rating == 5)
    }
    #expect(visits.query().map(\.rating) == [5])
    try await store.write { tx in try tx.delete(Visit.self, id) }
    #expect(try visits.get(id) == nil)
    #expect(visits.count() == 0)
    try await store.close()
  }

  @Test func `values that the schema does not admit are refused by name, without their content`()
    async throws
  {
    struct Wrong: Record {
      static let collection = "numbers"
      var id: Int
      var text: Int
    }
    struct Extra: Record {
      static let collection = "numbers"
      var id: Int
      var text: String
      var secret: String
    }
    struct Elsewhere: Record {
      static let collection = "elsewhere"
      var id: Int
    }
    struct Short: Record {
      static let collection = "numbers"
      var id: Int
      var text: String?
    }
    let folder = try PassingFolder()
    let store = try await open(folder)
    let bodies: [@Sendable (inout WriteTransaction) throws -> Void] = [
      { tx in try tx.insert(Wrong(id: 1, text: 4_711)) },
      { tx in try tx.insert(Extra(id: 1, text: "a", secret: "4711")) },
      { tx in try tx.insert(Elsewhere(id: 4_711)) },
      { tx in try tx.insert(Short(id: 1)) },
      { tx in try tx.insert(Named(id: "", text: "")) },
      { tx in try tx.perform("explode", on: RecordKey("numbers", "1")) },
    ]
    try await store.write { tx in try tx.insert(Numbered(id: 1_000, text: "a")) }
    for body in bodies.dropLast() {
      let failure = await #expect(throws: DaybookError.self) { try await store.write(body) }
      #expect(failure?.code == .schema)
      #expect(failure.map { !"\($0)".contains("4711") } == true)
    }
    let last = await #expect(throws: DaybookError.self) { try await store.write(bodies[5]) }
    #expect(last?.code == .noSuchRecord)
    #expect(store.collection(Numbered.self).count() == 1)
    try await store.close()
  }
}
