/// A place in a value that is being decoded: knows its path, and makes errors that name it.
struct DecodingPlace {
  let trail: CodingTrail?
  private let key: (any CodingKey)?

  init(_ trail: CodingTrail?, _ key: (any CodingKey)? = nil) {
    self.trail = trail
    self.key = key
  }

  var path: [any CodingKey] {
    guard let key else { return CodingTrail.path(trail) }
    return CodingTrail.path(trail, key)
  }

  /// The `T` that `value`, which stands here, describes.
  func decode<T: Decodable>(_ type: T.Type, _ value: Value) throws -> T {
    if let scalar = ScalarCoding.decode(type, value) { return scalar }
    if let known = try KnownTypes.decode(type, value, self) { return known }
    let inner = key.map { CodingTrail(trail, $0) } ?? trail
    return try T(from: ValueDecoder(value: value, trail: inner))
  }

  func bool(_ value: Value) throws -> Bool {
    guard case .bool(let truth) = value else { throw mismatch(Bool.self, value) }
    return truth
  }

  func text(_ value: Value) throws -> String {
    guard case .text(let text) = value else { throw mismatch(String.self, value) }
    return text
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ value: Value) throws -> Number {
    switch value {
    case .unsigned(let number):
      guard let exact = Number(exactly: number) else { throw overflow(type) }
      return exact
    case .negative(let number):
      // -1 - n, whose magnitude has a place in one signed type of the same width.
      guard Number.isSigned, let exact = Number(exactly: number) else { throw overflow(type) }
      return ~exact
    default: throw mismatch(type, value)
    }
  }

  func double(_ value: Value) throws -> Double {
    switch value {
    case .double(let number): return number
    case .unsigned(let number):
      guard let exact = Double(exactly: number) else { throw overflow(Double.self) }
      return exact
    case .negative(let number):
      guard let exact = Double(exactly: number &+ 1), number != .max else {
        if number == .max { return -0x1p64 }
        throw overflow(Double.self)
      }
      return -exact
    default: throw mismatch(Double.self, value)
    }
  }

  /// The nearest `Float`; one that would become infinite is refused.
  func float(_ value: Value) throws -> Float {
    let wide = try double(value)
    let narrow = Float(wide)
    guard narrow.isFinite || !wide.isFinite else { throw overflow(Float.self) }
    return narrow
  }

  // MARK: Errors

  private func context(_ reason: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: path, debugDescription: reason)
  }

  func mismatch(_ type: Any.Type, _ value: Value) -> DecodingError {
    switch value {
    case .null, .undefined: return .valueNotFound(type, context("expected \(type), found null"))
    default: return .typeMismatch(type, context("expected \(type), found \(value.kind)"))
    }
  }

  func corrupted(_ reason: String) -> DecodingError { .dataCorrupted(context(reason)) }

  func missing(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(key, context("no field named \(key.stringValue)"))
  }

  func atEnd(_ type: Any.Type) -> DecodingError {
    .valueNotFound(type, context("the array has no more elements"))
  }

  private func overflow(_ type: Any.Type) -> DecodingError {
    corrupted("a number that does not fit in \(type)")
  }
}

extension Value {
  /// The word for what this is, without its content: for errors.
  fileprivate var kind: String {
    switch self {
    case .null: return "null"
    case .bool: return "a truth value"
    case .unsigned, .negative: return "an integer"
    case .double: return "a floating point number"
    case .text: return "text"
    case .bytes: return "bytes"
    case .array: return "an array"
    case .map: return "a map"
    case .decimal: return "a decimal"
    case .time: return "a time"
    case .tagged(let tag, _): return "tag \(tag)"
    case .undefined: return "undefined"
    case .simple(let number): return "simple value \(number)"
    }
  }
}
