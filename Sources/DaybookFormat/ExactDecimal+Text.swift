extension ExactDecimal: CustomStringConvertible {
  /// Zeros that are written out before an exponent is used instead.
  private static let writtenZeros = 20

  /// The number in digits, such as `-12.5`; with an exponent, such as `5e-40`, where more than 20
  /// zeros would be needed.
  public var description: String {
    let digits = String(mantissa.magnitude)
    let sign = mantissa < 0 ? "-" : ""
    if exponent >= 0 {
      guard exponent <= ExactDecimal.writtenZeros else { return "\(sign)\(digits)e\(exponent)" }
      return sign + digits + String(repeating: "0", count: Int(exponent))
    }
    let places = exponent.magnitude
    guard places <= UInt64(digits.count + ExactDecimal.writtenZeros) else {
      return "\(sign)\(digits)e\(exponent)"
    }
    let padding = max(0, Int(places) + 1 - digits.count)
    let padded = String(repeating: "0", count: padding) + digits
    let whole = padded.dropLast(Int(places))
    return "\(sign)\(whole).\(padded.suffix(Int(places)))"
  }

  /// The number that `text` spells: a sign, digits, a point, an exponent as in JSON. `nil` if it is
  /// none, or needs more than 64 bits.
  public init?(_ text: String) {
    var rest = Substring(text)
    let negative = rest.first == "-"
    if negative || rest.first == "+" { rest.removeFirst() }
    var exponent: Int64 = 0
    if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      guard let number = Int64(rest[rest.index(after: mark)...]) else { return nil }
      exponent = number
      rest = rest[..<mark]
    }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts[0].isEmpty, parts.count == 1 || !parts[1].isEmpty else { return nil }
    // Zeros at the end of a fraction say nothing, and must not cost digits of the mantissa.
    let fraction = parts.count == 1 ? "" : ExactDecimal.strippingZeros(parts[1])
    let digits = parts[0] + fraction
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    // Zeros at the end of a whole number go into the exponent.
    let significant = ExactDecimal.strippingZeros(digits)
    let shift = Int64(digits.utf8.count - significant.utf8.count - fraction.utf8.count)
    let (shifted, overflow) = exponent.addingReportingOverflow(shift)
    guard !overflow,
      let mantissa = Int64((negative ? "-" : "") + (significant.isEmpty ? "0" : significant))
    else { return nil }
    self.init(mantissa: mantissa, exponent: shifted)
  }

  private static func strippingZeros(_ digits: some StringProtocol) -> String {
    var digits = String(digits)
    while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
    return digits
  }
}
