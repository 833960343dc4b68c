/// The plain types that generic code (an array's or dictionary's own `Codable`) hands over as any
/// `Encodable`: taking them here saves a container for each element.
///
/// A comparison of metatypes costs a nanosecond, a cast that fails some fifty: hence the order.
enum ScalarCoding {
  /// The value of a text, number or truth value; `nil` for any other type.
  static func value<T>(of value: T) -> Value? {
    if T.self == String.self, let text = value as? String { return .text(text) }
    if T.self == Int.self, let number = value as? Int { return .int(Int64(number)) }
    if T.self == Double.self, let number = value as? Double { return .double(number) }
    if T.self == Bool.self, let truth = value as? Bool { return .bool(truth) }
    return nil
  }

  /// What `value` is as a text, number or truth value of type `T`; `nil` for any other type, and
  /// for a value that needs a closer look.
  static func decode<T>(_ type: T.Type, _ value: Value) -> T? {
    switch value {
    case .text(let text) where T.self == String.self: return text as? T
    case .unsigned(let number) where T.self == Int.self: return Int(exactly: number) as? T
    case .double(let number) where T.self == Double.self: return number as? T
    case .bool(let truth) where T.self == Bool.self: return truth as? T
    default: return nil
    }
  }
}
