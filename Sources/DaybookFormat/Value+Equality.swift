extension Value {
  /// Whether both have the same canonical bytes: texts are compared byte by byte (not by Unicode
  /// equivalence), 0.0 and -0.0 differ, and every NaN equals every other.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null), (.undefined, .undefined): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.unsigned(let left), .unsigned(let right)): return left == right
    case (.negative(let left), .negative(let right)): return left == right
    case (.double(let left), .double(let right)): return left.canonicalBits == right.canonicalBits
    case (.text(let left), .text(let right)): return UTF8Bytes.equal(left, right)
    case (.bytes(let left), .bytes(let right)): return left == right
    case (.array(let left), .array(let right)): return left == right
    case (.map(let left), .map(let right)): return left == right
    case (.decimal(let left), .decimal(let right)): return left == right
    case (.time(let left), .time(let right)): return left == right
    case (.tagged(let left, let leftContent), .tagged(let right, let rightContent)):
      return left == right && leftContent == rightContent
    case (.simple(let left), .simple(let right)): return left == right
    default: return false
    }
  }

  /// Feeds what ``==(_:_:)`` compares into `hasher`.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .undefined: hasher.combine(1 as UInt8)
    case .bool(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .negative(let value): hasher.combine(~value)
    case .double(let value): hasher.combine(value.canonicalBits)
    case .text(let value):
      for byte in value.utf8 { hasher.combine(byte) }
      hasher.combine(value.utf8.count)
    case .bytes(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .map(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .time(let value): hasher.combine(value)
    case .tagged(let tag, let content):
      hasher.combine(tag)
      hasher.combine(content)
    case .simple(let value): hasher.combine(value)
    }
  }
}

extension Double {
  /// The bits of this number, with one pattern for all NaN.
  fileprivate var canonicalBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}
