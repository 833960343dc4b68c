/// A value that an app's type decodes itself from. Three words, so that `any Decoder` needs no box.
struct ValueDecoder: Decoder {
  let value: Value
  let trail: CodingTrail?

  var codingPath: [any CodingKey] { CodingTrail.path(trail) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let map) = value else {
      throw DecodingPlace(trail).mismatch(KeyedDecodingContainer<Key>.self, value)
    }
    return KeyedDecodingContainer(KeyedValues<Key>(map: map, trail: trail))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else {
      throw DecodingPlace(trail).mismatch((any UnkeyedDecodingContainer).self, value)
    }
    return UnkeyedValues(elements: elements, trail: trail)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleValue(value: value, trail: trail)
  }
}
