import DaybookFormat
import Testing

/// A row of the table: bytes, what they are, and the deterministic bytes if they differ.
struct CBORVector: Sendable, CustomTestStringConvertible {
  let bytes: String
  let value: Value
  let canonical: String

  init(_ bytes: String, _ value: Value, canonical: String? = nil) {
    self.bytes = bytes
    self.value = value
    self.canonical = canonical ?? bytes
  }

  var testDescription: String { bytes }

  private static let nested = Value.array([
    .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
  ])
  private static let oneToTwentyFive = Value.array((1...25).map { .unsigned($0) })
  private static let letters = Value.map([
    "a": .text("A"), "b": .text("B"), "c": .text("C"), "d": .text("D"), "e": .text("E"),
  ])
  private static var integerKeys: Value {
    var map = ValueMap()
    map[key: .unsigned(1)] = .unsigned(2)
    map[key: .unsigned(3)] = .unsigned(4)
    return .map(map)
  }

  /// RFC 8949, appendix A, in the order of the table there.
  static let appendixA: [CBORVector] = [
    CBORVector("00", .unsigned(0)),
    CBORVector("01", .unsigned(1)),
    CBORVector("0a", .unsigned(10)),
    CBORVector("17", .unsigned(23)),
    CBORVector("1818", .unsigned(24)),
    CBORVector("1819", .unsigned(25)),
    CBORVector("1864", .unsigned(100)),
    CBORVector("1903e8", .unsigned(1000)),
    CBORVector("1a000f4240", .unsigned(1_000_000)),
    CBORVector("1b000000e8d4a51000", .unsigned(1_000_000_000_000)),
    CBORVector("1bffffffffffffffff", .unsigned(.max)),
    CBORVector("c249010000000000000000", .tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
    CBORVector("3bffffffffffffffff", .negative(.max)),
    CBORVector("c349010000000000000000", .tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
    CBORVector("20", .int(-1)),
    CBORVector("29", .int(-10)),
    CBORVector("3863", .int(-100)),
    CBORVector("3903e7", .int(-1000)),
    CBORVector("f90000", .double(0)),
    CBORVector("f98000", .double(-0.0)),
    CBORVector("f93c00", .double(1)),
    CBORVector("fb3ff199999999999a", .double(1.1)),
    CBORVector("f93e00", .double(1.5)),
    CBORVector("f97bff", .double(65504)),
    CBORVector("fa47c35000", .double(100_000)),
    CBORVector("fa7f7fffff", .double(3.4028234663852886e+38)),
    CBORVector("fb7e37e43c8800759c", .double(1e300)),
    CBORVector("f90001", .double(5.960464477539063e-8)),
    CBORVector("f90400", .double(0.00006103515625)),
    CBORVector("f9c400", .double(-4)),
    CBORVector("fbc010666666666666", .double(-4.1)),
    CBORVector("f97c00", .double(.infinity)),
    CBORVector("f97e00", .double(.nan)),
    CBORVector("f9fc00", .double(-.infinity)),
    CBORVector("fa7f800000", .double(.infinity), canonical: "f97c00"),
    CBORVector("fa7fc00000", .double(.nan), canonical: "f97e00"),
    CBORVector("faff800000", .double(-.infinity), canonical: "f9fc00"),
    CBORVector("fb7ff0000000000000", .double(.infinity), canonical: "f97c00"),
    CBORVector("fb7ff8000000000000", .double(.nan), canonical: "f97e00"),
    CBORVector("fbfff0000000000000", .double(-.infinity), canonical: "f9fc00"),
    CBORVector("f4", .bool(false)),
    CBORVector("f5", .bool(true)),
    CBORVector("f6", .null),
    CBORVector("f7", .undefined),
    CBORVector("f0", .simple(16)),
    CBORVector("f8ff", .simple(255)),
    CBORVector(
      "c074323031332d30332d32315432303a30343a30305a",
      .tagged(0, .text("2013-03-21T20:04:00Z"))),
    CBORVector("c11a514b67b0", .time(Timestamp(milliseconds: 1_363_896_240_000))),
    CBORVector("c1fb41d452d9ec200000", .time(Timestamp(milliseconds: 1_363_896_240_500))),
    CBORVector("d74401020304", .tagged(23, .bytes([1, 2, 3, 4]))),
    CBORVector("d818456449455446", .tagged(24, .bytes([0x64, 0x49, 0x45, 0x54, 0x46]))),
    CBORVector(
      "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
      .tagged(32, .text("http://www.example.com"))),
    CBORVector("40", .bytes([])),
    CBORVector("4401020304", .bytes([1, 2, 3, 4])),
    CBORVector("60", .text("")),
    CBORVector("6161", .text("a")),
    CBORVector("6449455446", .text("IETF")),
    CBORVector("62225c", .text("\"\\")),
    CBORVector("62c3bc", .text("\u{fc}")),
    CBORVector("63e6b0b4", .text("\u{6c34}")),
    CBORVector("64f0908591", .text("\u{10151}")),
    CBORVector("80", .array([])),
    CBORVector("83010203", .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
    CBORVector("8301820203820405", nested),
    CBORVector("98190102030405060708090a0b0c0d0e0f101112131415161718181819", oneToTwentyFive),
    CBORVector("a0", .map(ValueMap())),
    CBORVector("a201020304", integerKeys),
    CBORVector(
      "a26161016162820203",
      .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])])),
    CBORVector("826161a161626163", .array([.text("a"), .map(["b": .text("c")])])),
    CBORVector("a56161614161626142616361436164614461656145", letters),
    CBORVector("5f42010243030405ff", .bytes([1, 2, 3, 4, 5]), canonical: "450102030405"),
    CBORVector("7f657374726561646d696e67ff", .text("streaming"), canonical: "6973747265616d696e67"),
    CBORVector("9fff", .array([]), canonical: "80"),
    CBORVector("9f018202039f0405ffff", nested, canonical: "8301820203820405"),
    CBORVector("9f01820203820405ff", nested, canonical: "8301820203820405"),
    CBORVector("83018202039f0405ff", nested, canonical: "8301820203820405"),
    CBORVector("83019f0203ff820405", nested, canonical: "8301820203820405"),
    CBORVector(
      "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
      oneToTwentyFive,
      canonical: "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
    CBORVector(
      "bf61610161629f0203ffff",
      .map(["a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)])]),
      canonical: "a26161016162820203"),
    CBORVector(
      "826161bf61626163ff",
      .array([.text("a"), .map(["b": .text("c")])]),
      canonical: "826161a161626163"),
    CBORVector(
      "bf6346756ef563416d7421ff",
      .map(["Fun": .bool(true), "Amt": .int(-2)]),
      canonical: "a263416d74216346756ef5"),
  ]
}
