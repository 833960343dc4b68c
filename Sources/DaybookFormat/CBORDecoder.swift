/// Reads values from CBOR; bad input throws, and never costs more time or memory than its bytes.
///
/// Source: RFC 8949; `Docs/Format.md`, section "Values".
package enum CBORDecoder {
  /// The value that `bytes` are, all of them.
  package static func decode(
    _ bytes: [UInt8], mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> Value {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CBORError) in
      try decode(UnsafeRawBufferPointer(buffer), mode: mode, limits: limits)
    }
  }

  /// The value that a slice is, all of it; offsets in errors count from the start of the slice.
  package static func decode(
    _ bytes: ArraySlice<UInt8>, mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> Value {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CBORError) in
      try decode(UnsafeRawBufferPointer(buffer), mode: mode, limits: limits)
    }
  }

  /// The value that a buffer is, all of it.
  package static func decode(
    _ buffer: UnsafeRawBufferPointer, mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> Value {
    let (value, byteCount) = try decodeFirst(buffer, mode: mode, limits: limits)
    guard byteCount == buffer.count else { throw .trailing(offset: byteCount) }
    return value
  }

  /// The value that `bytes` begin with, and how many of them it takes.
  package static func decodeFirst(
    _ bytes: [UInt8], mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> (value: Value, byteCount: Int) {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CBORError) in
      try decodeFirst(UnsafeRawBufferPointer(buffer), mode: mode, limits: limits)
    }
  }

  /// The value that a slice begins with, and how many of its bytes it takes.
  package static func decodeFirst(
    _ bytes: ArraySlice<UInt8>, mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> (value: Value, byteCount: Int) {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CBORError) in
      try decodeFirst(UnsafeRawBufferPointer(buffer), mode: mode, limits: limits)
    }
  }

  /// The value that a buffer begins with, and how many of its bytes it takes. Bytes beyond
  /// ``CBORLimits/byteCount`` are not looked at.
  package static func decodeFirst(
    _ buffer: UnsafeRawBufferPointer, mode: CBORMode = .canonical, limits: CBORLimits = CBORLimits()
  ) throws(CBORError) -> (value: Value, byteCount: Int) {
    let known = UnsafeRawBufferPointer(rebasing: buffer.prefix(limits.byteCount))
    var reader = CBORReader(buffer: known, canonical: mode == .canonical, depthLimit: limits.depth)
    do throws(CBORError) {
      let value = try reader.value(depth: 0)
      return (value, reader.offset)
    } catch {
      // What ends at the limit is not truncated but too large.
      switch error {
      case .truncated where known.count < buffer.count,
        .lengthBeyondEnd where known.count < buffer.count:
        throw .tooLarge(byteCount: buffer.count, limit: limits.byteCount)
      default: throw error
      }
    }
  }
}
