import Testing

/// Rules about the look of any text.
enum TextChecks {
  static let all = [
    columns, noTabs, noTrailingSpace, lastLineFeed, length, noPathsOfOneMachine, nothingUnfinished,
  ]

  static let columns = Check.lines(
    "a line of code has at most 100 columns", in: Place.code,
    bad: [.init("let a = " + String(repeating: "1", count: 100) + "\n")],
    good: [
      .init(String(repeating: "é", count: 100) + "\n"),
      .init(String(repeating: "a", count: 140) + "\n", in: "Docs/A.md"),
    ]
  ) { line in
    line.utf8.count > 100 && line.count > 100 ? "\(line.count) columns" : nil
  }

  static let noTabs = Check.lines(
    "no tab is used", in: Place.everywhere,
    bad: [.init("\tlet a = 1\n"), .init("a\tb\n", in: "Docs/A.md")], good: [.init("  let a = 1\n")]
  ) { line in
    line.utf8.contains(UInt8(ascii: "\t")) ? "a tab" : nil
  }

  static let noTrailingSpace = Check.lines(
    "no line ends in a space", in: Place.everywhere,
    bad: [.init("let a = 1 \n"), .init("text  \n", in: "Docs/A.md")], good: [.init("let a = 1\n\n")]
  ) { line in
    line.utf8.last == UInt8(ascii: " ") ? "a space at the end" : nil
  }

  static let lastLineFeed = Check(
    rule: "a text ends with one line feed",
    find: { file in
      let isRight = file.text.hasSuffix("\n") && !file.text.hasSuffix("\n\n")
      let problem = "must end with one line feed"
      return isRight ? [] : [Finding(path: file.path, line: file.lines.count, problem: problem)]
    },
    bad: [.init("let a = 1"), .init("let a = 1\n\n"), .init("")],
    good: [.init("let a = 1\n")])

  /// Files of more than 400 lines, and why each is one file.
  static let reasonedLongFiles: [String: String] = [:]

  static let length = Check(
    rule: "a file has at most 400 lines, with a reason 600",
    find: { file in
      guard Place.swift(file.path) else { return [] }
      let limit = reasonedLongFiles[file.path] == nil ? 400 : 600
      let problem = "\(file.lines.count) lines, more than \(limit)"
      return file.lines.count <= limit
        ? [] : [Finding(path: file.path, line: limit + 1, problem: problem)]
    },
    bad: [.init(String(repeating: "//\n", count: 401))],
    good: [.init(String(repeating: "//\n", count: 400))])

  /// Directories that exist on the machine of whoever wrote the line.
  private static let foreignPaths =
    ["home", "Users", "root", "work"].map { "/" + $0 + "/" } + ["../" + "shared"]

  static let noPathsOfOneMachine = Check.lines(
    "no path that only one machine has", in: Place.everywhere,
    bad: foreignPaths.map { .init("see \($0)me/notes\n", in: "Docs/A.md") },
    good: [.init("https://example.org/a\(foreignPaths[0])page\n", in: "Docs/A.md")]
  ) { line in
    for path in foreignPaths {
      guard let found = line.firstRange(of: path) else { continue }
      let before = line[..<found.lowerBound].last
      if before.map({ !$0.isLetter && !$0.isNumber && $0 != "." }) ?? true { return path }
    }
    return nil
  }

  private static let unfinishedWords = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]

  static let nothingUnfinished = Check.lines(
    "nothing is marked as unfinished", in: Place.everywhere,
    bad: unfinishedWords.map { .init("// \($0): later\n") },
    good: [.init("// nothing to do\n")]
  ) { line in
    unfinishedWords.first { line.contains($0) }
  }
}
