import DaybookFormat
import Foundation
import Testing

private struct Inner: Codable {
  var small: Int8
  var names: [String]
}

private struct Outer: Codable {
  var inner: [Inner]
  var when: Date?
}

private class Animal: Codable {
  var legs = 4
}

private final class Dog: Animal {
  var name = "Rex"

  enum CodingKeys: CodingKey { case name }

  override init() { super.init() }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

/// Writes through every kind of nested container, filled out of order.
private struct Nested: Encodable {
  enum Key: CodingKey { case first, second, list }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    var second = container.nestedContainer(keyedBy: Key.self, forKey: .second)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try container.encode(1, forKey: .first)
    var row = list.nestedContainer(keyedBy: Key.self)
    var empty = list.nestedUnkeyedContainer()
    try list.encode(3)
    try empty.encodeNil()
    try row.encode("x", forKey: .second)
    try second.encode(2.5, forKey: .first)
    var again = container.nestedContainer(keyedBy: Key.self, forKey: .second)
    try again.encode(true, forKey: .list)
    try container.encode(7, forKey: .first)
    #expect(again.codingPath.map(\.stringValue) == ["second"])
    #expect(row.codingPath.map(\.stringValue) == ["list", "Index 0"])
  }
}

private final class Chain: Codable {
  var next: Chain?
  init(_ next: Chain?) { self.next = next }
}

private struct Contradiction: Encodable {
  func encode(to encoder: any Encoder) throws {
    var keyed = encoder.container(keyedBy: Nested.Key.self)
    try keyed.encode(1, forKey: .first)
    var list = encoder.unkeyedContainer()
    try list.encode(1)
  }
}

@Suite struct RecordCodingErrorTests {
  private func path(_ fields: ValueMap) -> String {
    do {
      _ = try RecordDecoder().decode(Outer.self, fromFields: fields)
      return "decoded"
    } catch let error as DecodingError {
      switch error {
      case .typeMismatch(_, let context): return "mismatch " + spell(context.codingPath)
      case .valueNotFound(_, let context): return "no value " + spell(context.codingPath)
      case .dataCorrupted(let context): return "corrupted " + spell(context.codingPath)
      case .keyNotFound(let key, let context):
        return "no key \(key.stringValue) in " + spell(context.codingPath)
      @unknown default: return "unknown"
      }
    } catch {
      return "\(error)"
    }
  }

  private func spell(_ path: [any CodingKey]) -> String {
    path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }

  @Test func `an error names the path of the field`() {
    let names = Value.array([.text("a"), .unsigned(1)])
    let inner = ValueMap(["small": .unsigned(1), "names": names])
    #expect(path(["inner": .array([.map(inner)])]) == "mismatch inner.0.names.1")
    #expect(path(["inner": .array([.map(["small": .unsigned(128)])])]) == "corrupted inner.0.small")
    #expect(path(["inner": .array([.map(["small": .int(-129)])])]) == "corrupted inner.0.small")
    #expect(path(["inner": .array([.map(["small": .null])])]) == "no value inner.0.small")
    #expect(path(["inner": .array([.map([:])])]) == "no key small in inner.0")
    #expect(path(["inner": .array([.unsigned(1)])]) == "mismatch inner.0")
    #expect(path(["inner": .map([:])]) == "mismatch inner")
    #expect(path(["inner": .array([]), "when": .text("2017-01-01T00:00:00Z")]) == "mismatch when")
    #expect(path([:]) == "no key inner in ")
  }

  @Test func `a payload never stands in an error's text`() {
    let secret = Value.map(["inner": .text("hunter2")])
    let error = #expect(throws: DecodingError.self) {
      try RecordDecoder().decode(Outer.self, from: secret)
    }
    #expect(!"\(error as Any)".contains("hunter2"))
  }

  @Test func `a negative number is no unsigned one`() {
    #expect(throws: DecodingError.self) { try RecordDecoder().decode(UInt.self, from: .int(-1)) }
    #expect(throws: DecodingError.self) {
      try RecordDecoder().decode(Int64.self, from: .negative(1 << 63))
    }
    #expect(throws: DecodingError.self) {
      try RecordDecoder().decode([UInt8].self, from: .array([.unsigned(256)]))
    }
  }

  @Test func `a superclass is kept under its own name`() throws {
    let dog = Dog()
    dog.legs = 3
    let value = try RecordEncoder().encode(dog)
    #expect(value == .map(["name": .text("Rex"), "super": .map(["legs": .unsigned(3)])]))
    #expect(try RecordDecoder().decode(Dog.self, from: value).legs == 3)
  }

  @Test func `nested containers may be filled in any order`() throws {
    let row = Value.map(["second": .text("x")])
    #expect(
      try RecordEncoder().encodeFields(Nested()) == [
        "first": .unsigned(7), "second": .map(["first": .double(2.5), "list": .bool(true)]),
        "list": .array([row, .array([.null]), .unsigned(3)]),
      ])
  }

  @Test func `what a value can't hold is refused`() {
    let encoder = RecordEncoder()
    #expect(throws: EncodingError.self) { try encoder.encode(Date(timeIntervalSince1970: .nan)) }
    #expect(throws: EncodingError.self) {
      try encoder.encode(Date(timeIntervalSince1970: .infinity))
    }
    #expect(throws: EncodingError.self) {
      try encoder.encode(Decimal(string: "9223372036854775808"))
    }
    #expect(throws: EncodingError.self) { try encoder.encode(Decimal.nan) }
    #expect(throws: EncodingError.self) { try encoder.encode([Value.simple(22)]) }
    #expect(throws: EncodingError.self) { try encoder.encode(Contradiction()) }
  }

  @Test func `nesting ends at the limit of the decoder`() throws {
    var chain: Chain? = nil
    for _ in 0..<64 { chain = Chain(chain) }
    let value = try RecordEncoder().encode(chain)
    #expect(value.storageProblem == nil)
    #expect(throws: EncodingError.self) { try RecordEncoder().encode(Chain(chain)) }
    var deep = Value.null
    for _ in 0..<64 { deep = .array([deep]) }
    #expect(throws: EncodingError.self) { try RecordEncoder().encode([deep]) }
  }

  @Test func `other coders see the JSON text's mapping`() throws {
    let value = Value.map([
      "a": .array([.unsigned(1), .int(-2), .double(0.5), .null, .bool(true)]),
      "t": .time(Timestamp(milliseconds: 0)), "b": .bytes([255]),
    ])
    let json = try JSONEncoder().encode(value)
    #expect(
      try JSONText.parse(Array(json))
        == .map([
          "a": .array([.unsigned(1), .int(-2), .double(0.5), .null, .bool(true)]),
          "t": .text("1970-01-01T00:00:00Z"), "b": .text("_w"),
        ]))
    #expect(try JSONDecoder().decode(Value.self, from: json) == JSONText.parse(Array(json)))
    let times = [Timestamp(milliseconds: 1500)]
    #expect(try JSONDecoder().decode([Timestamp].self, from: JSONEncoder().encode(times)) == times)
  }
}
