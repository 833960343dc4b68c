/// Why a command line was not understood.
enum ArgumentError: Error, Equatable {
  case noCommand
  case unknownCommand(String, nearest: String?)
  /// The first word of a family without a second that belongs to it.
  case incompleteCommand(String, choices: [String])
  case unknownOption(String, nearest: String?)
  case missingValue(String, String, followedBy: String?)
  case flagWithValue(String)
  case repeated(String)
  case badValue(String, String, Expectation)
  /// A required parameter that is not there; the placeholder if it is an option.
  case missing(String, String?)
  case unexpected(String, expectedCount: Int)
}

extension ArgumentError {
  /// One sentence, its first letter small, without a full stop.
  var message: String {
    switch self {
    case .noCommand: return "no command was given"
    case .unknownCommand(let name, let nearest):
      return "there is no command `\(name)`" + Self.suggestion(nearest)
    case .incompleteCommand(let name, let choices):
      let list = choices.map { "`\(name) \($0)`" }.joined(separator: ", ")
      return "`\(name)` needs to know which one: \(list)"
    case .unknownOption(let name, let nearest):
      return "there is no option `\(name)`" + Self.suggestion(nearest)
    case .missingValue(let name, let placeholder, let next):
      let found = next.map { ", but `\($0)` follows" } ?? ", but the command line ends there"
      return "`\(name)` needs a value (\(placeholder))" + found
    case .flagWithValue(let name): return "`\(name)` takes no value"
    case .repeated(let name): return "`\(name)` is given twice"
    case .badValue(let name, let text, let expectation):
      return "`\(name)` needs \(expectation.phrase), not `\(text)`"
    case .missing(let name, let placeholder):
      return "`\(name)\(placeholder.map { " \($0)" } ?? "")` is missing"
    case .unexpected(let word, let count):
      let taken = count == 0 ? "no arguments" : count == 1 ? "one argument" : "\(count) arguments"
      return "`\(word)` is one too many: it takes \(taken)"
    }
  }

  private static func suggestion(_ nearest: String?) -> String {
    nearest.map { "; did you mean `\($0)`?" } ?? ""
  }
}

extension Expectation {
  /// `a whole number from 1 to 100,000`.
  var phrase: String {
    switch self {
    case .wholeNumber: return "a whole number" + (limits.map { " \($0)" } ?? "")
    case .number: return "a number" + (limits.map { " \($0)" } ?? "")
    case .numberRange(let range, let count):
      return "an inclusive range as `0-999` or one number, from \(grouped(range.lowerBound)) to "
        + "\(grouped(range.upperBound)) and of at most \(grouped(count)) numbers"
    case .choice(let names):
      return "one of " + names.map { "`\($0)`" }.joined(separator: ", ")
    case .record: return "a record as `COLLECTION/ID`"
    case .place:
      return "a position as `outbox:17` or `feed:9`, or a time as `2026-03-02T14:05:00Z`"
    case .text: return "a text that is not empty"
    }
  }

  /// `from 1 to 100,000`, for help; `nil` where the placeholder says it all.
  var limits: String? {
    switch self {
    case .wholeNumber(let range):
      if range.upperBound == .max { return "from \(grouped(range.lowerBound))" }
      return "from \(grouped(range.lowerBound)) to \(grouped(range.upperBound))"
    case .number(let range): return "from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
    case .numberRange(_, let count): return "inclusive, at most \(grouped(count))"
    case .choice, .record, .place, .text: return nil
    }
  }
}

/// `1234567` as `1,234,567`.
func grouped(_ number: Int) -> String {
  var text = ""
  for (index, digit) in String(number.magnitude).reversed().enumerated() {
    if index > 0, index.isMultiple(of: 3) { text.append(",") }
    text.append(digit)
  }
  return (number < 0 ? "-" : "") + String(text.reversed())
}

/// `0.2` as it is, `1.0` as `1`.
func plain(_ number: Double) -> String {
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
