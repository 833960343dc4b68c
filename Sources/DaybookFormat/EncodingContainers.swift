/// The named fields of an ``EncodingNode``.
struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodingNode

  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil(forKey key: Key) { node.set(.null, key) }
  func encode(_ value: Bool, forKey key: Key) { node.set(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) { node.set(.text(value), key) }
  func encode(_ value: Double, forKey key: Key) { node.set(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) { node.set(.double(Double(value)), key) }
  func encode(_ value: Int, forKey key: Key) { node.set(.int(Int64(value)), key) }
  func encode(_ value: Int8, forKey key: Key) { node.set(.int(Int64(value)), key) }
  func encode(_ value: Int16, forKey key: Key) { node.set(.int(Int64(value)), key) }
  func encode(_ value: Int32, forKey key: Key) { node.set(.int(Int64(value)), key) }
  func encode(_ value: Int64, forKey key: Key) { node.set(.int(Int64(value)), key) }
  func encode(_ value: UInt, forKey key: Key) { node.set(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt8, forKey key: Key) { node.set(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt16, forKey key: Key) { node.set(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt32, forKey key: Key) { node.set(.unsigned(UInt64(value)), key) }
  func encode(_ value: UInt64, forKey key: Key) { node.set(.unsigned(UInt64(value)), key) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    node.set(try EncodingNode.box(value, under: key, in: node.trail), key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    node.child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    node.child(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { node.child(PlainKey.superclass) }

  func superEncoder(forKey key: Key) -> any Encoder { node.child(key) }
}

/// The elements of an ``EncodingNode``.
struct UnkeyedElements: UnkeyedEncodingContainer {
  let node: EncodingNode

  var codingPath: [any CodingKey] { node.codingPath }
  var count: Int { node.elementCount }

  func encodeNil() { node.append(.null) }
  func encode(_ value: Bool) { node.append(.bool(value)) }
  func encode(_ value: String) { node.append(.text(value)) }
  func encode(_ value: Double) { node.append(.double(value)) }
  func encode(_ value: Float) { node.append(.double(Double(value))) }
  func encode(_ value: Int) { node.append(.int(Int64(value))) }
  func encode(_ value: Int8) { node.append(.int(Int64(value))) }
  func encode(_ value: Int16) { node.append(.int(Int64(value))) }
  func encode(_ value: Int32) { node.append(.int(Int64(value))) }
  func encode(_ value: Int64) { node.append(.int(Int64(value))) }
  func encode(_ value: UInt) { node.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { node.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt16) { node.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt32) { node.append(.unsigned(UInt64(value))) }
  func encode(_ value: UInt64) { node.append(.unsigned(UInt64(value))) }

  func encode<T: Encodable>(_ value: T) throws {
    let key = PlainKey.index(node.elementCount)
    node.append(try EncodingNode.box(value, under: key, in: node.trail))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    node.child().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.child().unkeyedContainer() }

  func superEncoder() -> any Encoder { node.child() }
}

/// The one value of an ``EncodingNode``.
struct SingleElement: SingleValueEncodingContainer {
  let node: EncodingNode

  var codingPath: [any CodingKey] { node.codingPath }

  func encodeNil() { node.set(.null) }
  func encode(_ value: Bool) { node.set(.bool(value)) }
  func encode(_ value: String) { node.set(.text(value)) }
  func encode(_ value: Double) { node.set(.double(value)) }
  func encode(_ value: Float) { node.set(.double(Double(value))) }
  func encode(_ value: Int) { node.set(.int(Int64(value))) }
  func encode(_ value: Int8) { node.set(.int(Int64(value))) }
  func encode(_ value: Int16) { node.set(.int(Int64(value))) }
  func encode(_ value: Int32) { node.set(.int(Int64(value))) }
  func encode(_ value: Int64) { node.set(.int(Int64(value))) }
  func encode(_ value: UInt) { node.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { node.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt16) { node.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt32) { node.set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt64) { node.set(.unsigned(UInt64(value))) }

  func encode<T: Encodable>(_ value: T) throws {
    node.set(try EncodingNode.box(value, in: node.trail))
  }
}
