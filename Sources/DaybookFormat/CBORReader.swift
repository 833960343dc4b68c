/// A place in a buffer of CBOR, moved on item by item.
///
/// Invariant: `offset` never passes the buffer's end, and nothing is read or reserved on the word
/// of a length that was not compared with the bytes left.
struct CBORReader {
  let buffer: UnsafeRawBufferPointer
  let canonical: Bool
  let depthLimit: Int
  private(set) var offset = 0

  init(buffer: UnsafeRawBufferPointer, canonical: Bool, depthLimit: Int) {
    self.buffer = buffer
    self.canonical = canonical
    self.depthLimit = depthLimit
  }

  /// Elements that are reserved at once. A nested header can claim as many as there are bytes left
  /// at every level, so a claim alone must not take memory.
  private static let reservedElements = 64

  private var remaining: Int { buffer.count - offset }

  /// Reads one item; `depth` counts the items around it.
  mutating func value(depth: Int) throws(CBORError) -> Value {
    let start = offset
    guard start < buffer.count else { throw .truncated(offset: start) }
    let initial = buffer[start]
    offset = start + 1
    let detail = initial & 0x1F
    switch initial >> 5 {
    case 0: return .unsigned(try argument(detail, start))
    case 1: return .negative(try argument(detail, start))
    case 2: return .bytes(try string(detail, start, type: .bytes, read: CBORReader.bytes))
    case 3: return .text(try text(detail, start))
    case 4: return try array(detail, start, depth)
    case 5: return try map(detail, start, depth)
    case 6: return try tag(detail, start, depth)
    default: return try simple(detail, start)
    }
  }

  // MARK: Heads

  /// The number that follows an initial byte with this `detail`.
  private mutating func argument(_ detail: UInt8, _ start: Int) throws(CBORError) -> UInt64 {
    if detail < 24 { return UInt64(detail) }
    guard detail < 28 else { throw .malformed(offset: start, byte: buffer[start]) }
    let width = 1 << Int(detail - 24)
    let argument = try bigEndian(width, start)
    if canonical {
      // The least number that needs this width: 24, then 2^8, 2^16, 2^32.
      let least: UInt64 = width == 1 ? 24 : 1 << UInt64(width * 4)
      guard argument >= least else { throw .notCanonical(offset: start, rule: .shortestArgument) }
    }
    return argument
  }

  private mutating func bigEndian(_ width: Int, _ start: Int) throws(CBORError) -> UInt64 {
    guard width <= remaining else { throw .truncated(offset: start) }
    var number: UInt64 = 0
    for index in offset..<offset + width { number = number << 8 | UInt64(buffer[index]) }
    offset += width
    return number
  }

  /// A definite count of at most what is left, where each of them takes `unit` bytes or more;
  /// `nil` for an indefinite one.
  private mutating func count(
    _ detail: UInt8, _ start: Int, unit: Int
  ) throws(CBORError) -> Int? {
    if detail == 31 {
      if canonical { throw .notCanonical(offset: start, rule: .definiteLength) }
      return nil
    }
    let claimed = try argument(detail, start)
    guard claimed <= UInt64(remaining / unit) else {
      throw .lengthBeyondEnd(offset: start, claimed: claimed, remaining: remaining)
    }
    return Int(claimed)
  }

  /// Whether the next byte is the break that ends an indefinite length; takes it if so.
  private mutating func takesBreak(_ start: Int) throws(CBORError) -> Bool {
    guard remaining > 0 else { throw .truncated(offset: start) }
    guard buffer[offset] == 0xFF else { return false }
    offset += 1
    return true
  }

  // MARK: Strings

  private static func bytes(_ buffer: UnsafeRawBufferPointer) -> [UInt8]? { [UInt8](buffer) }

  private mutating func text(_ detail: UInt8, _ start: Int) throws(CBORError) -> String {
    try string(detail, start, type: .text, read: UTF8Bytes.text)
  }

  /// A string of bytes or of text, in one piece or (lenient) in chunks, each of which must be
  /// whole.
  private mutating func string<Content: RangeReplaceableCollection>(
    _ detail: UInt8, _ start: Int, type: CBORMajorType,
    read: (UnsafeRawBufferPointer) -> Content?
  ) throws(CBORError) -> Content {
    if let count = try count(detail, start, unit: 1) {
      let range = UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + count])
      guard let content = read(range) else { throw .notText(offset: start) }
      offset += count
      return content
    }
    var whole = Content()
    while try !takesBreak(start) {
      let chunk = offset
      let initial = buffer[chunk]
      guard initial >> 5 == type.rawValue, initial & 0x1F != 31 else {
        throw .malformed(offset: chunk, byte: initial)
      }
      offset += 1
      whole += try string(initial & 0x1F, chunk, type: type, read: read)
    }
    return whole
  }

  // MARK: Containers

  private func checkDepth(_ start: Int, _ depth: Int) throws(CBORError) {
    guard depth < depthLimit else { throw .tooDeep(offset: start, limit: depthLimit) }
  }

  private mutating func array(
    _ detail: UInt8, _ start: Int, _ depth: Int
  ) throws(CBORError) -> Value {
    try checkDepth(start, depth)
    var elements: [Value] = []
    if let count = try count(detail, start, unit: 1) {
      elements.reserveCapacity(min(count, CBORReader.reservedElements))
      for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
    } else {
      while try !takesBreak(start) { elements.append(try value(depth: depth + 1)) }
    }
    return .array(elements)
  }

  private mutating func map(
    _ detail: UInt8, _ start: Int, _ depth: Int
  ) throws(CBORError) -> Value {
    try checkDepth(start, depth)
    if canonical { return try orderedMap(detail, start, depth) }
    var entries: [ValueMap.Entry] = []
    if let count = try count(detail, start, unit: 2) {
      entries.reserveCapacity(min(count, CBORReader.reservedElements))
      for _ in 0..<count { entries.append(try entry(depth)) }
    } else {
      while try !takesBreak(start) { entries.append(try entry(depth)) }
    }
    guard let map = ValueMap(unordered: entries) else { throw .duplicateKey(offset: start) }
    return .map(map)
  }

  private mutating func entry(_ depth: Int) throws(CBORError) -> ValueMap.Entry {
    let key = try value(depth: depth + 1)
    return ValueMap.Entry(key: key, value: try value(depth: depth + 1))
  }

  /// A map whose keys must stand in order: canonical bytes are compared as they lie there.
  private mutating func orderedMap(
    _ detail: UInt8, _ start: Int, _ depth: Int
  ) throws(CBORError) -> Value {
    var entries: [ValueMap.Entry] = []
    var last = offset..<offset
    let count = try count(detail, start, unit: 2) ?? 0
    entries.reserveCapacity(min(count, CBORReader.reservedElements))
    for index in 0..<count {
      let keyStart = offset
      let key = try value(depth: depth + 1)
      let range = keyStart..<offset
      if index > 0 {
        let order = UTF8Bytes.order(
          UnsafeRawBufferPointer(rebasing: buffer[last]),
          UnsafeRawBufferPointer(rebasing: buffer[range]))
        if order == 0 { throw .duplicateKey(offset: keyStart) }
        if order > 0 { throw .notCanonical(offset: keyStart, rule: .keyOrder) }
      }
      last = range
      entries.append(ValueMap.Entry(key: key, value: try value(depth: depth + 1)))
    }
    return .map(ValueMap(ordered: entries))
  }

  // MARK: Tags and simple values

  private mutating func tag(
    _ detail: UInt8, _ start: Int, _ depth: Int
  ) throws(CBORError) -> Value {
    try checkDepth(start, depth)
    let tag = try argument(detail, start)
    let content = try value(depth: depth + 1)
    let meaning = CBORTagMeaning(tag: tag, content: content)
    if canonical, let rule = meaning.broken { throw .notCanonical(offset: start, rule: rule) }
    return meaning.value
  }

  private mutating func simple(_ detail: UInt8, _ start: Int) throws(CBORError) -> Value {
    switch detail {
    case 20: return .bool(false)
    case 21: return .bool(true)
    case 22: return .null
    case 23: return .undefined
    case 24:
      let value = UInt8(truncatingIfNeeded: try bigEndian(1, start))
      guard value >= 32 else { throw .malformed(offset: start, byte: buffer[start]) }
      return .simple(value)
    case 25:
      let bits = UInt16(truncatingIfNeeded: try bigEndian(2, start))
      return try double(CBORFloat.number(half: bits), start, bits: .half(bits))
    case 26:
      let bits = UInt32(truncatingIfNeeded: try bigEndian(4, start))
      return try double(Double(Float(bitPattern: bits)), start, bits: .single(bits))
    case 27:
      let bits = try bigEndian(8, start)
      return try double(Double(bitPattern: bits), start, bits: .double(bits))
    case 28...31: throw .malformed(offset: start, byte: buffer[start])
    default: return .simple(detail)
    }
  }

  private func double(
    _ value: Double, _ start: Int, bits: CBORFloat
  ) throws(CBORError) -> Value {
    guard canonical else { return .double(value.isNaN ? .nan : value) }
    guard CBORFloat(value) == bits else {
      throw .notCanonical(offset: start, rule: .narrowestFloat)
    }
    return .double(value)
  }
}
