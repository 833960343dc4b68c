/// Paths as text.
package enum FilePath {
  /// The directory that `path` lies in, with or without a slash at its end.
  package static func parent(of path: String) -> String {
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}
