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

/// A number of any kind, compared by its double, and where two doubles are equal by its decimal
/// digits.
private struct Number {
  /// `mantissa * 10^exponent`.
  private let mantissa: Int128
  private let exponent: Int64
  /// The nearest double; the number itself if it came as one.
  private let double: Double
  private let isDouble: Bool

  init?(_ value: Value) {
    switch value {
    case .unsigned(let number): self.init(Int128(number), 0)
    case .negative(let number): self.init(-1 - Int128(number), 0)
    case .decimal(let decimal): self.init(Int128(decimal.mantissa), decimal.exponent)
    case .double(let number):
      guard !number.isNaN else { return nil }
      self.init(0, 0, double: number)
    default: return nil
    }
  }

  private init(_ mantissa: Int128, _ exponent: Int64, double: Double? = nil) {
    self.mantissa = mantissa
    self.exponent = exponent
    isDouble = double != nil
    // The standard library rounds a number that is written out correctly.
    self.double =
      double ?? (exponent == 0 ? Double(mantissa) : Double("\(mantissa)e\(exponent)") ?? 0)
  }

  static func < (left: Number, right: Number) -> Bool {
    if left.double != right.double { return left.double < right.double }
    if left.isDouble != right.isDouble {
      // Equal as doubles: which side of the double is the exact one on?
      return left.isDouble
        ? right.isAbove(left.double) == true : left.isAbove(right.double) == false
    }
    if left.isDouble { return false }
    if left.mantissa.signum() != right.mantissa.signum() { return left.mantissa < right.mantissa }
    let shared = min(left.exponent, right.exponent)
    if let a = left.scaled(to: shared), let b = right.scaled(to: shared) { return a < b }
    // Too far apart for digits: the higher power of ten is the larger in size.
    return (left.exponent < right.exponent) == (left.mantissa > 0)
  }

  /// Whether the exact number is above `double`, which it rounds to; `nil` if it is equal, or if
  /// that can't be told.
  private func isAbove(_ double: Double) -> Bool? {
    guard exponent >= 0, let whole = scaled(to: 0), let other = Int128(exactly: double),
      whole != other
    else { return nil }
    return whole > other
  }

  /// The mantissa if the exponent were `shared`, which is not above it; `nil` if it does not fit.
  private func scaled(to shared: Int64) -> Int128? {
    let (places, isFar) = exponent.subtractingReportingOverflow(shared)
    // 10^38 is the highest power that fits; a number as long as that is told by its double.
    guard !isFar, places <= 38 else { return nil }
    var result = mantissa
    for _ in 0..<places {
      let (next, overflow) = result.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      result = next
    }
    return result
  }
}
