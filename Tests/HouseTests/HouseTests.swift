import Foundation
import Testing

/// The house as it stands, and the checks themselves.
@Suite struct HouseTests {
  static let checks = TextChecks.all + CodeChecks.all + Layering.checks

  @Test(arguments: checks)
  func `the house keeps its rules`(_ check: Check) {
    for finding in House.files.flatMap(check.find) {
      Issue.record("\(finding)")
    }
  }

  @Test(arguments: checks)
  func `a check finds what is bad and leaves what is good`(_ check: Check) {
    #expect(!check.bad.isEmpty && !check.good.isEmpty)
    for sample in check.bad {
      #expect(!check.find(sample.file).isEmpty, "not found: \(sample.text)")
    }
    for sample in check.good {
      #expect(check.find(sample.file).isEmpty, "found without reason: \(sample.text)")
    }
  }

  @Test func `all files are looked at`() {
    let paths = Set(House.files.map(\.path))
    for path in [
      "Package.swift", ".ci/run", "Tests/HouseTests/HouseTests.swift", "Docs/Glossary.md",
      "Tests/Interop/run", "Tests/Interop/reader/verdict.py",
    ] {
      #expect(paths.contains(path), "\(path) is not among the files that are checked")
    }
  }

  @Test func `the top level holds the agreed entries only`() throws {
    let agreed: Set = [
      "Package.swift", "Package.resolved", "Sources", "Tests", "Fixtures", "Docs", "README.md",
    ]
    for name in try House.topLevel() where !name.hasPrefix(".") {
      #expect(agreed.contains(name), "\(name) does not belong at the top level")
    }
  }

  @Test func `every module has its row of allowed imports`() throws {
    let sources = House.directory.appending(path: "Sources").path
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources)
      .filter { $0.hasPrefix("Daybook") }
    #expect(Set(modules) == Set(Layering.allowedImports.keys))
  }

  @Test func `the second command of the README is what continuous integration runs`() throws {
    let command = "bash .ci/setup && swift test"
    let readme = try #require(House.files.first { $0.path == "README.md" })
    let script = try #require(House.files.first { $0.path == ".ci/run" })
    #expect(readme.lines.contains(command))
    #expect(script.text.contains("{ \(command); }"))
  }

  @Test func `a long file with a reason is long`() {
    for (path, reason) in TextChecks.reasonedLongFiles {
      let file = House.files.first { $0.path == path }
      #expect((file?.lines.count ?? 0) > 400, "\(path) needs no reason any more: \(reason)")
    }
  }
}
