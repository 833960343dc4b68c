import DaybookLog

/// What a ``SimulatedDisk`` holds: files, the directory entries that lead to them, locks, and the
/// call that is to fail.
struct DiskState: Sendable {
  /// What a directory entry leads to.
  enum Node: Sendable, Hashable {
    case directory
    case file(Int)
  }

  var files: [Int: DiskFile] = [:]
  var live: [String: Node] = [:]
  var durable: [String: Node] = [:]
  var locks: Set<String> = []
  var nextFile = 1
  var callCount = 0
  var changeCount = 0
  var fault: SimulatedDisk.Fault = .none
  var isStopped = false
  var capacity: Int?
  var random = SplitMix64(seed: 0)

  /// Counts a call. Throws what the fault has for it; `true` if it is to do half of its work and
  /// then fail.
  mutating func begin(_ call: FileError.Call, _ path: String) throws(FileError) -> Bool {
    if isStopped { throw FileError(.other(5), call, path) }
    callCount += 1
    switch call {
    case .open, .list, .stat, .read: break
    default: changeCount += 1
    }
    switch fault {
    case .stop(at: callCount):
      isStopped = true
      throw FileError(.other(5), call, path)
    case .fail(at: callCount, let reason): throw FileError(reason, call, path)
    case .failTwice(let first, let distance, let reason)
    where callCount == first || callCount == first + distance:
      throw FileError(reason, call, path)
    case .shortWrite(at: callCount):
      if call == .write { return true }
      throw FileError(.diskFull, call, path)
    case .failedSync(at: callCount):
      if call == .sync { return true }
      throw FileError(.other(5), call, path)
    case .refuse(let calls, let reason) where calls.contains(call):
      throw FileError(reason, call, path)
    default: return false
    }
  }

  /// The bytes of all files together, as programs see them.
  var usedByteCount: Int {
    live.values.reduce(0) { sum, node in
      if case .file(let number) = node { sum + (files[number]?.live.count ?? 0) } else { sum }
    }
  }

  /// How many more bytes the file `number` may have at `offset`, of `count` that are wanted.
  func room(_ number: Int, at offset: Int, for count: Int) -> Int {
    guard let capacity else { return count }
    let size = files[number]?.live.count ?? 0
    let growth = max(0, offset + count - size)
    return max(0, count - max(0, growth - max(0, capacity - usedByteCount)))
  }

  mutating func create(_ path: String, _ call: FileError.Call) throws(FileError) -> Int {
    guard live[DiskState.parent(of: path)] == .directory else {
      throw FileError(.notFound, call, path)
    }
    if let capacity, usedByteCount >= capacity { throw FileError(.diskFull, call, path) }
    let number = nextFile
    nextFile += 1
    files[number] = DiskFile()
    live[path] = .file(number)
    return number
  }

  mutating func syncDirectory(_ path: String) {
    for (entry, node) in live where DiskState.parent(of: entry) == path { durable[entry] = node }
    for entry in durable.keys where DiskState.parent(of: entry) == path && live[entry] == nil {
      durable[entry] = nil
    }
  }

  /// What is left after a power cut.
  mutating func crash(_ mode: SimulatedDisk.Crash, coarse: Set<String>) {
    locks = []
    isStopped = false
    fault = .none
    callCount = 0
    guard mode != .killed else { return }
    // In a fixed order, so that a seed means the same each time.
    let changed = Set(live.keys).union(durable.keys).filter { live[$0] != durable[$0] }.sorted()
    for entry in changed where mode.keepsEntry(&random) { durable[entry] = live[entry] }
    durable = durable.filter { DiskState.isReachable($0.key, durable) }
    live = durable
    var names: [Int: String] = [:]
    for (entry, node) in live {
      if case .file(let number) = node { names[number] = entry }
    }
    for number in files.keys.sorted() {
      guard let name = names[number] else {
        files[number] = nil
        continue
      }
      let folder = DiskState.parent(of: name).split(separator: "/").last.map(String.init)
      files[number]?.crash(
        unit: mode.unit(&random), isCoarse: folder.map(coarse.contains) ?? false, &random
      ) { mode.fate(&$0) }
    }
  }

  private static func isReachable(_ path: String, _ entries: [String: Node]) -> Bool {
    let parent = DiskState.parent(of: path)
    return parent == "" || parent == path
      || (entries[parent] == .directory && isReachable(parent, entries))
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[..<slash])
  }
}
