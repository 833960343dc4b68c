import Testing

/// Rules about Swift code, seen without comments and literals.
enum CodeChecks {
  static let all = [
    noForce, noTrapOnInput, names, fileNames, documented, functionLength, sentences, noWaiting,
    noTestableImport,
  ]

  static let noForce = Check.lines(
    "nothing is forced in Sources", code: true, in: Place.sources,
    bad: [
      .init("let a = b!\n"), .init("let a = b[0]!.c\n"), .init("try! f()\n"),
      .init("let a = b as! C\n"), .init("var a: Int!\n"), .init("f(a!, b)\n"),
    ],
    good: [
      .init("if a != b, !c { d(!e) }\n"), .init("// b!\n"), .init("let a = \"b!\"\n"),
      .init("let a = b!\n", in: "Tests/DaybookTests/Sample.swift"),
    ]
  ) { line in
    guard line.utf8.contains(UInt8(ascii: "!")) else { return nil }
    return line.contains(/[\w)\]}>"]!(?!=)/) ? "a forced value" : nil
  }

  static let noTrapOnInput = Check.lines(
    "no fatal error in Sources", code: true, in: Place.sources,
    bad: [.init("fatalError(\"no\")\n"), .init("default: fatalError()\n")],
    good: [.init("preconditionFailure(\"\\(a)\")\n"), .init("// fatalError()\n")]
  ) { line in
    line.contains("fatalError(") ? "fatalError" : nil
  }

  private static let vagueParts = ["Manager", "Helper", "Util"]

  static let names = Check.lines(
    "no declared name is vague", code: true, in: Place.swift,
    bad: [
      .init("struct LogManager {}\n"), .init("  func makeHelper() {}\n"), .init("enum Utils {}\n"),
    ],
    good: [.init("let files = FileManager.default\n"), .init("struct LogWriter {}\n")]
  ) { line in
    guard vagueParts.contains(where: { line.contains($0) }) else { return nil }
    let declared = line.matches(
      of: /\b(?:class|struct|enum|actor|protocol|typealias|func|let|var|extension|case)\s+(\w+)/)
    return declared.map { String($0.1) }.first { name in
      vagueParts.contains { name.contains($0) } && name != "FileManager"
    }
  }

  static let fileNames = Check(
    rule: "no file name is vague",
    find: { file in
      guard let part = vagueParts.first(where: { file.path.contains($0) }) else { return [] }
      return [Finding(path: file.path, line: 1, problem: "named \(part)")]
    },
    bad: [.init("\n", in: "Sources/Daybook/Utils.swift")],
    good: [.init("\n", in: "Sources/Daybook/Receipt.swift")])

  static let documented = Check(
    rule: "every public and package declaration has a doc comment",
    find: { file in
      guard Place.sources(file.path) else { return [] }
      return file.code.indices.compactMap { index in
        let line = file.code[index]
        guard line.contains("public") || line.contains("package"),
          line.contains(/^\s*(?:@\w+(?:\([^)]*\))?\s+|\w+\s+)*?(?:public|package)\s+/),
          !line.contains(/\bimport\b|^\s*(?:public|package)\s+extension\b/)
        else { return nil }
        var above = index - 1
        while above >= 0, file.code[above].contains(/^\s*(?:@|#if|\)$)/) { above -= 1 }
        let isDocumented = above >= 0 && file.lines[above].contains(/^\s*\/\/\//)
        let problem = "no doc comment: \(file.lines[index].drop { $0 == " " })"
        return isDocumented ? nil : Finding(path: file.path, line: index + 1, problem: problem)
      }
    },
    bad: [
      .init("public struct A {}\n"), .init("// A.\npackage func a() {}\n"),
      .init("/// A.\n\npublic let a = 1\n"), .init("  public static let a = 1\n"),
      .init("@inlinable\npublic func a() {}\n"), .init("  public init() {}\n"),
      .init("@usableFromInline package var a: Int\n"), .init("nonisolated public let a = 1\n"),
    ],
    good: [
      .init("/// A.\npublic struct A {}\n"), .init("package import DaybookFormat\n"),
      .init("/// A.\n@inlinable\n@inline(__always)\npackage func a() {}\n"),
      .init("struct A {}\n"), .init("let a = \"public let\"\n"),
    ])

  static let functionLength = Check(
    rule: "a function has at most 70 lines",
    find: { file in
      guard Place.swift(file.path) else { return [] }
      return FunctionLength.functions(of: file.code).compactMap { function in
        guard function.lineCount > 70 else { return nil }
        let problem = "a function of \(function.lineCount) lines"
        return Finding(path: file.path, line: function.line, problem: problem)
      }
    },
    bad: [
      .init("func a() {\n" + String(repeating: "  b()\n", count: 69) + "}\n"),
      .init("  init(\n    a: Int\n  ) {\n" + String(repeating: "    b { }\n", count: 67) + "  }\n"),
    ],
    good: [
      .init("func a() {\n" + String(repeating: "  b()\n", count: 68) + "}\n"),
      .init(
        "protocol A {\n  func a()\n" + String(repeating: "  var b: Int { get }\n", count: 80)
          + "}\n"),
    ])

  static let sentences = Check(
    rule: "a test is named by a sentence",
    find: { file in
      guard Place.tests(file.path) else { return [] }
      return file.code.indices.compactMap { index in
        guard file.code[index].contains(/^\s*@Test\b/) else { return nil }
        let declaration = file.lines[index...].first { $0.contains(/\bfunc\s/) } ?? ""
        let isSentence = declaration.contains(/func `[^`]+ [^`]+`/)
        let problem = "no sentence: \(declaration.drop { $0 == " " })"
        return isSentence ? nil : Finding(path: file.path, line: index + 1, problem: problem)
      }
    },
    bad: [
      .init("@Test func cuts() {}\n", in: "Tests/A/B.swift"),
      .init("  @Test(arguments: [\n    1,\n  ])\n  func cuts(a: Int) {}\n", in: "Tests/A/B.swift"),
    ],
    good: [
      .init("@Test func `a tail is cut`() {}\n", in: "Tests/A/B.swift"),
      .init("@Test(arguments: [1])\nfunc `a tail is cut`(a: Int) {}\n", in: "Tests/A/B.swift"),
    ])

  static let noWaiting = Check.lines(
    "no test sleeps", code: true, in: Place.tests,
    bad: [
      .init("try await Task.sleep(for: .seconds(1))\n", in: "Tests/A/B.swift"),
      .init("usleep(1000)\n", in: "Tests/A/B.swift"),
    ],
    good: [.init("// sleep(1)\nlet a = \"sleep(1)\"\n", in: "Tests/A/B.swift")]
  ) { line in
    line.contains(/sleep\(/) ? "a sleep" : nil
  }

  static let noTestableImport = Check.lines(
    "no test reaches into a module's internals", code: true, in: Place.tests,
    bad: [.init("@testable import Daybook\n", in: "Tests/A/B.swift")],
    good: [.init("import Daybook\n", in: "Tests/A/B.swift")]
  ) { line in
    line.contains("@testable") ? "@testable fails in release builds; use `package`" : nil
  }
}
