import DaybookFormat

/// The files of a log with their sizes, as maintenance sees them.
extension LogDirectory {
  /// The serving files of `stream` of which nothing is written to again, in order. The last one
  /// with a header is left out: its successor's header has to name it as it was written.
  ///
  /// With `number`, only those that hold nothing above it.
  package func closedFiles(
    of stream: String, through number: UInt64? = nil
  ) throws(LogError) -> [SizedFile] {
    guard let (closed, last) = try servingFiles(of: stream) else { return [] }
    var files = closed
    if let number {
      var following = last.firstNumber
      while let file = files.last, following - 1 > number {
        if let first = try header(of: file.file)?.firstNumber { following = first }
        files.removeLast()
      }
    }
    return try sized(files)
  }

  /// What the closed segments of the feed behind `number` hold: their bytes, and the number of the
  /// last entry in them.
  package func closedFeed(
    after number: UInt64
  ) throws(LogError) -> (byteCount: UInt64, lastNumber: UInt64) {
    guard let (files, last) = try servingFiles(of: SnapshotFile.stream) else { return (0, 0) }
    let lastNumber = last.firstNumber - 1
    guard lastNumber > number else { return (0, lastNumber) }
    var behind: [StreamFile] = []
    for file in files.reversed() {
      behind.append(file)
      if let first = try self.header(of: file.file)?.firstNumber, first <= number + 1 { break }
    }
    return (try sized(behind).reduce(0) { $0 + $1.byteCount }, lastNumber)
  }

  /// The files that serve before the last one with a header, and that header; `nil` without one.
  private func servingFiles(
    of stream: String
  ) throws(LogError) -> (closed: [StreamFile], last: SegmentHeader)? {
    var files = streams.first { $0.name == stream }?.serving ?? []
    while let file = files.popLast() {
      if let header = try header(of: file.file) { return (files, header) }
    }
    return nil
  }

  /// `files` with their sizes; one that is gone has none.
  package func sized(_ files: [StreamFile]) throws(LogError) -> [SizedFile] {
    var sized: [SizedFile] = []
    for file in files {
      sized.append(SizedFile(file: file, byteCount: try byteCount(of: file.file)))
    }
    return sized
  }

  /// The number of the first entry that a file stands for; `nil` if its header can't be read.
  package func firstNumber(of file: StreamFile) throws(LogError) -> UInt64? {
    try header(of: file.file)?.firstNumber
  }

  /// The size of a file; 0 if it is not there.
  package func byteCount(of file: String) throws(LogError) -> UInt64 {
    do throws(FileError) {
      return try fileSystem.attributes(of: "\(path)/\(file)")?.byteCount ?? 0
    } catch {
      throw LogError(error)
    }
  }
}

extension LogDirectory {
  /// Makes the entries of `folder` durable: a file that was published and then failed to be may be
  /// there for a while.
  package func syncFolder(_ folder: String) throws(LogError) {
    do throws(FileError) { try fileSystem.syncDirectory("\(path)/\(folder)") } catch {
      throw LogError(error)
    }
  }

  /// The highest number of each stream that anything says to be durable, while somebody may be
  /// writing to it: what stands behind it may still be taken back.
  package func durableNumbers() throws(LogError) -> [String: UInt64] {
    var durable = try witnesses()
    for stream in streams {
      durable[stream.name] = durable[stream.name] ?? 0
      for segment in stream.segments.reversed() {
        let scan = try self.scan(segment.file)
        guard let header = scan.header else { continue }
        let named = scan.frames.map(\.header.durableNumber).max() ?? 0
        durable[stream.name] = max(durable[stream.name] ?? 0, header.firstNumber - 1, named)
        break
      }
    }
    return durable
  }
}

extension Compactor {
  /// Removes superseded files of `stream`, the oldest first, until at most `limit` bytes of them
  /// are left, and returns those removed. A file goes only if a whole one covers it.
  ///
  /// Without a snapshot that is whole, the feed's segments as they were written are its base: then
  /// nothing of it goes.
  package func removeSuperseded(
    of stream: String, limit: UInt64
  ) throws(LogError) -> [StreamFile] {
    guard let files = directory.streams.first(where: { $0.name == stream }) else { return [] }
    let superseded = try directory.sized(files.superseded)
    var byteCount = superseded.reduce(0) { $0 + $1.byteCount }
    if byteCount <= limit { return [] }
    if stream == SnapshotFile.stream, !directory.snapshots.isEmpty {
      guard try directory.newestSnapshot() != nil else { return [] }
    }
    var whole: [StreamFile: Bool] = [:]
    var removed: [StreamFile] = []
    // What takes their place must not go without them.
    try syncFolder(stream)
    for old in superseded where byteCount > limit {
      guard let cover = files.serving.first(where: { $0.supersedes(old.file) }) else { continue }
      if whole[cover] == nil { whole[cover] = try directory.isProvenWhole(cover) }
      guard whole[cover] == true else { continue }
      try remove(old.file.file)
      byteCount -= old.byteCount
      removed.append(old.file)
    }
    if !removed.isEmpty { try syncFolder(stream) }
    return removed
  }

  /// Removes the snapshots that two newer ones stand behind, both whole; returns those removed.
  package func removeOldSnapshots() throws(LogError) -> [SnapshotFile] {
    if directory.snapshots.count <= 2 { return [] }
    var wholeCount = 0
    var removed: [SnapshotFile] = []
    try syncFolder(SnapshotFile.folder)
    for file in directory.snapshots.reversed() {
      if wholeCount >= 2 {
        try remove(file.file)
        removed.append(file)
      } else if try directory.readSnapshot(file) != nil {
        wholeCount += 1
      }
    }
    if !removed.isEmpty { try syncFolder(SnapshotFile.folder) }
    return removed
  }

  private func remove(_ file: String) throws(LogError) {
    do throws(FileError) {
      try directory.fileSystem.remove("\(directory.path)/\(file)")
    } catch {
      throw LogError(error)
    }
  }

  private func syncFolder(_ folder: String) throws(LogError) { try directory.syncFolder(folder) }
}
