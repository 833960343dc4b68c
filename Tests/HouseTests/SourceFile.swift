import Foundation

/// A text file of the house, as the checks see it.
struct SourceFile: Sendable {
  /// Relative to the package's directory, with slashes.
  let path: String
  let text: String
  /// The lines without their line feeds; the text's last line feed makes no further line.
  let lines: [String]
  /// The same lines with comments left out and the inside of literals emptied; as they are for
  /// other languages than Swift.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = Self.lines(of: text)
    code = path.hasSuffix(".swift") ? Self.lines(of: CodeOnly.text(of: text)) : lines
  }

  private static func lines(of text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// What is wrong at one line, counted from 1.
struct Finding: Sendable, CustomStringConvertible {
  let path: String
  let line: Int
  let problem: String

  var description: String { "\(path):\(line): \(problem)" }
}

/// The package's directory and what is in it.
enum House {
  /// Where Package.swift is: two directories above this file's.
  static let directory = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The names at the top level.
  static func topLevel() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  /// Every text file that people write, in path order: all but fixtures, which are data.
  static let files: [SourceFile] = {
    let roots = ["Sources", "Tests", "Docs", "Fixtures", ".ci"]
    var paths = ["Package.swift", "README.md"]
    for root in roots {
      let below = FileManager.default.enumerator(atPath: directory.appending(path: root).path)
      for case let path as String in below ?? .init() { paths.append("\(root)/\(path)") }
    }
    return paths.sorted().filter(isText).compactMap { path in
      let text = try? String(contentsOf: directory.appending(path: path), encoding: .utf8)
      return text.map { SourceFile(path: path, text: $0) }
    }
  }()

  private static func isText(_ path: String) -> Bool {
    let endings = ["swift", "c", "h", "md", "sh", "py", "modulemap"]
    let ending = path.split(separator: ".").last.map(String.init) ?? ""
    if path.hasPrefix("Fixtures/") { return ending == "md" }
    return endings.contains(ending) || path.hasPrefix(".ci/") || path.hasSuffix("/run")
  }
}
