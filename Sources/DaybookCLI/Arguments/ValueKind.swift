/// How the text of one argument becomes a value, and what to say when it does not.
struct ValueKind<Value: Sendable>: Sendable {
  /// What stands for the value in help: `N`, `DIR`, `outbox|feed`.
  let placeholder: String
  /// What a valid text is; the other half of the sentence about an invalid one.
  let expectation: Expectation
  /// The value that a text spells, `nil` if it spells none.
  let parse: @Sendable (String) -> Value?
  /// The text that spells a value, for the default shown in help.
  let show: @Sendable (Value) -> String
}

/// What an argument must look like.
enum Expectation: Sendable, Equatable {
  case wholeNumber(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  case numberRange(ClosedRange<Int>, maximumCount: Int)
  case choice([String])
  case record
  case place
  case text
}

extension ValueKind where Value == Int {
  /// A whole number within `limits`.
  static func wholeNumber(in limits: ClosedRange<Int>, as placeholder: String = "N") -> Self {
    Self(
      placeholder: placeholder, expectation: .wholeNumber(limits),
      parse: { text in Int(text).flatMap { limits.contains($0) ? $0 : nil } },
      show: { "\($0)" })
  }
}

extension ValueKind where Value == Double {
  /// A finite number within `limits`.
  static func number(in limits: ClosedRange<Double>, as placeholder: String = "X") -> Self {
    Self(
      placeholder: placeholder, expectation: .number(limits),
      parse: { text in Double(text).flatMap { limits.contains($0) ? $0 : nil } },
      show: plain)
  }
}

extension ValueKind where Value == ClosedRange<Int> {
  /// An inclusive range as `0-999`, or one number, within `limits` and of at most `maximumCount`.
  static func numberRange(in limits: ClosedRange<Int>, maximumCount: Int) -> Self {
    Self(
      placeholder: "A-B", expectation: .numberRange(limits, maximumCount: maximumCount),
      parse: { text in
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let first = ends.first ?? nil,
          let last = ends.last ?? nil, first <= last,
          limits.contains(first), limits.contains(last),
          last - first < maximumCount
        else { return nil }
        return first...last
      },
      show: { "\($0.lowerBound)-\($0.upperBound)" })
  }
}

extension ValueKind where Value == String {
  /// Any text but none.
  static func text(as placeholder: String) -> Self {
    Self(
      placeholder: placeholder, expectation: .text, parse: { $0.isEmpty ? nil : $0 }, show: { $0 })
  }

  /// A directory's path.
  static var directory: Self { .text(as: "DIR") }

  /// A file's path.
  static var file: Self { .text(as: "FILE") }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the cases, by its raw value.
  static var choice: Self {
    let names = Value.allCases.map(\.rawValue)
    return Self(
      placeholder: names.joined(separator: "|"), expectation: .choice(names),
      parse: { Value(rawValue: $0) }, show: { $0.rawValue })
  }
}

/// A record as a command line names it: `orders/0198c0de-0000-7000-8000-000000000001`.
struct RecordName: Sendable, Equatable {
  let collection: String
  let id: String
}

extension ValueKind where Value == RecordName {
  /// A collection and an id with a slash between; the id may hold further slashes.
  static var record: Self {
    Self(
      placeholder: "COLLECTION/ID", expectation: .record,
      parse: { text in
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        return RecordName(collection: String(parts[0]), id: String(parts[1]))
      },
      show: { "\($0.collection)/\($0.id)" })
  }
}
