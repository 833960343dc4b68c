import Foundation
import Testing

/// The transcripts of `Docs/Operating.md`, run.
@Suite struct TranscriptTests {
  @Test func `every transcript of the docs is what the command says`() async throws {
    let directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Docs/Operating.md").standardizedFileURL
    let text = try String(contentsOf: path, encoding: .utf8)
    var expected: [String] = []
    var isTranscript = false
    var commandCount = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("```") { isTranscript = line == "```console" }
      guard isTranscript, !line.hasPrefix("```") else {
        expected.append(line)
        continue
      }
      guard line.hasPrefix("$ daybook ") else { continue }
      expected.append(line)
      commandCount += 1
      let words = line.split(separator: " ").dropFirst(2).map(String.init)
      let run = try await CommandRun(words, in: directory.path).outcome()
      #expect(run.status == 0, "\(line): \(run.errors)")
      expected += run.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .map(String.init)
    }
    #expect(commandCount > 5)
    guard expected.joined(separator: "\n") != text else { return }
    let fresh = FileManager.default.temporaryDirectory.appending(path: "Operating.md")
    try Data(expected.joined(separator: "\n").utf8).write(to: fresh)
    Issue.record("the commands say otherwise; \(fresh.path) is the page as it would be")
  }
}
