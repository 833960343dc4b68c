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

  /// Brings `entries` into canonical order; of equal keys the first stays first. Keys that are not
  /// text are encoded once each, so that hostile keys cost no more than their bytes.
  static func sort(_ entries: inout [Entry]) {
    let simple = entries.allSatisfy { if case .text = $0.key { true } else { false } }
    if simple, entries.count <= insertionLimit {
      insert(&entries)
    } else if simple {
      if !isOrdered(entries) { entries.sort { precedes($0.key, $1.key) } }
    } else {
      let encoded = entries.map { (bytes: CBOREncoder.encode($0.key), entry: $0) }
      entries = encoded.sorted { order($0.bytes, $1.bytes) < 0 }.map(\.entry)
    }
  }

  private static func isOrdered(_ entries: [Entry]) -> Bool {
    for index in entries.indices.dropFirst()
    where order(entries[index - 1].key, entries[index].key) > 0 {
      return false
    }
    return true
  }

  /// Up to this many entries an insertion sort is the faster one (a record's fields).
  private static let insertionLimit = 32

  private static func insert(_ entries: inout [Entry]) {
    for index in entries.indices.dropFirst() {
      var place = index
      while place > 0, order(entries[place - 1].key, entries[place].key) > 0 {
        entries.swapAt(place - 1, place)
        place -= 1
      }
    }
  }
}
