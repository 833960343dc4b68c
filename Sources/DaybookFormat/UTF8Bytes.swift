/// Texts as their bytes. Comparisons by bytes, which is what canonical order and equality are
/// about: Swift's own comparison takes two spellings of an accented letter for the same.
enum UTF8Bytes {
  /// The text that a buffer is, `nil` if it is not UTF-8.
  ///
  /// ASCII is found by one pass and taken as it is, which halves the time of a short text.
  static func text(_ buffer: UnsafeRawBufferPointer) -> String? {
    var bits: UInt8 = 0
    for byte in buffer { bits |= byte }
    guard bits >= 0x80 else {
      return String(decoding: buffer.bindMemory(to: UInt8.self), as: UTF8.self)
    }
    return String(validating: buffer, as: UTF8.self)
  }

  /// Byte order of two texts of the same byte count.
  static func order(_ left: String, _ right: String) -> Int {
    let fast = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        order(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
    if let fast, let order = fast { return order }
    return order(Array(left.utf8), Array(right.utf8))
  }

  private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in right.withUnsafeBytes { right in order(left, right) } }
  }

  /// Byte order; of two where one begins with the other, the shorter comes first.
  static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    var index = 0
    while index < count {
      if left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
      index += 1
    }
    return left.count - right.count
  }

  /// Whether both texts are the same bytes.
  static func equal(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && order(left, right) == 0
  }
}
