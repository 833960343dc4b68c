#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

/// Paths as two commands must agree on them, however they were typed.
enum Paths {
  /// `path` without links, `.` and `..`; of what is not there yet, its parent's with its name.
  static func resolved(_ path: String) -> String {
    if let whole = real(path) { return whole }
    var trimmed = path
    while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else {
      return real(".").map { "\($0)/\(trimmed)" } ?? trimmed
    }
    let parent = slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    let name = trimmed[trimmed.index(after: slash)...]
    guard let real = real(parent) else { return trimmed }
    return real == "/" ? "/\(name)" : "\(real)/\(name)"
  }

  private static func real(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }
}
