import DaybookFormat
import Testing

@Suite struct TextFormTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2017-01-01T11:53:26Z", 1_483_271_606_000),
      ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
      ("1900-03-01T00:00:00Z", -2_203_891_200_000), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
      ("2024-02-29T12:00:00.050Z", 1_709_208_000_050),
    ] as [(String, Int64)])
  func `a known instant is written and read`(text: String, milliseconds: Int64) {
    #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
    ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"),
    ("1985-04-12t23:20:50.52z", "1985-04-12T23:20:50.520Z"),
    ("1937-01-01 12:00:27.8765432+00:20", "1937-01-01T11:40:27.876Z"),
  ])
  func `offsets, fractions and leap seconds are read`(text: String, same: String) {
    #expect(Timestamp(rfc3339: text)?.rfc3339 == same)
  }

  @Test(arguments: [
    "", "2017", "2017-01-01", "2017-1-01T00:00:00Z", "2017-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z", "2017-13-01T00:00:00Z", "2017-00-01T00:00:00Z",
    "2017-04-31T00:00:00Z", "2017-01-01T24:00:00Z", "2017-01-01T00:60:00Z",
    "2017-01-01T00:00:61Z", "2017-01-01T00:00:00", "2017-01-01T00:00:00.Z",
    "2017-01-01T00:00:00Zz", "2017-01-01T00:00:00+24:00", "0000-01-01T00:00:00Z",
    "+2017-01-01T00:00:00Z", "２017-01-01T00:00:00Z",
  ])
  func `a text that is no instant is refused`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test func `every day of 800 years follows the day before`() {
    var last = -1
    for day in Int64(-146_097)...146_097 {
      let text = Timestamp(milliseconds: day * 86_400_000).rfc3339
      #expect(Timestamp(rfc3339: text)?.milliseconds == day * 86_400_000)
      let dayOfMonth = Int(text.dropFirst(8).prefix(2)) ?? 0
      #expect(dayOfMonth == last + 1 || dayOfMonth == 1 && (last >= 28 || last == -1))
      last = dayOfMonth
    }
  }

  @Test func `instants out of the calendar's range are written and do not trap`() {
    #expect(Timestamp(milliseconds: .max).rfc3339 == "+292278994-08-17T07:12:55.807Z")
    #expect(Timestamp(milliseconds: .min).rfc3339 == "-292275055-05-16T16:47:04.192Z")
    #expect(Timestamp(milliseconds: -62_167_219_200_001).rfc3339 == "-000001-12-31T23:59:59.999Z")
  }

  @Test func `base64url round trips and refuses what no encoder writes`() {
    #expect(Base64URL.text(of: []) == "")
    #expect(Base64URL.text(of: [0xFB, 0xFF, 0xFE]) == "-__-")
    #expect(Base64URL.text(of: Array("foob".utf8)) == "Zm9vYg")
    #expect(Base64URL.text(of: Array("fooba".utf8)) == "Zm9vYmE")
    var random = RandomValue(seed: 21)
    for count in 0..<100 as Range<UInt64> {
      let bytes = random.bytes(count)
      #expect(Base64URL.bytes(of: Base64URL.text(of: bytes)) == bytes)
    }
    for text in ["A", "Zm9vYg==", "Zm9v+g", "Zm9vYh", "é"] {
      #expect(Base64URL.bytes(of: text) == nil, "\(text)")
    }
  }

  @Test(
    arguments: [
      ("0", 0, 0), ("12.5", 125, -1), ("-0.05", -5, -2), ("100", 1, 2), ("1.50", 15, -1),
      ("9223372036854775807", .max, 0), ("-9223372036854775808", .min, 0), ("5e40", 5, 40),
      ("92233720368547758070", .max, 1), ("-1e-30", -1, -30), ("1.5E+3", 15, 2), ("000", 0, 0),
    ] as [(String, Int64, Int64)])
  func `a decimal is read from its digits`(text: String, mantissa: Int64, exponent: Int64) {
    let decimal = ExactDecimal(mantissa: mantissa, exponent: exponent)
    #expect(ExactDecimal(text) == decimal)
    #expect(ExactDecimal(decimal.description) == decimal)
  }

  @Test func `decimals are written in digits where that is short`() {
    #expect(ExactDecimal(mantissa: -125, exponent: -1).description == "-12.5")
    #expect(ExactDecimal(mantissa: 5, exponent: -3).description == "0.005")
    #expect(ExactDecimal(mantissa: 7, exponent: 3).description == "7000")
    #expect(ExactDecimal(mantissa: 7, exponent: 21).description == "7e21")
    #expect(ExactDecimal(mantissa: 7, exponent: -40).description == "7e-40")
    #expect(ExactDecimal(mantissa: .min, exponent: .min).description.hasSuffix("e\(Int64.min)"))
    let others = ["", "-", ".", "1.", ".5", "1e", "1,5", "--1", "1.-5", "9223372036854775808", "٣"]
    for text in others {
      #expect(ExactDecimal(text) == nil, "\(text)")
    }
  }

  @Test func `SHA-256 gives the digests of FIPS 180-4`() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(Hexadecimal.text(of: SHA256Digest.hash([UInt8]())) == empty)
    #expect(Hexadecimal.text(of: SHA256Digest.hash(Array("abc".utf8))) == abc)
    var hasher = SHA256Digest.Hasher()
    for _ in 0..<1000 { hasher.update([UInt8](repeating: UInt8(ascii: "a"), count: 1000)) }
    #expect(Hexadecimal.text(of: hasher.finish()) == million)
    hasher.update(Array("ab".utf8))
    hasher.update(Array("c".utf8))
    #expect(Hexadecimal.text(of: hasher.finish()) == abc)
    #expect(Hexadecimal.text(of: hasher.finish()) == empty)
    #expect(SHA256Digest.hash(Array("zabc".utf8)[1...]) == SHA256Digest.hash(Array("abc".utf8)))
  }
}
