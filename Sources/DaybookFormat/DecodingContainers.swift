/// The fields of a map, by name.
struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: ValueMap
  let trail: CodingTrail?

  var codingPath: [any CodingKey] { CodingTrail.path(trail) }

  /// The keys that `Key` knows; text first of all, integers as other writers use them.
  var allKeys: [Key] {
    map.entries.compactMap { entry in
      if case .text(let name) = entry.key { return Key(stringValue: name) }
      return entry.key.integer.flatMap { Int(exactly: $0) }.flatMap { Key(intValue: $0) }
    }
  }

  private func find(_ key: some CodingKey) -> Value? {
    if let value = map[key.stringValue] { return value }
    guard let number = key.intValue else { return nil }
    return map[key: .int(Int64(number))]
  }

  private func value(_ key: some CodingKey) throws -> Value {
    guard let value = find(key) else { throw DecodingPlace(trail).missing(key) }
    return value
  }

  /// The value of `key` unless it is absent or null.
  private func present(_ key: Key) -> Value? {
    guard let value = find(key), !value.isNothing else { return nil }
    return value
  }

  private func place(_ key: Key) -> DecodingPlace { DecodingPlace(trail, key) }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNothing }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try place(key).bool(value(key))
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try place(key).text(value(key))
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try place(key).double(value(key))
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try place(key).float(value(key))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try place(key).integer(type, value(key))
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try place(key).integer(type, value(key))
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try place(key).decode(type, value(key))
  }
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let value = present(key) else { return nil }
    return try place(key).bool(value)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let value = present(key) else { return nil }
    return try place(key).text(value)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let value = present(key) else { return nil }
    return try place(key).double(value)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let value = present(key) else { return nil }
    return try place(key).integer(type, value)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let value = present(key) else { return nil }
    return try place(key).decode(type, value)
  }

  private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
    ValueDecoder(value: try value(key), trail: CodingTrail(trail, key))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    // A superclass without a field may be absent: it then finds null.
    let key = PlainKey.superclass
    return ValueDecoder(value: find(key) ?? .null, trail: CodingTrail(trail, key))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// The elements of an array, one after the other.
struct UnkeyedValues: UnkeyedDecodingContainer {
  let elements: [Value]
  let trail: CodingTrail?
  private(set) var currentIndex = 0

  init(elements: [Value], trail: CodingTrail?) {
    self.elements = elements
    self.trail = trail
  }

  var codingPath: [any CodingKey] { CodingTrail.path(trail) }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  private var place: DecodingPlace { DecodingPlace(trail, PlainKey.index(currentIndex)) }

  /// Hands out the next element; moves on only if `body` could use it.
  private mutating func take<Result>(
    _ type: Any.Type, _ body: (DecodingPlace, Value) throws -> Result
  ) throws -> Result {
    guard !isAtEnd else { throw place.atEnd(type) }
    let result = try body(place, elements[currentIndex])
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd else { throw place.atEnd(Never?.self) }
    guard elements[currentIndex].isNothing else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try take(type) { (place, value) in try place.bool(value) }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try take(type) { (place, value) in try place.text(value) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try take(type) { (place, value) in try place.double(value) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try take(type) { (place, value) in try place.float(value) }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try take(type) { (place, value) in try place.integer(type, value) }
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try take(type) { (place, value) in try place.decode(type, value) }
  }

  private mutating func decoder(_ type: Any.Type) throws -> ValueDecoder {
    let inner = CodingTrail(trail, PlainKey.index(currentIndex))
    return try take(type) { (_, value) in ValueDecoder(value: value, trail: inner) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(ValueMap.self).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try decoder([Value].self).unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try decoder(Value.self) }
}

/// One value that is taken whole.
struct SingleValue: SingleValueDecodingContainer {
  let value: Value
  let trail: CodingTrail?

  var codingPath: [any CodingKey] { CodingTrail.path(trail) }

  private var place: DecodingPlace { DecodingPlace(trail) }

  func decodeNil() -> Bool { value.isNothing }
  func decode(_ type: Bool.Type) throws -> Bool { try place.bool(value) }
  func decode(_ type: String.Type) throws -> String { try place.text(value) }
  func decode(_ type: Double.Type) throws -> Double { try place.double(value) }
  func decode(_ type: Float.Type) throws -> Float { try place.float(value) }
  func decode(_ type: Int.Type) throws -> Int { try place.integer(type, value) }
  func decode(_ type: Int8.Type) throws -> Int8 { try place.integer(type, value) }
  func decode(_ type: Int16.Type) throws -> Int16 { try place.integer(type, value) }
  func decode(_ type: Int32.Type) throws -> Int32 { try place.integer(type, value) }
  func decode(_ type: Int64.Type) throws -> Int64 { try place.integer(type, value) }
  func decode(_ type: UInt.Type) throws -> UInt { try place.integer(type, value) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try place.integer(type, value) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try place.integer(type, value) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try place.integer(type, value) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try place.integer(type, value) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try place.decode(type, value) }
}

extension Value {
  /// Whether this stands for an absent optional.
  fileprivate var isNothing: Bool {
    switch self {
    case .null, .undefined: return true
    default: return false
    }
  }
}
