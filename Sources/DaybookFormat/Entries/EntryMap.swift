/// The CBOR map of an entry or a message, read member by member with typed errors.
package struct EntryMap {
  /// The map itself.
  package let value: ValueMap

  /// The members of `value`.
  package init(_ value: ValueMap) { self.value = value }

  /// Decodes the canonical CBOR map that fills `bytes`.
  package init(_ bytes: ArraySlice<UInt8>) throws(EntryError) {
    let decoded: Value
    do throws(CBORError) {
      decoded = try CBORDecoder.decode(bytes, mode: .canonical)
    } catch {
      throw .payload(error)
    }
    guard let map = decoded.map else { throw .invalid(field: .payload, offset: 0) }
    value = map
  }

  /// The text `name`.
  package func text(_ name: String) throws(EntryError) -> String {
    guard let text = value[name]?.text else { throw .member(name: name) }
    return text
  }

  /// The unsigned integer `name`.
  package func unsigned(_ name: String) throws(EntryError) -> UInt64 {
    guard case .unsigned(let number) = value[name] else { throw .member(name: name) }
    return number
  }

  /// The integer `name` in milliseconds since 1970.
  package func timestamp(_ name: String) throws(EntryError) -> Timestamp {
    guard let number = value[name]?.integer else { throw .member(name: name) }
    return Timestamp(milliseconds: number)
  }

  /// The sixteen bytes `name`.
  package func identifier(_ name: String) throws(EntryError) -> Identifier {
    guard let bytes = value[name]?.bytes, let identifier = Identifier(bytes: bytes) else {
      throw .member(name: name)
    }
    return identifier
  }

  /// The bytes `name`.
  package func bytes(_ name: String) throws(EntryError) -> [UInt8] {
    guard let bytes = value[name]?.bytes else { throw .member(name: name) }
    return bytes
  }

  /// The elements of the array `name`; none if it is absent.
  package func array(_ name: String) throws(EntryError) -> [Value] {
    guard let member = value[name] else { return [] }
    guard let array = member.array else { throw .member(name: name) }
    return array
  }

  /// The identifiers in the array `name`; none if it is absent.
  package func identifiers(_ name: String) throws(EntryError) -> [Identifier] {
    var result: [Identifier] = []
    for element in try array(name) {
      guard let bytes = element.bytes, let identifier = Identifier(bytes: bytes) else {
        throw .member(name: name)
      }
      result.append(identifier)
    }
    return result
  }

  /// The version `name`.
  package func version(_ name: String) throws(EntryError) -> Version {
    guard let version = try optionalVersion(name) else { throw .member(name: name) }
    return version
  }

  /// The version `name`, `nil` if it is absent.
  package func optionalVersion(_ name: String) throws(EntryError) -> Version? {
    guard let member = value[name] else { return nil }
    guard let version = Version(member) else { throw .member(name: name) }
    return version
  }
}

extension Version {
  /// The array [number, mark].
  package var value: Value { .array([.unsigned(number), .unsigned(mark)]) }

  /// The version that the array [number, mark] names, `nil` for anything else.
  package init?(_ value: Value) {
    guard let parts = value.array, parts.count == 2, case .unsigned(let number) = parts[0],
      case .unsigned(let mark) = parts[1]
    else { return nil }
    self.init(number: number, mark: mark)
  }
}
