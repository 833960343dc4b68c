extension ValueMap {
  /// Whether `left` comes before `right` in canonical order.
  static func precedes(_ left: Value, _ right: Value) -> Bool { order(left, right) < 0 }

  /// Canonical order: negative if `left` comes first, 0 if both have the same encoded bytes.
  ///
  /// Text against text and unsigned against unsigned need no encoding: the head grows with the
  /// count or the number, so a shorter text comes first, then the bytes decide. Source: RFC 8949,
  /// section 4.2.1.
  static func order(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.text(let left), .text(let right)): return order(left, right)
    case (.unsigned(let left), .unsigned(let right)):
      return left == right ? 0 : (left < right ? -1 : 1)
    default: return order(CBOREncoder.encode(left), CBOREncoder.encode(right))
    }
  }

  private static func order(_ left: String, _ right: String) -> Int {
    let (leftCount, rightCount) = (left.utf8.count, right.utf8.count)
    if leftCount != rightCount { return leftCount - rightCount }
    return UTF8Bytes.order(left, right)
  }

  private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in UTF8Bytes.order(left, right) }
    }
  }

  /// `entries` in canonical order. Keys that are not text are encoded once each, so that hostile
  /// keys cost no more than their bytes.
  static func ordered(_ entries: [Entry]) -> [Entry] {
    var ordered = true
    var simple = true
    for index in entries.indices {
      if case .text = entries[index].key {} else { simple = false }
      if index > 0, order(entries[index - 1].key, entries[index].key) > 0 { ordered = false }
    }
    if ordered { return entries }
    if simple, entries.count <= insertionLimit { return inserted(entries) }
    if simple { return entries.sorted { precedes($0.key, $1.key) } }
    let encoded = entries.map { (bytes: CBOREncoder.encode($0.key), entry: $0) }
    return encoded.sorted { order($0.bytes, $1.bytes) < 0 }.map(\.entry)
  }

  /// Up to this many entries an insertion sort is the faster one (a record's fields).
  private static let insertionLimit = 32

  private static func inserted(_ entries: [Entry]) -> [Entry] {
    var result = entries
    for index in 1..<result.count {
      var place = index
      while place > 0, order(result[place - 1].key, result[place].key) > 0 {
        result.swapAt(place - 1, place)
        place -= 1
      }
    }
    return result
  }
}

/// Comparisons of texts by their bytes, which is what canonical order and equality are about:
/// Swift's own comparison takes two spellings of an accented letter for the same.
enum UTF8Bytes {
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
