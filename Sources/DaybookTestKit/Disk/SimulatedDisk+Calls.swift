package import DaybookLog

extension SimulatedDisk {
  /// Opens a file that is there.
  package func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    try call(.open, path) { state, _ throws(FileError) in
      switch state.live[path] {
      case .file(let number): SimulatedFile(self, number, path)
      case .directory: throw FileError(.isADirectory, .open, path)
      case nil: throw FileError(.notFound, .open, path)
      }
    }
  }

  /// Makes a new file.
  package func create(_ path: String) throws(FileError) -> any OpenFile {
    try call(.create, path) { state, _ throws(FileError) in
      guard state.live[path] == nil else { throw FileError(.exists, .create, path) }
      return SimulatedFile(self, try state.create(path, .create), path)
    }
  }

  /// The names in a directory.
  package func list(_ directory: String) throws(FileError) -> [String] {
    try call(.list, directory) { state, _ throws(FileError) in
      guard state.live[directory] == .directory else {
        throw FileError(.notADirectory, .list, directory)
      }
      // In one order each time, so that a run follows from its seed.
      return state.live.keys.filter { DiskState.parent(of: $0) == directory }
        .map { String($0.dropFirst(directory.count + 1)) }.sorted()
    }
  }

  /// Makes a directory.
  package func makeDirectory(_ path: String) throws(FileError) {
    try call(.makeDirectory, path) { state, _ throws(FileError) in
      guard state.live[path] == nil else { throw FileError(.exists, .makeDirectory, path) }
      guard state.live[DiskState.parent(of: path)] == .directory else {
        throw FileError(.notFound, .makeDirectory, path)
      }
      state.live[path] = .directory
    }
  }

  /// Makes the entries of a directory durable.
  package func syncDirectory(_ path: String) throws(FileError) {
    try call(.syncDirectory, path) { state, _ throws(FileError) in state.syncDirectory(path) }
  }

  /// Renames a file.
  package func rename(_ path: String, to newPath: String) throws(FileError) {
    try call(.rename, path) { state, _ throws(FileError) in
      guard let node = state.live[path] else { throw FileError(.notFound, .rename, path) }
      guard state.live[newPath] == nil else { throw FileError(.exists, .rename, newPath) }
      state.live[path] = nil
      state.live[newPath] = node
    }
  }

  /// Renames a file over another one.
  package func replace(_ path: String, over newPath: String) throws(FileError) {
    try call(.rename, path) { state, _ throws(FileError) in
      guard let node = state.live[path] else { throw FileError(.notFound, .rename, path) }
      state.live[path] = nil
      state.live[newPath] = node
    }
  }

  /// Removes a file.
  package func remove(_ path: String) throws(FileError) {
    try call(.remove, path) { state, _ throws(FileError) in
      guard case .file = state.live[path] else { throw FileError(.notFound, .remove, path) }
      state.live[path] = nil
    }
  }

  /// What is at `path`.
  package func attributes(of path: String) throws(FileError) -> FileAttributes? {
    try call(.stat, path) { state, _ throws(FileError) in
      switch state.live[path] {
      case .file(let number):
        FileAttributes(
          kind: .file, byteCount: UInt64(state.files[number]?.live.count ?? 0))
      case .directory: FileAttributes(kind: .directory, byteCount: 0)
      case nil: nil
      }
    }
  }

  /// Takes the lock of the file at `path`.
  package func lock(_ path: String) throws(FileError) -> any FileLock {
    try call(.lock, path) { state, _ throws(FileError) in
      if state.live[path] == nil { _ = try state.create(path, .lock) }
      guard state.locks.insert(path).inserted else {
        throw FileError(.locked(by: nil), .lock, path)
      }
      return SimulatedLock(self, path)
    }
  }

  /// Whether somebody holds the lock of the file at `path`.
  package func isLocked(_ path: String) -> Bool { withState { $0.locks.contains(path) } }
}

private final class SimulatedFile: OpenFile {
  private let disk: SimulatedDisk
  private let number: Int
  private let path: String

  init(_ disk: SimulatedDisk, _ number: Int, _ path: String) {
    self.disk = disk
    self.number = number
    self.path = path
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try disk.call(.read, path) { state, _ throws(FileError) in
      let content = state.files[number]?.live ?? []
      let last = min(Int(clamping: offset) + count, content.count) - 1
      for page in state.files[number]?.badPages ?? []
      where Int(clamping: offset) / 4_096 <= page && page <= last / 4_096 && last >= 0 {
        throw FileError(.other(5), .read, path)
      }
      if offset == 0, count >= content.count { return content }
      let start = min(Int(clamping: offset), content.count)
      return Array(content[start..<min(start + count, content.count)])
    }
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try disk.call(.write, path) { state, isHalf throws(FileError) in
      let quarters = isHalf ? Int(state.random.next() % 4) : 4
      let room = state.room(number, at: Int(clamping: offset), for: bytes.count)
      let count = min(room, bytes.count * quarters / 4)
      state.files[number]?.write(Array(bytes.prefix(count)), at: Int(clamping: offset))
      if isHalf || count < bytes.count { throw FileError(.diskFull, .write, path) }
    }
  }

  func truncate(to byteCount: UInt64) throws(FileError) {
    try disk.call(.truncate, path) { state, _ throws(FileError) in
      state.files[number]?.truncate(to: Int(clamping: byteCount))
    }
  }

  func sync() throws(FileError) {
    try disk.call(.sync, path) { state, isFailed throws(FileError) in
      guard isFailed else {
        state.files[number]?.sync()
        return
      }
      state.files[number]?.failSync(&state.random)
      throw FileError(.other(5), .sync, path)
    }
  }

  func reserve(_ byteCount: UInt64) throws(FileError) {
    try disk.call(.reserve, path) { _, _ throws(FileError) in }
  }

  func dropCache() { disk.withState { $0.files[number]?.dropCache() } }

  func byteCount() throws(FileError) -> UInt64 {
    try disk.call(.stat, path) { state, _ throws(FileError) in
      UInt64(state.files[number]?.live.count ?? 0)
    }
  }

  func close() {}
}

private final class SimulatedLock: FileLock {
  private let disk: SimulatedDisk
  private let path: String

  init(_ disk: SimulatedDisk, _ path: String) {
    self.disk = disk
    self.path = path
  }

  func release() { disk.withState { _ = $0.locks.remove(path) } }
}
