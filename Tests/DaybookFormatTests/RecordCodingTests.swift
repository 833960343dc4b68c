import DaybookFormat
import Foundation
import Testing

private struct Widths: Codable, Equatable {
  var int8 = Int8.min
  var int16 = Int16.min
  var int32 = Int32.min
  var int64 = Int64.min
  var int = Int.max
  var uint8 = UInt8.max
  var uint16 = UInt16.max
  var uint32 = UInt32.max
  var uint64 = UInt64.max
  var uint = UInt.max
  var float: Float = 0.1
  var double = 0.1
  var truth = true
}

private enum State: String, Codable { case open, cancelled }

private enum Payment: Codable, Equatable {
  case cash
  case card(number: String, months: Int)
}

private struct Line: Codable, Equatable {
  var sku: String
  var quantity: Int
  var price: ExactDecimal
}

private struct Order: Codable, Equatable {
  var id: Identifier
  var shop: String
  var state: State
  var payment: Payment
  var lines: [Line]
  var note: String?
  var tags: [String: Int]
  var byDay: [Int: String]
  var taken: Timestamp
  var due: Date
  var total: Decimal
  var photo: Data
  var thumbnail: [UInt8]
  var key: UUID
  var link: URL
  var extra: Value
  var gaps: [Int?]
}

private let order = Order(
  id: Identifier(high: 0x0198_c0de_0000_7000, low: 0x8000_0000_0000_0001), shop: "17",
  state: .open, payment: .card(number: "4", months: 3),
  lines: [Line(sku: "A", quantity: 2, price: ExactDecimal(mantissa: 125, exponent: -2))],
  note: nil, tags: ["b": 1, "a": 2], byDay: [7: "x", -1: "y"],
  taken: Timestamp(milliseconds: 1_483_271_606_123),
  due: Date(timeIntervalSince1970: 1_483_271_606.5), total: Decimal(string: "-1234.50") ?? 0,
  photo: Data([1, 2]), thumbnail: [3], key: UUID(), link: URL(filePath: "/a/b"),
  extra: .map(["deep": .tagged(99, .undefined)]), gaps: [1, nil, 3])

@Suite struct RecordCodingTests {
  private func fields<T: Encodable>(_ value: T) throws -> ValueMap {
    try RecordEncoder().encodeFields(value)
  }

  private func roundTrip<T: Codable>(_ value: T) throws -> T {
    let bytes = CBOREncoder.encode(try RecordEncoder().encode(value))
    return try RecordDecoder().decode(T.self, from: CBORDecoder.decode(bytes))
  }

  @Test func `integers of every width are exact`() throws {
    #expect(try roundTrip(Widths()) == Widths())
    #expect(try fields(Widths())["uint64"] == .unsigned(.max))
    #expect(try fields(Widths())["int64"] == .int(.min))
    #expect(try fields(Widths())["int8"] == .int(-128))
  }

  @Test func `an order comes back as it was`() throws {
    #expect(try roundTrip(order) == order)
  }

  @Test func `each type has its form`() throws {
    let fields = try fields(order)
    #expect(fields["id"] == .text("0198c0de-0000-7000-8000-000000000001"))
    #expect(fields["state"] == .text("open"))
    #expect(fields["note"] == nil)
    #expect(fields["taken"] == .time(Timestamp(milliseconds: 1_483_271_606_123)))
    #expect(fields["due"] == .time(Timestamp(milliseconds: 1_483_271_606_500)))
    #expect(fields["total"] == .decimal(ExactDecimal(mantissa: -12345, exponent: -1)))
    #expect(fields["photo"] == .bytes([1, 2]))
    #expect(fields["thumbnail"] == .bytes([3]))
    #expect(fields["key"] == .text(order.key.uuidString))
    #expect(fields["tags"] == .map(["a": .unsigned(2), "b": .unsigned(1)]))
    #expect(fields["byDay"] == .map(["7": .text("x"), "-1": .text("y")]))
    #expect(fields["extra"] == order.extra)
    #expect(fields["gaps"] == .array([.unsigned(1), .null, .unsigned(3)]))
    let card = Value.map(["card": .map(["number": .text("4"), "months": .unsigned(3)])])
    #expect(fields["payment"] == card)
  }

  @Test func `a field given is there, a field absent or null is nil`() throws {
    struct Note: Codable, Equatable { var note: String?; var count: Int? }
    #expect(try roundTrip(Note(note: "x", count: 1)) == Note(note: "x", count: 1))
    let map: ValueMap = ["note": .null, "count": .undefined]
    #expect(try RecordDecoder().decode(Note.self, fromFields: map) == Note())
    #expect(try RecordDecoder().decode(Note.self, fromFields: [:]) == Note())
  }

  @Test func `dates are rounded to the millisecond, before 1970 too`() throws {
    for (seconds, milliseconds) in [(0.0004, 0), (0.0006, 1), (-0.0006, -1), (-1.2344, -1234)] {
      let value = try RecordEncoder().encode(Date(timeIntervalSince1970: seconds))
      #expect(value == .time(Timestamp(milliseconds: Int64(milliseconds))))
    }
    let now = Timestamp(milliseconds: 1_753_000_000_123)
    let date = try RecordDecoder().decode(Date.self, from: .time(now))
    #expect(try RecordEncoder().encode(date) == .time(now))
  }

  @Test func `bytes are read from an array too`() throws {
    let array = Value.array([.unsigned(1), .unsigned(255)])
    #expect(try RecordDecoder().decode([UInt8].self, from: array) == [1, 255])
    #expect(try RecordDecoder().decode(Data.self, from: array) == Data([1, 255]))
  }

  @Test func `whole numbers are taken for doubles if exact`() throws {
    let decoder = RecordDecoder()
    #expect(try decoder.decode(Double.self, from: .unsigned(5)) == 5)
    #expect(try decoder.decode([Double].self, from: .array([.int(-5)])) == [-5])
    #expect(try decoder.decode(Double.self, from: .negative(.max)) == -0x1p64)
    #expect(throws: DecodingError.self) { try decoder.decode(Double.self, from: .unsigned(.max)) }
    #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: .double(5)) }
    #expect(throws: DecodingError.self) { try decoder.decode(Float.self, from: .double(1e300)) }
    #expect(try decoder.decode(Decimal.self, from: .unsigned(12)) == 12)
    #expect(try decoder.decode(Float.self, from: .double(.infinity)) == .infinity)
  }

  @Test func `integer keys of other writers are found`() throws {
    var map = ValueMap()
    map[key: .unsigned(7)] = .text("x")
    #expect(try RecordDecoder().decode([Int: String].self, fromFields: map) == [7: "x"])
  }

  @Test func `fields must be named`() {
    for value in [Value.unsigned(1), .array([])] {
      #expect(throws: EncodingError.self) { try RecordEncoder().encodeFields(value) }
    }
    #expect(throws: EncodingError.self) { try RecordEncoder().encodeFields([1, 2]) }
    #expect(throws: EncodingError.self) { try RecordEncoder().encodeFields("x") }
  }
}
