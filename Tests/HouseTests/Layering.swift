/// Who may import whom: imports go down only, never sideways. SwiftPM does not enforce it.
enum Layering {
  /// Foundation, the lean half first.
  private static let foundation: Set = ["FoundationEssentials", "Foundation"]
  /// What a module that touches the system may import of it.
  private static let system: Set = foundation.union([
    "Glibc", "Musl", "Darwin", "Android", "Dispatch", "Synchronization",
  ])

  /// Modules that decide and compute: no file, socket, clock, randomness or `async`.
  static let pureModules: Set = ["DaybookFormat", "DaybookSync"]

  /// The modules and C libraries that each module may import.
  static let allowedImports: [String: Set<String>] = [
    "DaybookFormat": foundation.union(["CDaybook", "CCrypto", "CLZ4", "CryptoKit", "Compression"]),
    "DaybookLog": system.union(["DaybookFormat", "CDaybook"]),
    "DaybookSync": foundation.union(["DaybookFormat"]),
    "DaybookNet": system.union(["DaybookFormat", "FoundationNetworking"]),
    "Daybook": system.union([
      "DaybookLog", "DaybookSync", "DaybookNet", "DaybookFormat", "Observation",
    ]),
    "DaybookServerCore": system.union(["DaybookLog", "DaybookSync", "DaybookFormat"]),
    "DaybookServer": system.union(["DaybookServerCore", "DaybookFormat", "CMicrohttpd"]),
    "DaybookTestKit": system.union([
      "Daybook", "DaybookServerCore", "DaybookLog", "DaybookSync", "DaybookNet", "DaybookFormat",
      "CDaybook",
    ]),
    "DaybookCLI": system.union([
      "Daybook", "DaybookServer", "DaybookTestKit", "DaybookServerCore", "DaybookLog",
      "DaybookSync", "DaybookNet", "DaybookFormat", "CDaybook",
    ]),
  ]

  /// What a pure module's code must not hold, as whole words.
  static let impureWords: Set = [
    "Task", "TaskGroup", "async", "await", "actor", "FileManager", "FileHandle", "URLSession",
    "ProcessInfo", "Thread", "DispatchQueue", "random", "randomElement", "shuffled", "shuffle",
    "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock", "clock_gettime",
    "gettimeofday", "getenv", "fopen", "print",
  ]

  /// What it must not hold as text: types that may be passed in, but not made from thin air.
  static let impureTexts = ["Date()", "Date.init()", "UUID()", ".now", "SinceNow"]

  /// The module an import line names, with whatever access or attribute stands before it.
  static func importedModule(_ line: String) -> String? {
    guard line.contains("import") else { return nil }
    let pattern =
      #/
      ^\s*(?:@\w+(?:\([^)]*\))?\s+)*
      (?:(?:public|package|internal|fileprivate|private)\s+)?
      import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)
      /#
    return line.firstMatch(of: pattern).map { String($0.1) }
  }

  /// The module of a file in Sources.
  static func module(of path: String) -> String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }

  static let checks = [imports, purity]

  static let imports = Check(
    rule: "imports go down only",
    find: { file in
      guard Place.sources(file.path), let module = module(of: file.path) else { return [] }
      let allowed = allowedImports[module] ?? []
      return file.code.enumerated().compactMap { index, line in
        guard let imported = importedModule(line), !allowed.contains(imported) else { return nil }
        let problem = "\(module) must not import \(imported)"
        return Finding(path: file.path, line: index + 1, problem: problem)
      }
    },
    bad: [
      .init("import DaybookServerCore\n"),
      .init("package import Daybook\n", in: "Sources/DaybookSync/A.swift"),
      .init("@_exported import DaybookNet\n", in: "Sources/DaybookLog/A.swift"),
      .init("@preconcurrency public import Dispatch\n", in: "Sources/DaybookFormat/A.swift"),
      .init("import struct DaybookLog.Frame\n", in: "Sources/DaybookNet/A.swift"),
      .init("#if canImport(Glibc)\n  import Glibc\n#endif\n", in: "Sources/DaybookSync/A.swift"),
      .init("import DaybookFormat\n", in: "Sources/NoSuchModule/A.swift"),
    ],
    good: [
      .init("public import DaybookFormat\nimport Observation\n"),
      .init("// import DaybookServer\n"),
    ])

  static let purity = Check(
    rule: "pure modules have no file, socket, clock, randomness or async",
    find: { file in
      guard Place.sources(file.path), let module = module(of: file.path),
        pureModules.contains(module)
      else { return [] }
      return file.code.enumerated().flatMap { index, line in
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
          .filter { impureWords.contains(String($0)) && !isLabel($0, in: line) }
          .map(String.init)
        return (words + impureTexts.filter { line.contains($0) })
          .map { Finding(path: file.path, line: index + 1, problem: "\(module) is pure: \($0)") }
      }
    },
    bad: [
      "let now = Date()", "let now: Date = .now", "let id = UUID()",
      "let file = FileManager.default", "Task { a() }", "func a() async {}",
      "let a = Int.random(in: 0...1)",
    ]
    .map { .init($0 + "\n", in: "Sources/DaybookSync/A.swift") },
    good: [
      .init("func a(random: UInt64) -> UInt64 { random.low }\n", in: "Sources/DaybookSync/A.swift"),
      .init("// no Date() here\n", in: "Sources/DaybookFormat/A.swift"),
      .init("func a(_ time: Date) -> Data { b }\n", in: "Sources/DaybookFormat/A.swift"),
      .init("let now = Date()\n", in: "Sources/Daybook/A.swift"),
    ])

  /// Whether `word` names a parameter or a variable: passed in, as time and seeds should be.
  private static func isLabel(_ word: Substring, in line: String) -> Bool {
    let before = line[..<word.startIndex].last
    let after = line[word.endIndex...].first
    return word.first?.isLowercase == true && before != "." && after != "("
      && word != "async" && word != "await" && word != "actor"
  }
}
