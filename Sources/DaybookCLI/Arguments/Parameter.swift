/// One option or positional argument of a command, and the key to its value in ``Arguments``.
///
/// A command declares its parameters as static constants and lists them in its ``Syntax``:
///
/// ```swift
/// static let orders = Parameter.option(
///   "orders", .wholeNumber(in: 1...100_000), default: 300, help: "how many orders are taken")
/// static let schema = Parameter.optionalOption("schema", .file, help: "the schema to serve")
/// static let directory = Parameter.argument(.directory, help: "a log's directory")
/// ```
struct Parameter<Value: Sendable>: AnyParameter {
  let name: String
  let role: ParameterRole
  let placeholder: String
  let help: String
  let expectation: Expectation
  let defaultText: String?
  /// What the parameter is without an argument; `nil` if it must be given.
  let defaultValue: Value?
  private let parse: @Sendable (String) -> (any Sendable)?

  var isRequired: Bool { defaultValue == nil }

  func value(of text: String) -> (any Sendable)? { parse(text) }

  /// `--name VALUE`, and what it is without.
  static func option(
    _ name: String, _ kind: ValueKind<Value>, default value: Value, help: String
  ) -> Parameter {
    Parameter(
      name: "--\(name)", role: .option, placeholder: kind.placeholder, help: help,
      expectation: kind.expectation, defaultText: kind.show(value), defaultValue: value,
      parse: kind.parse)
  }

  /// `--name VALUE` that has to be given.
  static func requiredOption(
    _ name: String, _ kind: ValueKind<Value>, help: String
  ) -> Parameter {
    Parameter(
      name: "--\(name)", role: .option, placeholder: kind.placeholder, help: help,
      expectation: kind.expectation, defaultText: nil, defaultValue: nil, parse: kind.parse)
  }

  /// `--name VALUE`, `nil` without.
  static func optionalOption<Wrapped>(
    _ name: String, _ kind: ValueKind<Wrapped>, help: String
  ) -> Parameter where Value == Wrapped? {
    Parameter(
      name: "--\(name)", role: .option, placeholder: kind.placeholder, help: help,
      expectation: kind.expectation, defaultText: nil, defaultValue: .some(nil),
      parse: kind.parse)
  }

  /// A positional argument that has to be given, named by its placeholder.
  static func argument(_ kind: ValueKind<Value>, help: String) -> Parameter {
    Parameter(
      name: kind.placeholder, role: .argument, placeholder: kind.placeholder, help: help,
      expectation: kind.expectation, defaultText: nil, defaultValue: nil, parse: kind.parse)
  }
}

extension Parameter where Value == Bool {
  /// `--name`, off without.
  static func flag(_ name: String, help: String) -> Parameter {
    Parameter(
      name: "--\(name)", role: .flag, placeholder: "", help: help, expectation: .text,
      defaultText: nil, defaultValue: false, parse: { _ in true })
  }
}

extension Parameter where Value == [String] {
  /// All positional arguments that are left, also none.
  static func remaining(_ placeholder: String, help: String) -> Parameter {
    Parameter(
      name: placeholder, role: .remaining, placeholder: placeholder, help: help,
      expectation: .text, defaultText: nil, defaultValue: [], parse: { $0 })
  }
}

/// Where a parameter stands on the command line.
enum ParameterRole: Sendable {
  case flag, option, argument, remaining
}

/// What parsing and help need of a parameter, whatever its value is.
protocol AnyParameter: Sendable {
  /// `--orders` for an option, `DIR` for a positional argument.
  var name: String { get }
  var role: ParameterRole { get }
  var placeholder: String { get }
  /// A phrase without a full stop.
  var help: String { get }
  var expectation: Expectation { get }
  /// The default as one would type it; `nil` if there is none to show.
  var defaultText: String? { get }
  var isRequired: Bool { get }

  /// The value that `text` spells, `nil` if it is not what is expected.
  func value(of text: String) -> (any Sendable)?
}

/// Parameters that several commands have.
enum CommonParameter {
  static let json = Parameter.flag("json", help: "JSON Lines: one object a line, the last sums up")
}
