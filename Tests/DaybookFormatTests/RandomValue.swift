import DaybookFormat

/// Values of every kind, with a liking for the edges of each.
struct RandomValue {
  var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int(generator.next() % UInt64(elements.count))]
  }

  mutating func number() -> UInt64 {
    let edge = pick([0, 1, 23, 24, 255, 256, 65535, 65536, 0xFFFF_FFFF, 0x1_0000_0000, UInt64.max])
    return generator.next() % 3 == 0 ? edge : generator.next() >> (generator.next() % 64)
  }

  mutating func double() -> Double {
    switch generator.next() % 4 {
    case 0: return pick([0, -0.0, 1.5, .infinity, -.infinity, .nan, 65504, 0x1p-24, 0x1p-149])
    case 1: return Double(Int64(bitPattern: generator.next()) >> 40) / 8
    case 2: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())))
    default: return Double(bitPattern: generator.next())
    }
  }

  mutating func text() -> String {
    let letters = ["a", "b", "Z", "é", "e\u{301}", "水", "𐅑", "\0", "\"", "\\", "\n", "7", "/"]
    return (0..<generator.next() % 12).map { _ in pick(letters) }.joined()
  }

  mutating func bytes(_ count: UInt64) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  mutating func milliseconds() -> Int64 {
    let edge: Int64 = pick(
      [0, 1, -1, 999, -999, 1000, 1 << 51, (1 << 51) - 1, -(1 << 51), .min, .max])
    if generator.next() % 4 == 0 { return edge }
    return Int64(bitPattern: generator.next()) >> Int64(generator.next() % 64)
  }

  mutating func value(depth: Int = 0) -> Value {
    switch generator.next() % (depth < 4 ? 16 : 12) {
    case 0: return .null
    case 1: return .bool(generator.next() % 2 == 0)
    case 2: return .unsigned(number())
    case 3: return .negative(number())
    case 4: return .double(double())
    case 5: return .text(text())
    case 6: return .bytes(bytes(generator.next() % 20))
    case 7:
      let mantissa = Int64(bitPattern: generator.next()) >> (generator.next() % 64)
      return .decimal(ExactDecimal(mantissa: mantissa, exponent: Int64(generator.next() % 40) - 20))
    case 8, 9: return .time(Timestamp(milliseconds: milliseconds()))
    case 10: return .undefined
    case 11: return .simple(pick([0, 19, 32, 255]))
    case 12: return .tagged(pick([0, 23, 24, 32, 1000, .max]), value(depth: depth + 1))
    case 13: return .array((0..<generator.next() % 6).map { _ in value(depth: depth + 1) })
    default:
      var map = ValueMap()
      for _ in 0..<generator.next() % 8 {
        let textual = generator.next() % 4 != 0
        map[key: textual ? .text(text()) : value(depth: 4)] = value(depth: depth + 1)
      }
      return .map(map)
    }
  }
}
