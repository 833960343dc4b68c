public import DaybookFormat

/// Which records of a collection are wanted.
///
/// `equals` and `oneOf` on a field with a declared index find them without a scan; everything else
/// looks at each record of the collection, which is documented to take about a microsecond a
/// record.
public indirect enum Condition: Sendable, Hashable {
  /// Every record.
  case all
  /// The field holds this value.
  case equals(String, Value)
  /// The field holds one of these values.
  case oneOf(String, [Value])
  /// The field holds a number, text or time from `from` (included) up to `upTo` (left out).
  case between(String, from: Value?, upTo: Value?)
  /// The record lacks the field, or it holds null.
  case isMissing(String)
  /// All of these hold.
  case and([Condition])
  /// One of these holds.
  case or([Condition])
  /// This does not hold.
  case not(Condition)

  /// Whether `row` is wanted.
  func admits(_ row: ValueMap) -> Bool {
    switch self {
    case .all: return true
    case .equals(let field, let value): return row[field] == value
    case .oneOf(let field, let values): return row[field].map(values.contains) ?? false
    case .between(let field, let from, let upTo):
      guard let value = row[field] else { return false }
      if let from, ValueOrder.isOrdered(value, before: from) != false { return false }
      if let upTo, ValueOrder.isOrdered(value, before: upTo) != true { return false }
      return true
    case .isMissing(let field): return row[field] == nil || row[field] == .null
    case .and(let conditions): return conditions.allSatisfy { $0.admits(row) }
    case .or(let conditions): return conditions.contains { $0.admits(row) }
    case .not(let condition): return !condition.admits(row)
    }
  }
}

/// In which order records are wanted. Records of equal value, and those that lack the field, come
/// in the order of their ids; those that lack it come last.
public enum Order: Sendable, Hashable {
  /// By the record's id, in the order of its bytes.
  case id
  /// By this field, the smallest first.
  case ascending(String)
  /// By this field, the largest first.
  case descending(String)
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
  /// The text `value`.
  public init(stringLiteral value: String) { self = .text(value) }
  /// The integer `value`.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// The truth value `value`.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// The floating point number `value`.
  public init(floatLiteral value: Double) { self = .double(value) }
}
