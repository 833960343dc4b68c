/// A place in a JSON text, moved on value by value; `offset` never passes the text's end.
struct JSONReader {
  let buffer: UnsafeRawBufferPointer
  let depthLimit: Int
  private(set) var offset = 0

  init(buffer: UnsafeRawBufferPointer, depthLimit: Int) {
    self.buffer = buffer
    self.depthLimit = depthLimit
  }

  /// The next byte, which stays where it is.
  private func peek() throws(JSONError) -> UInt8 {
    guard offset < buffer.count else { throw .truncated(offset: offset) }
    return buffer[offset]
  }

  /// Moves over space, tabs and line ends.
  mutating func skipSpace() {
    while offset < buffer.count {
      switch buffer[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  /// Reads one value; `depth` counts the arrays and objects around it.
  mutating func value(depth: Int) throws(JSONError) -> Value {
    skipSpace()
    let first = try peek()
    switch first {
    case UInt8(ascii: "{"): return .map(try object(depth))
    case UInt8(ascii: "["): return .array(try array(depth))
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw .unexpected(offset: offset, byte: first)
    }
  }

  private mutating func literal(
    _ word: StaticString, _ value: Value
  ) throws(JSONError) -> Value {
    for index in 0..<word.utf8CodeUnitCount {
      let byte = try peek()
      guard byte == word.utf8Start[index] else { throw .unexpected(offset: offset, byte: byte) }
      offset += 1
    }
    return value
  }

  // MARK: Containers

  private mutating func array(_ depth: Int) throws(JSONError) -> [Value] {
    try enter(depth)
    var elements: [Value] = []
    if try ends(with: UInt8(ascii: "]")) { return elements }
    while true {
      elements.append(try value(depth: depth + 1))
      if try !continues(end: UInt8(ascii: "]")) { return elements }
    }
  }

  private mutating func object(_ depth: Int) throws(JSONError) -> ValueMap {
    let start = offset
    try enter(depth)
    var entries: [ValueMap.Entry] = []
    if try ends(with: UInt8(ascii: "}")) { return ValueMap() }
    while true {
      skipSpace()
      let quote = try peek()
      guard quote == UInt8(ascii: "\"") else { throw .unexpected(offset: offset, byte: quote) }
      let name = try string()
      skipSpace()
      let colon = try peek()
      guard colon == UInt8(ascii: ":") else { throw .unexpected(offset: offset, byte: colon) }
      offset += 1
      entries.append(ValueMap.Entry(key: .text(name), value: try value(depth: depth + 1)))
      if try continues(end: UInt8(ascii: "}")) { continue }
      guard let map = ValueMap(unordered: entries) else { throw .duplicateName(offset: start) }
      return map
    }
  }

  private mutating func enter(_ depth: Int) throws(JSONError) {
    guard depth < depthLimit else { throw .tooDeep(offset: offset, limit: depthLimit) }
    offset += 1
  }

  /// Whether the container ends before its first element; takes the end if so.
  private mutating func ends(with end: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard try peek() == end else { return false }
    offset += 1
    return true
  }

  /// Whether another element follows; takes the comma or the end.
  private mutating func continues(end: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    let byte = try peek()
    guard byte == UInt8(ascii: ",") || byte == end else {
      throw .unexpected(offset: offset, byte: byte)
    }
    offset += 1
    return byte != end
  }

  // MARK: Strings

  private mutating func string() throws(JSONError) -> String {
    let start = offset
    offset += 1
    var plain = offset
    var unescaped: [UInt8] = []
    while true {
      let byte = try peek()
      switch byte {
      case UInt8(ascii: "\""):
        let last = UnsafeRawBufferPointer(rebasing: buffer[plain..<offset])
        offset += 1
        // Validated once, over the whole: an escape can't stand inside of a character.
        let text: String?
        if unescaped.isEmpty {
          text = UTF8Bytes.text(last)
        } else {
          text = String(validating: unescaped + last, as: UTF8.self)
        }
        guard let text else { throw .notText(offset: start) }
        return text
      case UInt8(ascii: "\\"):
        unescaped.append(contentsOf: buffer[plain..<offset])
        unescaped.append(contentsOf: String(try escape()).utf8)
        plain = offset
      case 0..<0x20: throw .unexpected(offset: offset, byte: byte)
      default: offset += 1
      }
    }
  }

  /// The character that an escape stands for.
  private mutating func escape() throws(JSONError) -> Character {
    let start = offset
    offset += 1
    let mark = try peek()
    offset += 1
    switch mark {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return Character(Unicode.Scalar(mark))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw .badEscape(offset: start)
    }
    let first = try fourDigits(start)
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    guard (0xD800..<0xDC00).contains(first), offset + 1 < buffer.count,
      buffer[offset] == UInt8(ascii: "\\"), buffer[offset + 1] == UInt8(ascii: "u")
    else { throw .badEscape(offset: start) }
    offset += 2
    let second = try fourDigits(start)
    guard (0xDC00..<0xE000).contains(second) else { throw .badEscape(offset: start) }
    let code = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
    guard let scalar = Unicode.Scalar(code) else { throw .badEscape(offset: start) }
    return Character(scalar)
  }

  private mutating func fourDigits(_ start: Int) throws(JSONError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      let digit = Character(Unicode.Scalar(try peek()))
      guard digit.isASCII, let number = digit.hexDigitValue else {
        throw .badEscape(offset: start)
      }
      code = code << 4 | UInt32(number)
      offset += 1
    }
    return code
  }

  // MARK: Numbers

  private mutating func number() throws(JSONError) -> Value {
    let start = offset
    let negative = buffer[offset] == UInt8(ascii: "-")
    if negative { offset += 1 }
    let digits = offset
    let magnitude = try wholePart(start)
    var whole = true
    if offset < buffer.count, buffer[offset] == UInt8(ascii: ".") {
      whole = false
      offset += 1
      try skipDigits(start)
    }
    if offset < buffer.count, buffer[offset] | 0x20 == UInt8(ascii: "e") {
      whole = false
      offset += 1
      if offset < buffer.count, [0x2B, 0x2D].contains(buffer[offset]) { offset += 1 }
      try skipDigits(start)
    }
    if whole, let magnitude {
      if !negative || magnitude == 0 { return .unsigned(magnitude) }
      return .negative(magnitude - 1)
    }
    if whole, negative, buffer[digits..<offset].elementsEqual("18446744073709551616".utf8) {
      return .negative(.max)
    }
    guard let number = Double(String(decoding: buffer[start..<offset], as: UTF8.self)) else {
      throw .badNumber(offset: start)
    }
    guard number.isFinite else { throw .numberOutOfRange(offset: start) }
    return .double(number)
  }

  /// The number that the digits before a point are, `nil` beyond 64 bits.
  private mutating func wholePart(_ start: Int) throws(JSONError) -> UInt64? {
    let first = offset
    try skipDigits(start)
    guard buffer[first] != UInt8(ascii: "0") || offset == first + 1 else {
      throw .badNumber(offset: start)
    }
    var number: UInt64 = 0
    for byte in buffer[first..<offset] {
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte - 48))
      if overflow || carry { return nil }
      number = sum
    }
    return number
  }

  private mutating func skipDigits(_ start: Int) throws(JSONError) {
    let first = offset
    while offset < buffer.count, (48...57).contains(buffer[offset]) { offset += 1 }
    guard offset > first else {
      throw offset < buffer.count ? .badNumber(offset: start) : .truncated(offset: start)
    }
  }
}
