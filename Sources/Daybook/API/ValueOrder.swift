import DaybookFormat

/// The order of field values: numbers by size, text and bytes by their bytes, times by time.
enum ValueOrder {
  /// Whether `left` comes before `right`; `nil` if the two can't be compared.
  static func isOrdered(_ left: Value, before right: Value) -> Bool? {
    switch (left, right) {
    case (.text(let a), .text(let b)): return ByteOrder.precedes(a, b)
    case (.time(let a), .time(let b)): return a < b
    case (.bytes(let a), .bytes(let b)): return a.lexicographicallyPrecedes(b)
    case (.bool(let a), .bool(let b)): return !a && b
    case (.unsigned(let a), .unsigned(let b)): return a < b
    case (.double(let a), .double(let b)) where !a.isNaN && !b.isNaN: return a < b
    default:
      guard let a = Number(left), let b = Number(right) else { return nil }
      return a < b
    }
  }

  /// Whether `left` is to stand before `right`: a total order, where values of one kind stand
  /// together.
  static func precedes(_ left: Value, _ right: Value) -> Bool {
    let (a, b) = (rank(left), rank(right))
    if a != b { return a < b }
    return isOrdered(left, before: right) ?? false
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .bool: return 0
    case .unsigned, .negative, .decimal: return 1
    case .double(let number): return number.isNaN ? 5 : 1
    case .time: return 2
    case .text: return 3
    case .bytes: return 4
    case .null, .undefined, .array, .map, .tagged, .simple: return 5
    }
  }
}

/// A number of any kind. Exact ones are compared by their digits, others by their double.
private enum Number {
  /// `mantissa * 10^exponent`.
  case exact(mantissa: Int128, exponent: Int64)
  case double(Double)

  init?(_ value: Value) {
    switch value {
    case .unsigned(let number): self = .exact(mantissa: Int128(number), exponent: 0)
    case .negative(let number): self = .exact(mantissa: -1 - Int128(number), exponent: 0)
    case .decimal(let decimal):
      self = .exact(mantissa: Int128(decimal.mantissa), exponent: decimal.exponent)
    case .double(let number):
      guard !number.isNaN else { return nil }
      self = .double(number)
    default: return nil
    }
  }

  static func < (left: Number, right: Number) -> Bool {
    switch (left, right) {
    case (.double(let a), .double(let b)): return a < b
    case (.exact(let a, let p), .exact(let b, let q)): return isOrdered((a, p), before: (b, q))
    case (.exact, .double(let b)): return left.compared(to: b) < 0
    case (.double(let a), .exact): return right.compared(to: a) > 0
    }
  }

  private static func isOrdered(
    _ left: (mantissa: Int128, exponent: Int64), before right: (mantissa: Int128, exponent: Int64)
  ) -> Bool {
    if left.exponent == right.exponent { return left.mantissa < right.mantissa }
    if left.mantissa.signum() != right.mantissa.signum() { return left.mantissa < right.mantissa }
    let shared = min(left.exponent, right.exponent)
    if let a = scaled(left, to: shared), let b = scaled(right, to: shared) { return a < b }
    // Too far apart for digits: the higher power of ten is the larger in size.
    return (left.exponent < right.exponent) == (left.mantissa > 0)
  }

  /// The mantissa if the exponent were `shared`, which is not above it; `nil` if it does not fit.
  private static func scaled(
    _ number: (mantissa: Int128, exponent: Int64), to shared: Int64
  ) -> Int128? {
    let (places, isFar) = number.exponent.subtractingReportingOverflow(shared)
    // 10^38 is the highest power that fits.
    guard !isFar, places <= 38 else { return nil }
    var result = number.mantissa
    for _ in 0..<places {
      let (next, overflow) = result.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      result = next
    }
    return result
  }

  /// Negative if this number is below `other`, positive if it is above, 0 if it is equal or if no
  /// double tells them apart.
  private func compared(to other: Double) -> Int {
    guard case .exact(let mantissa, let exponent) = self else { return 0 }
    // A number that is written out is rounded correctly when it is read.
    let nearest = Double("\(mantissa)e\(exponent)") ?? 0
    if nearest != other { return nearest < other ? -1 : 1 }
    guard exponent >= 0, let whole = Number.scaled((mantissa, exponent), to: 0),
      let exact = Int128(exactly: other)
    else { return 0 }
    return whole < exact ? -1 : whole > exact ? 1 : 0
  }
}
