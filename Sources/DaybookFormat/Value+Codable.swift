/// ``RecordEncoder`` and ``RecordDecoder`` pass these types through as they are and never come
/// here; this is what other coders, such as `JSONEncoder`, see of them.

extension Value: Codable {
  /// Encodes this value by the mapping of its JSON text: bytes, times and decimals as text.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .map(let map):
      var container = encoder.container(keyedBy: PlainKey.self)
      for entry in map.entries {
        let name = entry.key.text ?? JSONText.text(of: entry.key)
        try container.encode(entry.value, forKey: PlainKey.name(name))
      }
    case .tagged(_, let content): try content.encode(to: encoder)
    default: try encodeScalar(to: encoder)
    }
  }

  private func encodeScalar(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let truth): try container.encode(truth)
    case .unsigned(let number): try container.encode(number)
    case .negative(let number):
      guard let integer else {
        throw EncodingError.invalidValue(
          number,
          EncodingError.Context(
            codingPath: encoder.codingPath, debugDescription: "an integer below 64 bits"))
      }
      try container.encode(integer)
    case .double(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .bytes(let bytes): try container.encode(Base64URL.text(of: bytes))
    case .decimal(let decimal): try container.encode(decimal)
    case .time(let time): try container.encode(time)
    default: try container.encodeNil()
    }
  }

  /// Decodes whatever stands there: null, a truth value, a number, text, an array or an object.
  /// Text stays text.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: PlainKey.self) {
      var map = ValueMap()
      for key in container.allKeys {
        map[key.stringValue] = try container.decode(Value.self, forKey: key)
      }
      self = .map(map)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var elements: [Value] = []
      while !container.isAtEnd { elements.append(try container.decode(Value.self)) }
      self = .array(elements)
      return
    }
    self = try Value.scalar(decoder.singleValueContainer())
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> Value {
    if container.decodeNil() { return .null }
    if let truth = try? container.decode(Bool.self) { return .bool(truth) }
    if let number = try? container.decode(UInt64.self) { return .unsigned(number) }
    if let number = try? container.decode(Int64.self) { return .int(number) }
    if let number = try? container.decode(Double.self) { return .double(number) }
    return .text(try container.decode(String.self))
  }
}

extension ExactDecimal: Codable {
  /// Encodes the digits as text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes digits in a text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let decimal = ExactDecimal(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a text that is no decimal of 64 bits")
    }
    self = decimal
  }
}

extension Timestamp: Codable {
  /// Encodes the instant as RFC 3339 text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }

  /// Decodes RFC 3339 text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = Timestamp(rfc3339: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a text that is no RFC 3339 time")
    }
    self = time
  }
}

extension Identifier: Codable {
  /// Encodes the 36 characters of a UUID.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes the characters of a UUID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let identifier = Identifier(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a text that is no identifier")
    }
    self = identifier
  }
}
