import DaybookFormat

/// What is in the directory of the copy already, and what may take its place.
extension LogBackup {
  /// Refuses a directory that holds something else than an earlier state of this log.
  func checkTarget(_ log: LogDirectory) throws(CopyError) {
    do throws(FileError) {
      guard let found = try fileSystem.attributes(of: target) else { return }
      guard found.kind == .directory else { throw FileError(.notADirectory, .stat, target) }
      let names = try fileSystem.list(target)
      // A backup that ended at once.
      if names.allSatisfy({ LogBackup.firstNames.contains($0) || isTemporary($0) }),
        try !holdsSegments()
      {
        return
      }
    } catch {
      throw CopyError(error)
    }
    let copy: LogDirectory
    do throws(CopyError) {
      copy = try directory(target)
    } catch {
      if case .log(.notALog) = error { throw .notEmpty(path: target) }
      throw error
    }
    do throws(LogError) {
      let ids = [log, copy].map { directory in
        (try? directory.newestHeader())??.logID ?? directory.formatLogID
      }
      if let own = ids[0], let other = ids[1], own != other { throw .notALog(path: target) }
      if let file = try otherLife(log, copy) { throw .notFound(path: file) }
    } catch {
      switch error {
      case .notALog: throw .otherLog(path: target)
      case .notFound(let file): throw .otherLife(path: target, file: file)
      default: throw .log(error)
      }
    }
  }

  /// What a backup makes before it copies the first segment.
  private static let firstNames: Set = [
    LogDirectory.lockFile, LogDirectory.formatFile, "outbox", "feed", "changes",
  ]

  private func holdsSegments() throws(FileError) -> Bool {
    for name in ["outbox", "feed", "changes"] {
      let folder = "\(target)/\(name)"
      guard try fileSystem.attributes(of: folder) != nil else { continue }
      if try fileSystem.list(folder).contains(where: { !isTemporary($0) }) { return true }
    }
    return false
  }

  /// A file of `copy` that this log never had: another one by its name is here, or none as new.
  private func otherLife(
    _ log: LogDirectory, _ copy: LogDirectory
  ) throws(LogError) -> String? {
    for stream in copy.streams {
      let own = log.streams.first { $0.name == stream.name }?.files ?? []
      let newest = own.map(\.last).max() ?? 0
      for file in stream.files where file.last > newest {
        // One that was made ahead may have gone since.
        if try copy.header(of: file.file) != nil { return file.file }
      }
      let names = Set(own.map(\.file))
      for segment in stream.files where names.contains(segment.file) {
        guard let there = try copy.header(of: segment.file),
          let here = try log.header(of: segment.file)
        else { continue }
        if there.salt != here.salt { return segment.file }
      }
    }
    return nil
  }

  func isTemporary(_ name: String) -> Bool {
    name.hasSuffix(FileCopier.temporarySuffix)
  }

  func existing(_ file: String) throws(CopyError) -> [UInt8]? {
    let path = "\(target)/\(file)"
    do throws(FileError) {
      guard try fileSystem.attributes(of: path) != nil else { return nil }
      let open = try fileSystem.open(path, writable: false)
      defer { open.close() }
      open.dropCache()
      return try open.read(at: 0, count: Int(clamping: try open.byteCount()))
    } catch {
      throw CopyError(error)
    }
  }

  /// Whether the file in the copy holds a durable frame that is not in `bytes`, or in the log's own
  /// file: then that one has been damaged since, and must not take its place. What nobody knows as
  /// durable may have gone in a crash, and others may have its number.
  func holdsMore(_ file: String, than bytes: [UInt8]?) throws(CopyError) -> Bool {
    guard file.hasSuffix(LogLayout.segmentSuffix), let there = try existing(file) else {
      return false
    }
    do throws(LogError) {
      let log = try LogDirectory(source, fileSystem: fileSystem)
      let own = SegmentScan(try content(of: file, as: bytes, in: log)).frames
      let frames = Set(own.map(\.header))
      let copied = SegmentScan(there).frames
      let more = copied.filter { $0.isBatch && !frames.contains($0.header) }
      if more.isEmpty { return false }
      let known = (own + copied).map(\.header.durableNumber).max() ?? 0
      let end = try durableEnd(of: file, in: log, known: known)
      return more.contains { $0.nextNumber - 1 <= end.number && $0.offset < end.offset }
    } catch {
      throw .log(error)
    }
  }

  private func content(
    of file: String, as bytes: [UInt8]?, in log: LogDirectory
  ) throws(LogError) -> [UInt8] {
    if let bytes { return bytes }
    return try log.bytes(of: file)
  }

  /// The last number that is durable in `file`, of which the file itself says `known`, and the
  /// offset at which it ends, where the next header says so.
  private func durableEnd(
    of file: String, in log: LogDirectory, known: UInt64
  ) throws(LogError) -> (number: UInt64, offset: Int) {
    guard let stream = log.streams.first(where: { file.hasPrefix("\($0.name)/") }),
      let place = stream.serving.firstIndex(where: { $0.file == file })
    else { return (.max, .max) }
    for later in stream.serving[(place + 1)...] {
      guard let header = try log.header(of: later.file), let named = header.predecessor else {
        continue
      }
      let isNext = named.ordinal == stream.serving[place].last
      return (
        min(named.lastNumber, header.firstNumber - 1),
        isNext ? Int(clamping: named.validEnd) : .max
      )
    }
    return (max(known, try log.witnesses()[stream.name] ?? 0), .max)
  }
}
