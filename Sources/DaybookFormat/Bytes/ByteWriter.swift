/// Appends fixed-width little-endian fields to a byte array.
package struct ByteWriter {
  /// What has been written so far.
  package private(set) var bytes: [UInt8] = []

  /// A writer with nothing written and room for `capacity` bytes.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// The number of bytes written.
  package var count: Int { bytes.count }

  /// Appends `value`, its least significant byte first.
  package mutating func append<Number: FixedWidthInteger>(_ value: Number) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends `content` as it is.
  package mutating func append(contentsOf content: some Collection<UInt8>) {
    bytes.append(contentsOf: content)
  }

  /// Appends the sixteen bytes of `identifier`.
  package mutating func append(_ identifier: Identifier) {
    append(identifier.high.byteSwapped)
    append(identifier.low.byteSwapped)
  }

  /// Appends `count` zero bytes.
  package mutating func appendZeros(_ count: Int) {
    bytes.append(contentsOf: [UInt8](repeating: 0, count: count))
  }
}

/// Reads fixed-width little-endian fields from the front of a byte slice.
package struct ByteReader {
  /// What has not been read yet.
  package private(set) var rest: ArraySlice<UInt8>
  private let start: Int

  /// A reader at the front of `bytes`.
  package init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
    start = bytes.startIndex
  }

  /// The number of bytes read so far.
  package var offset: Int { rest.startIndex - start }

  /// The next number.
  package mutating func read<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws(EntryError) -> Number {
    let count = MemoryLayout<Number>.size
    let slice = try read(count: count)
    var value: Number = 0
    withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: slice) }
    return Number(littleEndian: value)
  }

  /// The next `count` bytes.
  package mutating func read(count: Int) throws(EntryError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= rest.count else {
      throw .truncated(offset: offset, needed: count, found: rest.count)
    }
    let slice = rest.prefix(count)
    rest = rest.dropFirst(count)
    return slice
  }

  /// The next sixteen bytes as an identifier.
  package mutating func readIdentifier() throws(EntryError) -> Identifier {
    let high = try read(UInt64.self)
    let low = try read(UInt64.self)
    return Identifier(high: high.byteSwapped, low: low.byteSwapped)
  }

  /// The next `count` bytes as UTF-8 text.
  package mutating func readText(count: Int) throws(EntryError) -> String {
    let place = offset
    guard let text = String(validating: try read(count: count), as: UTF8.self) else {
      throw .invalid(field: .text, offset: place)
    }
    return text
  }

  /// Reads `count` bytes that the format reserves and that must be zero.
  package mutating func readZeros(_ count: Int) throws(EntryError) {
    let place = offset
    guard try read(count: count).allSatisfy({ $0 == 0 }) else {
      throw .invalid(field: .reserved, offset: place)
    }
  }
}
