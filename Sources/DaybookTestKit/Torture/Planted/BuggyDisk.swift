import DaybookFormat
import DaybookLog
import Synchronization

/// A disk of which single calls do something else, as a ``PlantedBug`` says.
final class BuggyDisk: ForwardingDisk {
  private struct State {
    var writes = 0
    var reads = 0
    /// What was there before the last write to each file.
    var before: [String: (offset: Int, bytes: [UInt8])] = [:]
    var dueSyncs: [any OpenFile] = []
  }

  let base: any FileSystem
  let bug: PlantedBug
  private let state = Mutex(State())

  init(_ base: any FileSystem, _ bug: PlantedBug) {
    self.base = base
    self.bug = bug
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    BuggyFile(try base.open(path, writable: writable), path, self)
  }

  func create(_ path: String) throws(FileError) -> any OpenFile {
    BuggyFile(try base.create(path), path, self)
  }

  func syncDirectory(_ path: String) throws(FileError) {
    if bug != .forgottenEntries { try base.syncDirectory(path) }
  }

  func lock(_ path: String) throws(FileError) -> any FileLock {
    guard bug == .ignoredLock else { return try base.lock(path) }
    return (try? base.lock(path)) ?? NoLock()
  }

  // MARK: - The bugs

  func write(_ bytes: [UInt8], at offset: UInt64, to file: any OpenFile, _ path: String)
    throws(FileError)
  {
    try finishSyncs()
    let count = state.withLock { state in
      state.writes += 1
      return state.writes
    }
    switch bug {
    case .hiddenWriteFailure: try? file.write(bytes, at: offset)
    case .misplacedWrite where count % 40 == 0: try file.write(bytes, at: offset + 8)
    case .missingEcho: try file.write(withoutEcho(bytes, at: Int(offset), path), at: offset)
    case .missingHeaderCopy where offset == 0 && bytes.count >= LogLayout.segmentHeaderByteCount:
      var changed = bytes
      for place in LogLayout.pageByteCount..<LogLayout.segmentHeaderByteCount { changed[place] = 0 }
      try file.write(changed, at: offset)
    case .staleRead:
      let before = try file.read(at: offset, count: bytes.count)
      state.withLock { $0.before[path] = (Int(offset), before) }
      try file.write(bytes, at: offset)
    default: try file.write(bytes, at: offset)
    }
  }

  /// `bytes` with zeros where the second half of a group of the outbox stands.
  private func withoutEcho(_ bytes: [UInt8], at offset: Int, _ path: String) -> [UInt8] {
    let start = offset == 0 ? LogLayout.segmentHeaderByteCount : 0
    let count = bytes.count - start
    guard path.contains("/outbox/"), count >= 2 * LogLayout.pageByteCount,
      count % (2 * LogLayout.pageByteCount) == 0
    else { return bytes }
    var changed = bytes
    for place in (start + count / 2)..<bytes.count { changed[place] = 0 }
    return changed
  }

  func read(at offset: UInt64, count: Int, from file: any OpenFile, _ path: String)
    throws(FileError) -> [UInt8]
  {
    var bytes = try file.read(at: offset, count: count)
    guard bug == .staleRead else { return bytes }
    let old = state.withLock { state in
      state.reads += 1
      return state.reads % 60 == 0 ? state.before[path] : nil
    }
    guard let old else { return bytes }
    for (place, byte) in old.bytes.enumerated() {
      let index = old.offset + place - Int(offset)
      if bytes.indices.contains(index) { bytes[index] = byte }
    }
    return bytes
  }

  func sync(_ file: any OpenFile) throws(FileError) {
    switch bug {
    case .lyingSync: return
    case .hiddenSyncFailure: try? file.sync()
    case .earlyAcknowledgement:
      try finishSyncs()
      state.withLock { $0.dueSyncs.append(file) }
    default: try file.sync()
    }
  }

  /// What was said to be synced is synced now.
  private func finishSyncs() throws(FileError) {
    let due = state.withLock { state in
      defer { state.dueSyncs = [] }
      return state.dueSyncs
    }
    for file in due { try file.sync() }
  }
}

private final class NoLock: FileLock {
  func release() {}
}

private final class BuggyFile: ForwardingFile {
  let base: any OpenFile
  private let path: String
  private let disk: BuggyDisk

  init(_ base: any OpenFile, _ path: String, _ disk: BuggyDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    try disk.read(at: offset, count: count, from: base, path)
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(FileError) {
    try disk.write(bytes, at: offset, to: base, path)
  }

  func truncate(to byteCount: UInt64) throws(FileError) {
    if disk.bug != .lostTruncation { try base.truncate(to: byteCount) }
  }

  func sync() throws(FileError) { try disk.sync(base) }
}
