/// What a tag with its content stands for, and whether that was its one form.
struct CBORTagMeaning {
  /// The value: a time, a decimal, an integer, or the tag kept as it came.
  let value: Value
  /// The rule of deterministic encoding that the form breaks, if any.
  let broken: CBORError.Rule?

  /// The meaning of `tag` around `content`, which was read by the same mode.
  init(tag: UInt64, content: Value) {
    switch tag {
    case CBORTag.time: self = CBORTagMeaning.time(content)
    case CBORTag.extendedTime: self = CBORTagMeaning.extendedTime(content)
    case CBORTag.decimal: self = CBORTagMeaning.decimal(content)
    case CBORTag.positiveBignum, CBORTag.negativeBignum:
      self = CBORTagMeaning.bignum(tag, content)
    default: self.init(.tagged(tag, content))
    }
  }

  private init(_ value: Value, broken: CBORError.Rule? = nil) {
    self.value = value
    self.broken = broken
  }

  /// Tag 1. A fraction below a millisecond is rounded; what is no instant in reach stays a tag.
  private static func time(_ content: Value) -> CBORTagMeaning {
    if let seconds = content.integer, let time = CBORTime.timestamp(seconds: seconds) {
      return CBORTagMeaning(.time(time))
    }
    if case .double(let seconds) = content, let time = CBORTime.timestamp(seconds: seconds) {
      if case .fraction(seconds) = CBORTime(time) { return CBORTagMeaning(.time(time)) }
      return CBORTagMeaning(.time(time), broken: .time)
    }
    return CBORTagMeaning(.tagged(CBORTag.time, content))
  }

  /// Tag 1001 in exactly the shape that the encoder writes; any other stays a tag.
  private static func extendedTime(_ content: Value) -> CBORTagMeaning {
    if case .map(let map) = content, map.count == 2,
      let seconds = map[key: .int(1)]?.integer, let milliseconds = map[key: .int(-3)]?.integer,
      (1...999).contains(milliseconds),
      let time = CBORTime.timestamp(seconds: seconds, milliseconds: milliseconds),
      case .extended = CBORTime(time)
    {
      return CBORTagMeaning(.time(time))
    }
    return CBORTagMeaning(.tagged(CBORTag.extendedTime, content))
  }

  /// Tag 4. What does not fit in 64 bits stays a tag.
  private static func decimal(_ content: Value) -> CBORTagMeaning {
    guard case .array(let parts) = content, parts.count == 2,
      let exponent = parts[0].integer, let mantissa = parts[1].integer
    else { return CBORTagMeaning(.tagged(CBORTag.decimal, content)) }
    let decimal = ExactDecimal(mantissa: mantissa, exponent: exponent)
    let same = decimal.mantissa == mantissa && decimal.exponent == exponent
    return CBORTagMeaning(.decimal(decimal), broken: same ? nil : .decimal)
  }

  /// Tags 2 and 3: leading zeros go, and what fits in 64 bits is an integer like any other.
  ///
  /// Source: RFC 8949, section 3.4.3.
  private static func bignum(_ tag: UInt64, _ content: Value) -> CBORTagMeaning {
    guard case .bytes(let bytes) = content else { return CBORTagMeaning(.tagged(tag, content)) }
    let digits = bytes.drop { $0 == 0 }
    if digits.count <= 8 {
      let number = digits.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      let value: Value = tag == CBORTag.positiveBignum ? .unsigned(number) : .negative(number)
      return CBORTagMeaning(value, broken: .bignum)
    }
    let stripped = digits.count < bytes.count
    return CBORTagMeaning(.tagged(tag, .bytes(Array(digits))), broken: stripped ? .bignum : nil)
  }
}
