import DaybookFormat
import Testing

/// Bytes that are refused, and the words for it.
struct Refusal: Sendable, CustomTestStringConvertible {
  let bytes: String
  let canonical: CBORError
  let lenient: CBORError?

  init(_ bytes: String, _ both: CBORError) {
    (self.bytes, canonical, lenient) = (bytes, both, both)
  }

  init(_ bytes: String, breaks rule: CBORError.Rule, at offset: Int = 0) {
    self.bytes = bytes
    canonical = .notCanonical(offset: offset, rule: rule)
    lenient = nil
  }

  var testDescription: String { bytes }

  static let table: [Refusal] = [
    Refusal("", .truncated(offset: 0)),
    Refusal("18", .truncated(offset: 0)),
    Refusal("8201", .lengthBeyondEnd(offset: 0, claimed: 2, remaining: 1)),
    Refusal("1c", .malformed(offset: 0, byte: 0x1C)),
    Refusal("1f", .malformed(offset: 0, byte: 0x1F)),
    Refusal("81fe", .malformed(offset: 1, byte: 0xFE)),
    Refusal("ff", .malformed(offset: 0, byte: 0xFF)),
    Refusal("f818", .malformed(offset: 0, byte: 0xF8)),
    Refusal("61ff", .notText(offset: 0)),
    Refusal("62c080", .notText(offset: 0)),
    Refusal("63eda080", .notText(offset: 0)),
    Refusal("5b1000000000000000", .lengthBeyondEnd(offset: 0, claimed: 1 << 60, remaining: 0)),
    Refusal("9b1000000000000000", .lengthBeyondEnd(offset: 0, claimed: 1 << 60, remaining: 0)),
    Refusal("bb1000000000000000", .lengthBeyondEnd(offset: 0, claimed: 1 << 60, remaining: 0)),
    Refusal("9bffffffffffffffff", .lengthBeyondEnd(offset: 0, claimed: .max, remaining: 0)),
    Refusal("1817", breaks: .shortestArgument),
    Refusal("190017", breaks: .shortestArgument),
    Refusal("1900ff", breaks: .shortestArgument),
    Refusal("1a0000ffff", breaks: .shortestArgument),
    Refusal("811b00000000ffffffff", breaks: .shortestArgument, at: 1),
    Refusal("580100", breaks: .shortestArgument),
    Refusal("d80100", breaks: .shortestArgument),
    Refusal("fa3f800000", breaks: .narrowestFloat),
    Refusal("fb3ff0000000000000", breaks: .narrowestFloat),
    Refusal("f97e01", breaks: .narrowestFloat),
    Refusal("9fff", breaks: .definiteLength),
    Refusal("7fff", breaks: .definiteLength),
    Refusal("a2616200616100", breaks: .keyOrder, at: 4),
    Refusal("a262616100616200", breaks: .keyOrder, at: 5),
    Refusal("c1f93c00", breaks: .time),
    Refusal("c1fb3ff0004189374bc7", breaks: .time),
    Refusal("c482010a", breaks: .decimal),
    Refusal("c482011864", breaks: .decimal),
    Refusal("c24101", breaks: .bignum),
    Refusal("c34101", breaks: .bignum),
    Refusal("c24a00010000000000000000", breaks: .bignum),
  ]
}

@Suite struct CBORRefusalTests {
  @Test(arguments: Refusal.table)
  func `bad bytes are refused with the offset`(refusal: Refusal) throws {
    let bytes = try #require(Hexadecimal.bytes(of: refusal.bytes))
    #expect(throws: refusal.canonical) { try CBORDecoder.decode(bytes, mode: .canonical) }
    if let lenient = refusal.lenient {
      #expect(throws: lenient) { try CBORDecoder.decode(bytes, mode: .lenient) }
    } else {
      #expect(throws: Never.self) { try CBORDecoder.decode(bytes, mode: .lenient) }
    }
  }

  @Test func `a key given twice is refused in both modes`() throws {
    let bytes = try #require(Hexadecimal.bytes(of: "a2616100616101"))
    #expect(throws: CBORError.duplicateKey(offset: 4)) { try CBORDecoder.decode(bytes) }
    #expect(throws: CBORError.duplicateKey(offset: 0)) {
      try CBORDecoder.decode(bytes, mode: .lenient)
    }
    // The same key in two widths.
    let widths = try #require(Hexadecimal.bytes(of: "a20100180101"))
    #expect(throws: CBORError.duplicateKey(offset: 0)) {
      try CBORDecoder.decode(widths, mode: .lenient)
    }
  }

  @Test func `two spellings of one letter are two keys`() throws {
    let map: ValueMap = ["\u{E9}": .unsigned(1), "e\u{301}": .unsigned(2)]
    #expect(map.count == 2)
    #expect(Value.text("\u{E9}") != Value.text("e\u{301}"))
    #expect(try CBORDecoder.decode(CBOREncoder.encode(.map(map))) == .map(map))
  }

  @Test(arguments: [CBORMode.canonical, .lenient])
  func `nesting ends at the limit`(mode: CBORMode) {
    let head: [[UInt8]] = [[0x81], [0xA1, 0x00], [0xC6]]
    for head in head {
      let whole = Array(repeatElement(head, count: 64).joined()) + [0x00]
      #expect(throws: Never.self) { try CBORDecoder.decode(whole, mode: mode) }
      let deep = Array(repeatElement(head, count: 100_000).joined())
      #expect(throws: CBORError.tooDeep(offset: 64 * head.count, limit: 64)) {
        try CBORDecoder.decode(deep, mode: mode)
      }
    }
  }

  @Test func `claims at every level take no memory`() {
    // 64 levels, each claiming all that is left; 1 MiB of bytes in all.
    var bytes: [UInt8] = []
    for _ in 0..<63 { bytes += [0x9A, 0x00, 0x0F, 0x00, 0x00] }
    bytes += [UInt8](repeating: 0xF6, count: 1 << 20)
    #expect(throws: CBORError.self) { try CBORDecoder.decode(bytes, mode: .lenient) }
  }

  @Test func `a large map in the worst order is sorted once`() throws {
    let count = 100_000
    var bytes: [UInt8] = [0xBA, 0x00, 0x01, 0x86, 0xA0]
    for index in (0..<count).reversed() {
      CBOREncoder.append(.text("key \(index)"), to: &bytes)
      bytes.append(0xF6)
    }
    let clock = ContinuousClock()
    var map: Value?
    let elapsed = try clock.measure { map = try CBORDecoder.decode(bytes, mode: .lenient) }
    #expect(map?.map?.count == count)
    #expect(elapsed < .seconds(5))
  }

  @Test func `more bytes than the limit are refused as too large`() {
    let bytes = CBOREncoder.encode(.bytes([UInt8](repeating: 7, count: 200)))
    #expect(throws: CBORError.tooLarge(byteCount: 202, limit: 100)) {
      try CBORDecoder.decode(bytes, limits: CBORLimits(byteCount: 100))
    }
  }

  @Test func `a value too deep to be read back says so`() {
    var value = Value.null
    for _ in 0..<64 { value = .array([value]) }
    #expect(value.storageProblem == nil)
    #expect(Value.array([value]).storageProblem == .tooDeep(limit: 64))
    #expect(Value.simple(20).storageProblem == .reservedSimple(20))
  }
}
