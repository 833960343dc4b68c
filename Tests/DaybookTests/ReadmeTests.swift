import Foundation
import Testing

/// What the README shows is what compiles.
@Suite struct ReadmeTests {
  @Test func `the program in the README is the one that is compiled here`() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let program = try String(
      contentsOf: here.appendingPathComponent("ReadmeProgram.swift"), encoding: .utf8)
    let readme = try String(
      contentsOf: here.appendingPathComponent("../../README.md"), encoding: .utf8)
    let lines = program.split(separator: "\n", omittingEmptySubsequences: false)
    let body = lines.filter { !$0.hasPrefix("// README:") }.joined(separator: "\n")
    #expect(readme.contains("```swift\n\(body.trimmingCharacters(in: .newlines))\n```"))
  }
}
