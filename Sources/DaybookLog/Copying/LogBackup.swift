import DaybookFormat

/// Copies a log to another directory, where it is a log of its own to read: whole, verified and
/// durable, also while the log is written to and compacted.
///
/// The outbox is copied before the feed, and of the feed only what had not seen more of the outbox
/// than was copied, so the copy is a state that the log had. Files that are there with the same
/// bytes are not written again; a file in the copy that holds more than the log's own is kept.
package struct LogBackup {
  /// What was done.
  package struct Outcome: Sendable {
    /// Files that were written.
    package internal(set) var copiedFileCount = 0
    /// Their bytes.
    package internal(set) var copiedByteCount: UInt64 = 0
    /// Files that were there already.
    package internal(set) var unchangedFileCount = 0
    /// Files of the copy that were removed: the log has superseded and removed them, and a whole
    /// one covers them.
    package internal(set) var removedFileCount = 0
    /// Files in the copy that hold frames which the log's own have lost, from its directory on.
    package internal(set) var keptFiles: [String] = []
    /// The log was written to meanwhile.
    package internal(set) var wasInUse = false
  }

  /// How often files are listed again because one of them went away: compaction removes the oldest
  /// ones, a closing log its prepared one.
  static let roundLimit = 8
  /// How often a file that is being written is read, until no write is under way.
  static let readingLimit = 8

  let source: String
  let target: String
  let fileSystem: any FileSystem
  private let copier: FileCopier

  /// A backup of the log at `source` to `target`; both without a slash at the end, and links
  /// resolved.
  package init(from source: String, to target: String, fileSystem: any FileSystem) {
    self.source = source
    self.target = target
    self.fileSystem = fileSystem
    copier = FileCopier(fileSystem: fileSystem)
  }

  /// Copies. `step` is called before each file and may end the backup by throwing; what was copied
  /// stays and need not be copied again.
  package func run(
    step: (_ file: String) throws(CopyError) -> Void = { _ throws(CopyError) in }
  ) throws(CopyError) -> Outcome {
    if source == target { throw .sameDirectory(path: target) }
    if target.hasPrefix("\(source)/") { throw .inside(path: target, of: source) }
    let log = try directory(source)
    if log.isNew { throw .noSegment(path: source) }
    try checkTarget(log)
    let lock: any FileLock
    do throws(FileError) {
      if try fileSystem.attributes(of: target) == nil { try fileSystem.makeDirectory(target) }
      lock = try fileSystem.lock("\(target)/\(LogDirectory.lockFile)")
    } catch {
      throw CopyError(error)
    }
    defer { lock.release() }
    var outcome = Outcome()
    var problem = CopyError.unsteady(path: source)
    for place in 0..<LogBackup.roundLimit {
      do throws(CopyError) {
        try compare(through: try round(&outcome, step))
        try removeSuperseded(&outcome)
        return outcome
      } catch {
        switch error {
        // Somebody may have begun to write meanwhile.
        case .lacksEntries where place == 0 || isInUse: problem = error
        case _ where error.isVanishedFile: problem = .unsteady(path: source)
        default: throw error
        }
      }
    }
    throw problem
  }

  private var isInUse: Bool { fileSystem.isLocked("\(source)/\(LogDirectory.lockFile)") }

  /// Compares what the copy gives with what the log gives, up to `ends` if it is in use.
  private func compare(through ends: [String: UInt64]?) throws(CopyError) {
    let copy = try directory(target)
    let log = try directory(source)
    let lack: (stream: String, count: Int)?
    do throws(LogError) {
      lack = try LogCensus(of: copy, isWriter: true).lacks(of: LogCensus(of: log), through: ends)
    } catch {
      // What a newer version wrote is compared byte by byte alone.
      if case .newerFormat = error { return }
      throw .log(error)
    }
    if let lack { throw .lacksEntries(path: target, stream: lack.stream, count: lack.count) }
  }

  func directory(_ path: String) throws(CopyError) -> LogDirectory {
    do throws(LogError) {
      let found = try LogDirectory(path, fileSystem: fileSystem)
      if found.isNew, found.formatLogID == nil { throw .notALog(path: path) }
      return found
    } catch {
      throw .log(error)
    }
  }

  // MARK: - Copying

  /// Copies all. Returns the number of the last entry copied of each stream, if the log is in use.
  private func round(
    _ outcome: inout Outcome, _ step: (String) throws(CopyError) -> Void
  ) throws(CopyError) -> [String: UInt64]? {
    let log = try directory(source)
    let isInUse = log.isInUse
    if isInUse { outcome.wasInUse = true }
    // What is listed before the streams are copied relies on nothing that they will lack.
    try copyWhole(LogDirectory.formatFile, &outcome, step, isOptional: true)
    try sync(target)
    let folders = try listFolders(besides: log.streams.map(\.name))
    var ends: [String: UInt64] = [:]
    for name in ["outbox", "feed", "changes"] {
      let limit = name == "feed" && isInUse ? ends["outbox"].map { $0 + 1 } : nil
      ends[name] = try copyStream(name, isInUse: isInUse, limit: limit, &outcome, step) - 1
    }
    for (folder, files) in folders {
      try make(folder)
      for name in files { try copyWhole("\(folder)/\(name)", &outcome, step) }
      try sync("\(target)/\(folder)")
    }
    // While the log is in use, HEAD may know of more than the segments copied.
    if !isInUse { try copyWhole(LogDirectory.headFile, &outcome, step, isOptional: true) }
    try sync(target)
    try sync(FilePath.parent(of: target))
    return isInUse ? ends : nil
  }

  /// Copies one stream. Returns the number behind its last entry copied. A frame that had seen the
  /// other stream beyond `limit` ends it.
  private func copyStream(
    _ name: String, isInUse: Bool, limit: UInt64?, _ outcome: inout Outcome,
    _ step: (String) throws(CopyError) -> Void
  ) throws(CopyError) -> UInt64 {
    // Listed now, not with the other stream: a segment may have begun since.
    let log = try directory(source)
    guard let stream = log.streams.first(where: { $0.name == name }) else { return 1 }
    try make(name)
    var next: UInt64 = 1
    let files: [StreamFile]
    do throws(LogError) { files = try log.neededFiles(of: stream) } catch { throw .log(error) }
    for segment in files {
      let isLast = segment == stream.serving.last
      if !isInUse || (limit == nil && !isLast) {
        try copyWhole(segment.file, &outcome, step)
        continue
      }
      try step(segment.file)
      let bytes = try settledBytes(of: segment.file, log)
      let scan = SegmentScan(bytes)
      // The last file may be made ahead. An earlier one has been settled as empty, or is damaged.
      guard scan.header != nil || !isLast else { continue }
      if limit == nil, let header = scan.header { next = max(next, header.firstNumber) }
      let beyond = scan.frames.first { $0.header.otherNext > limit ?? .max }
      guard let beyond else {
        next = max(next, scan.frames.map(\.nextNumber).max() ?? 1)
        try put(bytes, segment.file, &outcome)
        continue
      }
      // What a compaction made, or stands in for that, is whole or nothing; the outbox has grown
      // since it was copied.
      if segment.isCompacted || !stream.serving.contains(segment) {
        throw .log(.notFound(path: segment.file))
      }
      let before = scan.frames.last { $0.offset < beyond.offset && $0.isBatch }
      if let before,
        let cut = OpenTail.bytes(bytes, scan, through: before.header.frameNumber)
      {
        try put(cut, segment.file, &outcome)
      }
      break
    }
    try sync("\(target)/\(name)")
    if isInUse, limit == nil { next = try self.next(of: stream, log, atLeast: next) }
    return next
  }

  /// The number behind the stream's last entry, where its last file holds none: whatever that one
  /// has got since was not copied.
  private func next(
    of stream: LogDirectory.Stream, _ log: LogDirectory, atLeast known: UInt64
  ) throws(CopyError) -> UInt64 {
    if known > 1 { return known }
    for segment in stream.segments.dropLast().reversed() {
      do throws(LogError) {
        let scan = SegmentScan(try log.bytes(of: segment.file))
        if let next = scan.frames.map(\.nextNumber).max() { return next }
        if let header = scan.header { return header.firstNumber }
      } catch {
        throw .log(error)
      }
    }
    return 1
  }

  /// The bytes of a file that may be written to meanwhile: read until no write was under way, or
  /// until two readings agree, which is damage then.
  private func settledBytes(of file: String, _ log: LogDirectory) throws(CopyError) -> [UInt8] {
    do throws(LogError) {
      var bytes = try log.bytes(of: file)
      for _ in 1..<LogBackup.readingLimit {
        if OpenTail.isOrderly(SegmentScan(bytes)) { return bytes }
        let again = try log.bytes(of: file)
        if again == bytes { return bytes }
        bytes = again
      }
      if OpenTail.isOrderly(SegmentScan(bytes)) { return bytes }
    } catch {
      throw .log(error)
    }
    throw .unsteady(path: source)
  }

  private func copyWhole(
    _ file: String, _ outcome: inout Outcome, _ step: (String) throws(CopyError) -> Void,
    isOptional: Bool = false
  ) throws(CopyError) {
    try step(file)
    let from = "\(source)/\(file)"
    do throws(FileError) {
      if isOptional, try fileSystem.attributes(of: from) == nil { return }
      if try copier.isSame(from, "\(target)/\(file)") {
        outcome.unchangedFileCount += 1
        return
      }
    } catch {
      throw CopyError(error)
    }
    if try holdsMore(file, than: nil) {
      outcome.keptFiles.append(file)
      return
    }
    outcome.copiedByteCount += try copier.copy(from, to: "\(target)/\(file)")
    outcome.copiedFileCount += 1
  }

  private func put(
    _ bytes: [UInt8], _ file: String, _ outcome: inout Outcome
  ) throws(CopyError) {
    if try existing(file) == bytes {
      outcome.unchangedFileCount += 1
    } else if try holdsMore(file, than: bytes) {
      outcome.keptFiles.append(file)
    } else {
      outcome.copiedByteCount += try copier.write(bytes, to: "\(target)/\(file)")
      outcome.copiedFileCount += 1
    }
  }

  // MARK: - Folders

  /// The files in the log's other folders, by folder, the older ones first.
  private func listFolders(
    besides streams: [String]
  ) throws(CopyError) -> [(folder: String, files: [String])] {
    do throws(FileError) {
      var found: [(folder: String, files: [String])] = []
      for folder in try fileSystem.list(source).sorted() where !streams.contains(folder) {
        let path = "\(source)/\(folder)"
        guard try fileSystem.attributes(of: path)?.kind == .directory else { continue }
        var files: [String] = []
        for name in try fileSystem.list(path).sorted() where !isTemporary(name) {
          if try fileSystem.attributes(of: "\(path)/\(name)")?.kind == .file { files.append(name) }
        }
        found.append((folder, files))
      }
      return found
    } catch {
      throw CopyError(error)
    }
  }

  private func make(_ folder: String) throws(CopyError) {
    let path = "\(target)/\(folder)"
    do throws(FileError) {
      if try fileSystem.attributes(of: path) == nil { try fileSystem.makeDirectory(path) }
    } catch {
      throw CopyError(error)
    }
  }

  private func sync(_ path: String) throws(CopyError) {
    do throws(FileError) { try fileSystem.syncDirectory(path) } catch { throw CopyError(error) }
  }
}
