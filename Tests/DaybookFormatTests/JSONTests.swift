import DaybookFormat
import Testing

@Suite struct JSONTests {
  @Test(
    arguments: [
      (.null, "null"), (.bool(true), "true"), (.unsigned(7), "7"), (.int(-7), "-7"),
      (.unsigned(1 << 53), "9007199254740992"), (.unsigned(1 << 53 + 1), #""9007199254740993""#),
      (.int(-1 << 53), "-9007199254740992"), (.int(-1 << 53 - 1), #""-9007199254740993""#),
      (.negative(.max), #""-18446744073709551616""#), (.double(1), "1.0"),
      (.double(1e300), "1e+300"),
      (.double(.nan), "null"), (.double(-.infinity), "null"), (.undefined, "null"),
      (.simple(99), "null"), (.text("a\"\\\n\u{1}é"), #""a\"\\\n\u0001é""#),
      (.bytes([0xFB, 0xFF]), #""-_8""#),
      (.time(Timestamp(milliseconds: 1_483_271_606_000)), #""2017-01-01T11:53:26Z""#),
      (.decimal(ExactDecimal(mantissa: 1250, exponent: -2)), #""12.5""#),
      (.tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])), #""AQAAAAAAAAAA""#),
      (.tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])), #""~AQAAAAAAAAAA""#),
      (.tagged(32, .text("x")), #""x""#), (.array([.null, .unsigned(1)]), "[null,1]"),
      (.map(["bb": .unsigned(1), "c": .unsigned(2)]), #"{"c":2,"bb":1}"#),
    ] as [(Value, String)])
  func `a value has its JSON text`(value: Value, text: String) {
    #expect(JSONText.text(of: value) == text)
  }

  @Test func `a key that is not text becomes its JSON text`() {
    var map = ValueMap()
    map[key: .unsigned(1)] = .null
    map[key: .array([.unsigned(1), .text("a")])] = .bool(true)
    #expect(JSONText.text(of: .map(map)) == #"{"1":null,"[1,\"a\"]":true}"#)
  }

  /// What JSON can say without loss.
  static func plain(_ value: Value) -> Value {
    switch value {
    case .bool, .text: return value
    case .unsigned(let number): return number <= 1 << 53 ? value : .null
    case .negative(let number): return number < 1 << 53 ? value : .null
    case .double(let number): return number.isFinite ? value : .null
    case .array(let elements): return .array(elements.map(plain))
    case .map(let map):
      var result = ValueMap()
      for entry in map.entries { result[entry.key.text ?? ""] = plain(entry.value) }
      return .map(result)
    default: return .null
    }
  }

  @Test(arguments: [31, 32, 33] as [UInt64])
  func `plain values come back from their JSON text`(seed: UInt64) throws {
    var random = RandomValue(seed: seed)
    for index in 0..<500 {
      let value = JSONTests.plain(random.value())
      let text = JSONText.text(of: value)
      #expect(try JSONText.parse(text) == value, "seed \(seed), value \(index)")
      for count in 0..<text.utf8.count {
        // A shorter number is a number; what is nested can't be whole without its end.
        if case .map = value {
          #expect(throws: JSONError.self) { try JSONText.parse(Array(text.utf8)[..<count]) }
        } else {
          _ = try? JSONText.parse(Array(text.utf8)[..<count])
        }
      }
    }
  }

  @Test func `noise never traps`() {
    var random = RandomValue(seed: 34)
    let letters = Array(#"{}[]",:\u0dDe+-.1 8tfn"#.utf8) + [0x0A, 0xC3, 0xA9, 0xFF, 0x00]
    for _ in 0..<50_000 {
      let bytes = (0..<random.generator.next() % 20).map { _ in random.pick(letters) }
      _ = try? JSONText.parse(bytes)
    }
  }

  @Test(
    arguments: [
      (
        #" [1, -0, 1.0, 1e2, -1.5E-1] "#,
        .array([.unsigned(1), .unsigned(0), .double(1), .double(100), .double(-0.15)])
      ),
      ("18446744073709551615", .unsigned(.max)), ("-18446744073709551616", .negative(.max)),
      ("18446744073709551616", .double(0x1p64)), ("-9223372036854775808", .int(.min)),
      (#""\u00e9\ud83d\ude00\/\b\f\t\r""#, .text("é😀/\u{8}\u{C}\t\r")),
      (#""e\u0301\r\n""#, .text("e\u{301}\r\n")), (#"{"":{}}"#, .map(["": .map([:])])),
    ] as [(String, Value)])
  func `a JSON text has its value`(text: String, value: Value) throws {
    #expect(try JSONText.parse(text) == value)
  }

  @Test(
    arguments: [
      ("", .truncated(offset: 0)), ("[1,]", .unexpected(offset: 3, byte: 0x5D)),
      ("{\"a\":1,}", .unexpected(offset: 7, byte: 0x7D)), ("[1", .truncated(offset: 2)),
      ("01", .badNumber(offset: 0)), ("1.", .truncated(offset: 0)), ("[1.]", .badNumber(offset: 1)),
      ("[1e]", .badNumber(offset: 1)), ("+1", .unexpected(offset: 0, byte: 0x2B)),
      ("1e400", .numberOutOfRange(offset: 0)), ("nul", .truncated(offset: 3)),
      ("nulL", .unexpected(offset: 3, byte: 0x4C)), ("1 2", .trailing(offset: 2)),
      (#"{"a":1,"a":2}"#, .duplicateName(offset: 0)), (#""\ud800""#, .badEscape(offset: 1)),
      (#""\udc00""#, .badEscape(offset: 1)), (#""\ud800\u0041""#, .badEscape(offset: 1)),
      (#""\x""#, .badEscape(offset: 1)), (#""\u00g0""#, .badEscape(offset: 1)),
      ("\"\n\"", .unexpected(offset: 1, byte: 0x0A)), ("'a'", .unexpected(offset: 0, byte: 0x27)),
      ("{1:2}", .unexpected(offset: 1, byte: 0x31)),
      ("\u{FEFF}1", .unexpected(offset: 0, byte: 0xEF)),
      ("NaN", .unexpected(offset: 0, byte: 0x4E)),
      ("{\"a\" 1}", .unexpected(offset: 5, byte: 0x31)),
    ] as [(String, JSONError)])
  func `a text that is not JSON is refused with the offset`(text: String, error: JSONError) {
    #expect(throws: error) { try JSONText.parse(text) }
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    #expect(throws: JSONError.notText(offset: 1)) { try JSONText.parse([0x5B, 0x22, 0xFF, 0x22]) }
    let surrogate: [UInt8] = [0x22, 0xED, 0xA0, 0x80, 0x22]
    #expect(throws: JSONError.notText(offset: 0)) { try JSONText.parse(surrogate) }
  }

  @Test func `limits hold`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONError.tooDeep(offset: 64, limit: 64)) { try JSONText.parse(deep) }
    #expect(throws: JSONError.tooLarge(byteCount: 3, limit: 2)) {
      try JSONText.parse("[1]", limits: CBORLimits(byteCount: 2))
    }
  }

  @Test func `an object keeps the order in which names were set`() {
    var inner = JSONObject()
    inner.set("z", 1)
    inner.set("a", "x\"y")
    var object = JSONObject()
    object.set("runs", 3)
    object.set("ok", true)
    object.set("list", [inner, JSONObject()])
    object.set("inner", inner)
    object.set("runs", 4)
    object.set("value", Value.array([.double(0.5)]))
    #expect(
      object.text == #"{"runs":4,"ok":true,"list":[{"z":1,"a":"x\"y"},{}],"#
        + #""inner":{"z":1,"a":"x\"y"},"value":[0.5]}"#)
  }
}
