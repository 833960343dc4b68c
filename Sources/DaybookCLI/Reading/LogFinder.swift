import DaybookLog

/// Finds logs in a directory that may be one, or may hold several.
enum LogFinder {
  /// How deep logs are looked for below the directory given: `server`, `reps/01`, and one more.
  private static let depthLimit = 4
  /// The most directories looked into; more are hardly meant.
  private static let directoryLimit = 10_000

  /// The paths of the logs, behind `path`: one empty text if it is a log itself.
  ///
  /// - Throws: ``LogError``: what is wrong with `path`, `notALog` if there is no log in it.
  static func logs(in path: String) throws(LogError) -> [String] {
    if try isLog(path) { return [""] }
    var found: [String] = []
    var waiting = [(name: "", depth: 0)]
    var count = 0
    while !waiting.isEmpty {
      let (name, depth) = waiting.removeFirst()
      for child in try directories(in: path + name) {
        count += 1
        guard count <= directoryLimit else { break }
        let childName = "\(name)/\(child)"
        if try isLog(path + childName) {
          found.append(childName)
        } else if depth + 1 < depthLimit {
          waiting.append((childName, depth + 1))
        }
      }
    }
    guard !found.isEmpty else { throw .notALog(path: path) }
    return found.sorted().map { "\($0.dropFirst())/" }
  }

  /// Whether there is a log at `path`; one of a newer format is one too.
  private static func isLog(_ path: String) throws(LogError) -> Bool {
    do throws(LogError) {
      _ = try OpenedLog(path)
      return true
    } catch {
      switch error {
      case .notALog: return false
      case .newerFormat: return true
      default: throw error
      }
    }
  }

  private static func directories(in path: String) throws(LogError) -> [String] {
    let fileSystem = SystemFileSystem()
    do throws(FileError) {
      var names: [String] = []
      for name in try fileSystem.list(path).sorted() {
        let found = try fileSystem.attributes(of: "\(path)/\(name)")
        if found?.kind == .directory { names.append(name) }
      }
      return names
    } catch {
      if error.reason == .permission { throw .notPermitted(path: error.path) }
      throw .inputOutput(error)
    }
  }
}
