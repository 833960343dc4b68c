/// Where the functions of a file begin and how long each is, from its declaration to its brace.
enum FunctionLength {
  struct Function: Equatable {
    /// Counted from 1.
    let line: Int
    let lineCount: Int
  }

  /// The functions and initializers in `code`, which holds no comments or literals.
  static func functions(of code: [String]) -> [Function] {
    code.indices.compactMap { start in
      guard code[start].contains("func ") || code[start].contains("init"),
        code[start].contains(/^\s*(?:@\w+(?:\([^)]*\))?\s+|\w+\s+)*(?:func\s|init[?(<])/)
      else { return nil }
      guard let count = lineCount(code[start...]) else { return nil }
      return Function(line: start + 1, lineCount: count)
    }
  }

  /// How many lines the declaration at the start of `code` takes; `nil` if it has no body.
  private static func lineCount(_ code: ArraySlice<String>) -> Int? {
    var braces = 0
    var parentheses = 0
    for (index, line) in zip(code.indices, code) {
      for character in line.utf8 {
        switch character {
        case UInt8(ascii: "{"): braces += 1
        case UInt8(ascii: "}"):
          braces -= 1
          if braces <= 0, parentheses == 0 { return braces < 0 ? nil : index - code.startIndex + 1 }
        case UInt8(ascii: "("): parentheses += 1
        case UInt8(ascii: ")"): parentheses -= 1
        default: break
        }
      }
      // A requirement ends with its line, unless the next one goes on with it.
      if braces == 0, parentheses == 0, !continues(code[(index + 1)...].first) { return nil }
    }
    return nil
  }

  private static func continues(_ line: String?) -> Bool {
    guard let line else { return false }
    return line.contains(/^\s*(?:\{|->|where\b|async\b|throws\b|rethrows\b)/)
  }
}
