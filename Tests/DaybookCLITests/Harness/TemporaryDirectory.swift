import Foundation
import Testing

/// A directory of its own for one test, removed with everything in it when the test lets go of it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "daybook-cli-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of `name` within.
  func path(_ name: String) -> String { path + "/" + name }

  /// What `daybook` says to `words` in this directory; it must end with `status`.
  func run(
    _ words: String..., status: Int32 = 0, at place: SourceLocation = #_sourceLocation
  ) async throws -> CommandRun.Outcome {
    let outcome = try await CommandRun(words, in: path).outcome()
    #expect(
      outcome.status == status, "\(words): \(outcome.output)\(outcome.errors)",
      sourceLocation: place)
    return outcome
  }
}
