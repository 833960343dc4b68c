import Testing

/// One rule of the house, with texts that show it: each bad one must be found, each good one left.
struct Check: Sendable, CustomTestStringConvertible {
  /// A whole file in one string.
  struct Sample: Sendable {
    let path: String
    let text: String

    init(_ text: String, in path: String = "Sources/Daybook/Sample.swift") {
      self.path = path
      self.text = text
    }

    var file: SourceFile { SourceFile(path: path, text: text) }
  }

  /// The rule as a sentence.
  let rule: String
  let find: @Sendable (SourceFile) -> [Finding]
  let bad: [Sample]
  let good: [Sample]

  var testDescription: String { rule }

  /// A rule about single lines; `problem` gives what is wrong with a line, `nil` if nothing is.
  ///
  /// `code` says whether the line is seen without comments and literals.
  static func lines(
    _ rule: String, code: Bool = false, in applies: @escaping @Sendable (String) -> Bool,
    bad: [Sample], good: [Sample], problem: @escaping @Sendable (String) -> String?
  ) -> Check {
    Check(
      rule: rule,
      find: { file in
        guard applies(file.path) else { return [] }
        return (code ? file.code : file.lines).enumerated().compactMap { index, line in
          problem(line).map { Finding(path: file.path, line: index + 1, problem: $0) }
        }
      },
      bad: bad, good: good)
  }
}

/// Which files a check is about.
enum Place {
  @Sendable static func everywhere(_ path: String) -> Bool { true }
  @Sendable static func swift(_ path: String) -> Bool { path.hasSuffix(".swift") }
  @Sendable static func sources(_ path: String) -> Bool {
    path.hasPrefix("Sources/") && path.hasSuffix(".swift")
  }
  @Sendable static func tests(_ path: String) -> Bool {
    path.hasPrefix("Tests/") && path.hasSuffix(".swift")
  }
  /// Everything that has columns: code, not prose.
  @Sendable static func code(_ path: String) -> Bool { !path.hasSuffix(".md") }
}
