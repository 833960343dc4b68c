package import DaybookFormat

/// The files of a log directory, as found: the start of opening, verifying and dumping.
package struct LogDirectory: Sendable {
  /// One stream's segment files.
  package struct Stream: Sendable {
    /// The stream's name, which is its folder's.
    package let name: String
    /// All files, in no order.
    package let files: [StreamFile]
    /// The files that serve the stream's ordinals, in order, by what their names say.
    package let serving: [StreamFile]
    /// Files that a compaction seems to have made, without a header that says so.
    let void: Set<StreamFile>

    init(name: String, files: [StreamFile], void: Set<StreamFile> = []) {
      self.name = name
      self.files = files
      self.void = void
      serving = StreamFile.cover(files, void: void)
    }

    /// Whether a file has a header that this version reads.
    func isReadable(in path: String, _ fileSystem: any FileSystem) throws(FileError) -> Bool {
      for file in files {
        if try LogDirectory.header(of: file.file, in: path, fileSystem) != nil { return true }
      }
      return false
    }

    /// The serving files by the first ordinal that each covers.
    package var segments: [(ordinal: UInt64, file: String)] {
      serving.map { ($0.first, $0.file) }
    }

    /// The files that a newer generation covers, and those without a header that cover nothing, by
    /// their first ordinals. They are never replayed while what serves is whole.
    package var superseded: [StreamFile] {
      let serving = Set(serving)
      return files.filter { !serving.contains($0) }.sorted {
        ($0.first, $0.generation) < ($1.first, $1.generation)
      }
    }
  }

  /// The most bytes of a segment that are read at once: 1 GiB; the writer stays far below.
  static let segmentByteLimit: UInt64 = 1 << 30
  /// The file that says what the directory is.
  package static let formatFile = "FORMAT"
  static let headFile = "HEAD"
  static let lockFile = "LOCK"

  /// The directory.
  package let path: String
  /// The log id that `FORMAT` names, if it is there and readable.
  package let formatLogID: Identifier?
  /// The newest slot of `HEAD` that holds, if any.
  package let head: HeadSlot?
  /// The streams, by name.
  package internal(set) var streams: [Stream]
  /// The snapshots, the oldest first, by what their names say.
  package internal(set) var snapshots: [SnapshotFile]
  /// What is missing but not needed, in words.
  package let notes: [String]
  /// There is nothing in the directory, or nothing but what opening an empty log leaves.
  package let isNew: Bool
  let fileSystem: any FileSystem

  /// Looks at what `path` holds.
  ///
  /// - Throws: `notFound`, `notADirectory`, `notALog`, `newerFormat`, `notPermitted`,
  ///   `inputOutput`.
  package init(_ path: String, fileSystem: any FileSystem) throws(LogError) {
    self.path = path
    self.fileSystem = fileSystem
    do throws(FileError) {
      guard let found = try fileSystem.attributes(of: path) else {
        throw FileError(.notFound, .stat, path)
      }
      guard found.kind == .directory else { throw FileError(.notADirectory, .stat, path) }
      let names = Set(try fileSystem.list(path))
      head = names.contains(LogDirectory.headFile) ? LogDirectory.head(path, fileSystem) : nil
      var streams: [Stream] = []
      for name in names.sorted() {
        guard let stream = try LogDirectory.stream(name, in: path, fileSystem) else { continue }
        streams.append(stream)
      }
      self.streams = streams
      snapshots = try LogDirectory.listSnapshots(in: path, fileSystem)
      var format =
        names.contains(LogDirectory.formatFile) ? LogDirectory.format(path, fileSystem) : nil
      // It has no checksum, so a segment whose header is whole knows better.
      if let version = format?.version, version > Int(LogLayout.version) {
        for stream in streams {
          if try stream.isReadable(in: path, fileSystem) { format = nil }
        }
      }
      formatLogID = format?.logID
      isNew = streams.allSatisfy(\.files.isEmpty) && snapshots.isEmpty
      notes = LogDirectory.notes(names, hasFormat: format != nil, isNew: isNew, head: head)
      if let version = format?.version, version > Int(LogLayout.version) {
        throw FileError(.other(Int32(clamping: version)), .read, "FORMAT")
      }
      let known: Set = [
        LogDirectory.formatFile, LogDirectory.headFile, LogDirectory.lockFile, "outbox", "feed",
        "changes", Quarantine.folder,
      ]
      if isNew, format == nil, !names.subtracting(known).isEmpty {
        throw FileError(.exists, .list, path)
      }
    } catch {
      switch (error.reason, error.call, error.path) {
      case (.other(let version), .read, "FORMAT"):
        throw .newerFormat(
          file: "FORMAT", found: Int(version), supported: Int(LogLayout.version))
      case (.exists, .list, _): throw .notALog(path: path)
      default: throw LogError(error)
      }
    }
  }

  /// The header of `file` in the log at `path`, if a copy of it is whole.
  static func header(
    of file: String, in path: String, _ fileSystem: any FileSystem
  ) throws(FileError) -> SegmentHeader? {
    try headerScan(of: file, in: path, fileSystem).header
  }

  static func headerScan(
    of file: String, in path: String, _ fileSystem: any FileSystem
  ) throws(FileError) -> SegmentScan {
    do throws(FileError) {
      let limit = UInt64(LogLayout.segmentHeaderByteCount)
      return SegmentScan(try FileContent(of: "\(path)/\(file)", limit: limit, fileSystem).bytes)
    } catch {
      // What can't be read is no header.
      guard error.isUnreadable else { throw error }
      return SegmentScan([])
    }
  }

  private static func notes(
    _ names: Set<String>, hasFormat: Bool, isNew: Bool, head: HeadSlot?
  ) -> [String] {
    if isNew { return [] }
    var notes: [String] = []
    if !hasFormat { notes.append("FORMAT is missing or unreadable; the segments name the log.") }
    if !names.contains(lockFile) { notes.append("LOCK is missing; it is made when needed.") }
    if head == nil { notes.append("HEAD is missing or unreadable; it is made when needed.") }
    return notes
  }

  private static func format(
    _ path: String, _ fileSystem: any FileSystem
  ) -> (version: Int, logID: Identifier?)? {
    guard let file = try? fileSystem.open("\(path)/\(formatFile)", writable: false),
      let bytes = try? file.read(at: 0, count: 256)
    else { return nil }
    file.close()
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard let first = lines.first, first.hasPrefix("\(LogLayout.formatName) "),
      let version = Int(first.dropFirst(LogLayout.formatName.count + 1))
    else { return nil }
    return (version, lines.count > 1 ? Identifier(String(lines[1])) : nil)
  }

  private static func head(_ path: String, _ fileSystem: any FileSystem) -> HeadSlot? {
    guard let file = try? fileSystem.open("\(path)/\(headFile)", writable: false),
      let bytes = try? file.read(at: 0, count: 2 * HeadSlot.byteCount)
    else { return nil }
    file.close()
    let slots = [0, HeadSlot.byteCount].compactMap {
      HeadSlot(bytes: bytes.dropFirst($0).prefix(HeadSlot.byteCount))
    }
    return slots.max { $0.sequence < $1.sequence }
  }

  private static func stream(
    _ name: String, in path: String, _ fileSystem: any FileSystem
  ) throws(FileError) -> Stream? {
    let folder = "\(path)/\(name)"
    guard name.utf8.count <= LogLayout.streamNameByteLimit,
      try fileSystem.attributes(of: folder)?.kind == .directory
    else { return nil }
    let files = try fileSystem.list(folder).compactMap { StreamFile(name: $0, stream: name) }
    guard !files.isEmpty || ["outbox", "feed", "changes"].contains(name) else { return nil }
    var void: Set<StreamFile> = []
    for file in files where file.isCompacted {
      if try isVoid(file, stream: name, in: path, fileSystem) { void.insert(file) }
    }
    return Stream(name: name, files: files, void: void)
  }

  /// Whether nothing but its name says of `file` that a compaction made it.
  private static func isVoid(
    _ file: StreamFile, stream: String, in path: String, _ fileSystem: any FileSystem
  ) throws(FileError) -> Bool {
    do throws(FileError) {
      let scan = try headerScan(of: file.file, in: path, fileSystem)
      guard let header = scan.header else { return scan.newer == nil }
      return !header.isOf(file, stream: stream)
    } catch {
      // Superseded files go while a directory is listed.
      if error.reason == .notFound { return false }
      throw error
    }
  }

  /// The file name of a segment, from the log's directory on.
  static func segmentFile(stream: String, ordinal: UInt64) -> String {
    StreamFile(stream: stream, first: ordinal, last: ordinal, generation: 0).file
  }

  /// The header of a segment, if a copy of it is whole.
  func header(of file: String) throws(LogError) -> SegmentHeader? {
    do throws(FileError) {
      return try LogDirectory.header(of: file, in: path, fileSystem)
    } catch {
      throw LogError(error)
    }
  }

  /// Whether a writer has the log open now.
  package var isInUse: Bool { fileSystem.isLocked("\(path)/\(LogDirectory.lockFile)") }
}
