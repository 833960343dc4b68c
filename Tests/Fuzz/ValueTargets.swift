import DaybookFormat

/// Values, and what is made of them.
enum ValueTargets {
  /// CBOR: what is canonical is written as it was read; what is not, reads the same once it is.
  static func cbor(_ input: [UInt8]) {
    if let value = try? CBORDecoder.decode(input) {
      hold(CBOREncoder.encode(value) == input, "canonical bytes were written otherwise")
    }
    guard let value = try? CBORDecoder.decode(input, mode: .lenient) else { return }
    let bytes = CBOREncoder.encode(value)
    let again = try? CBORDecoder.decode(bytes)
    hold(again == value, "a value is another one after writing it")
    _ = JSONText.text(of: value)
  }

  /// JSON: a text that was written by us is written the same again.
  static func json(_ input: [UInt8]) {
    guard let value = try? JSONText.parse(input) else { return }
    let text = JSONText.text(of: value)
    guard let again = try? JSONText.parse(text) else { return hold(false, "own JSON is refused") }
    hold(JSONText.text(of: again) == text, "own JSON is written otherwise")
  }

  /// The JSON of a schema.
  static func schema(_ input: [UInt8]) {
    _ = try? Schema(json: input)
  }

  /// The forms of text: each one that is read is written so that it reads the same.
  static func text(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    switch kind % 7 {
    case 0:
      guard let cursor = try? Cursor(text: text) else { return }
      hold((try? Cursor(text: cursor.text)) == cursor, "cursor")
    case 1:
      guard let identifier = Identifier(text) else { return }
      hold(Identifier(identifier.description) == identifier, "identifier")
    case 2:
      guard let decimal = ExactDecimal(text) else { return }
      hold(ExactDecimal(decimal.description) == decimal, "decimal")
    case 3:
      guard let time = Timestamp(rfc3339: text) else { return }
      hold(Timestamp(rfc3339: time.rfc3339) == time, "time")
    case 4:
      guard let bytes = Base64URL.bytes(of: text) else { return }
      hold(Base64URL.text(of: bytes) == text, "base64url")
    case 5:
      guard let digest = SHA256Digest(hexadecimal: text) else { return }
      hold(SHA256Digest(hexadecimal: digest.hexadecimal) == digest, "digest")
    default:
      guard let anchor = try? Anchor(text: text) else { return }
      hold((try? Anchor(text: anchor.text)) == anchor, "anchor")
      hold((try? Anchor(value: anchor.value)) == anchor, "anchor as a value")
    }
  }

  /// An app's type with every kind of field.
  private struct Sample: Codable {
    enum Word: String, Codable { case open, closed }

    var text: String
    var number: Int
    var small: UInt8?
    var double: Double?
    var flag: Bool?
    var word: Word?
    var decimal: ExactDecimal?
    var time: Timestamp?
    var bytes: [UInt8]?
    var list: [Int]?
    var nested: [String: [Double?]]?
  }

  /// Rows as an app's type: what is read is written, and reads again.
  static func record(_ input: [UInt8]) {
    guard let value = try? CBORDecoder.decode(input, mode: .lenient),
      let sample = try? RecordDecoder().decode(Sample.self, from: value)
    else { return }
    guard let fields = try? RecordEncoder().encodeFields(sample) else { return }
    let again = try? RecordDecoder().decode(Sample.self, fromFields: fields)
    hold(again != nil, "a record that was written is not read")
  }
}
