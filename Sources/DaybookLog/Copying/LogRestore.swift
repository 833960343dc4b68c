package import DaybookFormat

/// Makes a log that goes on from a copy of one, as a new life of it.
///
/// Whole files are copied, the last one of each stream up to the end of the prefix; the streams'
/// next segments settle where they end, name the new life, and say in the outbox that the log was
/// restored. `HEAD` is not looked at: it may be of another time than the segments.
package struct LogRestore {
  /// Where to end, and what becomes of the operations in the copy.
  package struct Request: Sendable {
    /// The place to end at; `nil` for all there is.
    package var until: LogPlace?
    /// What becomes of operations without a verdict.
    package var outbox: Restoration.Outbox

    /// A restore up to `until`.
    package init(until: LogPlace? = nil, outbox: Restoration.Outbox = .hold) {
      self.until = until
      self.outbox = outbox
    }
  }

  /// What was restored.
  package struct Outcome: Sendable {
    /// What of the copy is in the restored log.
    package let prefix: LogPrefix
    /// The life of the copy.
    package let from: Identifier
    /// The life of the restored log.
    package let incarnation: Identifier
    /// Bytes copied.
    package let copiedByteCount: UInt64
  }

  /// The folders beside the streams of which the restored log keeps everything.
  static let keptFolders = ["quarantine", "archive"]

  private let source: LogDirectory
  private let streams: [String]
  private let target: String
  private let fileSystem: any FileSystem
  private let random: @Sendable () -> UInt64
  private let clock: @Sendable () -> HybridTime

  /// A restore from the directory `source` into `target`, which must not be there: if anything
  /// fails, what is there is no log to use.
  package init(
    from source: String, into target: String, fileSystem: any FileSystem,
    random: @escaping @Sendable () -> UInt64, clock: @escaping @Sendable () -> HybridTime
  ) throws(CopyError) {
    do throws(LogError) {
      self.source = try LogDirectory(source, fileSystem: fileSystem)
    } catch {
      throw .log(error)
    }
    // Of two frames that may both come, the feed's was there first.
    let isServer = self.source.streams.contains { $0.name == "changes" && !$0.files.isEmpty }
    streams = isServer ? ["changes"] : ["feed", "outbox"]
    self.target = target
    self.fileSystem = fileSystem
    self.random = random
    self.clock = clock
  }

  /// Restores. On return the log is closed, durable, and has been read back. `step` is called
  /// before each file and may end the restore by throwing.
  package func run(
    _ request: Request,
    step: (_ file: String) throws(CopyError) -> Void = { _ throws(CopyError) in }
  ) throws(CopyError) -> Outcome {
    let header: SegmentHeader?
    let prefix: LogPrefix
    do throws(LogError) {
      header = try source.newestHeader()
      if case .position(let position) = request.until, !streams.contains(position.stream) {
        throw .noSuchStream(position.stream)
      }
      prefix = try LogPrefix.find(in: source, streams: streams, until: request.until)
    } catch {
      throw .log(error)
    }
    guard let header else { throw .nothingWhole(path: source.path) }
    let byteCount = try copy(prefix, step)
    let incarnation = Identifier(high: random(), low: random())
    try begin(incarnation, header, prefix, request)
    return Outcome(
      prefix: prefix, from: header.incarnation, incarnation: incarnation,
      copiedByteCount: byteCount)
  }

  // MARK: - Files

  private func copy(
    _ prefix: LogPrefix, _ step: (String) throws(CopyError) -> Void
  ) throws(CopyError) -> UInt64 {
    let copier = FileCopier(fileSystem: fileSystem)
    var byteCount: UInt64 = 0
    do throws(FileError) {
      guard try fileSystem.attributes(of: target) == nil else {
        throw FileError(.exists, .list, "")
      }
      try fileSystem.makeDirectory(target)
    } catch {
      throw error.path.isEmpty ? .notEmpty(path: target) : CopyError(error)
    }
    if let format = source.formatLogID {
      let text = "\(LogLayout.formatName) \(LogLayout.version)\n\(format)\n"
      byteCount += try copier.write(Array(text.utf8), to: "\(target)/\(LogDirectory.formatFile)")
    }
    guard let found = try kept(prefix) else { throw .compacted(path: source.path) }
    for stream in source.streams {
      guard let end = prefix.ends[stream.name] else { continue }
      let others = prefix.ends.filter { $0.key != stream.name }
      let otherNext = others.map(\.value.nextNumber).max() ?? 1
      try make(stream.name)
      for segment in stream.segments {
        try step(segment.file)
        byteCount += try copy(
          segment.file, isLast: segment.file == end.file, end, otherNext, copier)
        if segment.file == end.file { break }
      }
      try sync("\(target)/\(stream.name)")
    }
    if !found.snapshots.isEmpty { try make(SnapshotFile.folder) }
    for snapshot in found.snapshots {
      try step(snapshot.file)
      byteCount += try copier.copy(
        "\(source.path)/\(snapshot.file)", to: "\(target)/\(snapshot.file)")
    }
    if !found.snapshots.isEmpty { try sync("\(target)/\(SnapshotFile.folder)") }
    for folder in LogRestore.keptFolders { byteCount += try copy(folder: folder, copier) }
    try sync(target)
    return byteCount
  }

  /// The log as it is at the end of `prefix`; `nil` if that is not kept any more.
  private func kept(_ prefix: LogPrefix) throws(CopyError) -> LogDirectory? {
    do throws(LogError) { return try source.asOf(prefix.lastNumbers) } catch { throw .log(error) }
  }

  private func copy(
    _ file: String, isLast: Bool, _ end: LogPrefix.End, _ otherNext: UInt64,
    _ copier: FileCopier
  ) throws(CopyError) -> UInt64 {
    let place = "\(target)/\(file)"
    guard isLast else { return try copier.copy("\(source.path)/\(file)", to: place) }
    let bytes: [UInt8]
    do throws(LogError) { bytes = try source.bytes(of: file) } catch { throw .log(error) }
    let scan = SegmentScan(bytes)
    let frame = scan.frames.first { UInt64($0.offset) == end.frameOffset }
    let isWhole =
      scan.frames.contains { $0.header.kind == .closingMark }
      // A closing mark may know of more of the other stream than is kept.
      && scan.frames.allSatisfy {
        $0.nextNumber <= end.nextNumber && $0.header.otherNext <= otherNext
      }
    if isWhole { return try copier.write(bytes, to: place) }
    guard let frame, let cut = OpenTail.bytes(bytes, scan, through: frame.header.frameNumber) else {
      throw .compacted(path: source.path)
    }
    return try copier.write(cut, to: place)
  }

  private func copy(folder: String, _ copier: FileCopier) throws(CopyError) -> UInt64 {
    var byteCount: UInt64 = 0
    let path = "\(source.path)/\(folder)"
    do throws(FileError) {
      guard try fileSystem.attributes(of: path)?.kind == .directory else { return 0 }
    } catch {
      throw CopyError(error)
    }
    let names: [String]
    do throws(FileError) { names = try fileSystem.list(path) } catch { throw CopyError(error) }
    try make(folder)
    for name in names.sorted() where !name.hasSuffix(FileCopier.temporarySuffix) {
      byteCount += try copier.copy("\(path)/\(name)", to: "\(target)/\(folder)/\(name)")
    }
    try sync("\(target)/\(folder)")
    return byteCount
  }

  private func make(_ folder: String) throws(CopyError) {
    do throws(FileError) {
      try fileSystem.makeDirectory("\(target)/\(folder)")
    } catch {
      throw CopyError(error)
    }
  }

  private func sync(_ path: String) throws(CopyError) {
    do throws(FileError) { try fileSystem.syncDirectory(path) } catch { throw CopyError(error) }
  }

  // MARK: - The new life

  private func begin(
    _ incarnation: Identifier, _ header: SegmentHeader, _ prefix: LogPrefix, _ request: Request
  ) throws(CopyError) {
    let isServer = streams == ["changes"]
    var configuration = LogConfiguration(
      streams: isServer ? [.changes] : [.feed, .outbox], account: header.account,
      fileSystem: fileSystem, random: random, clock: clock, idleMarkDelay: nil)
    configuration.newIncarnation = incarnation
    do throws(LogError) {
      let log = try Log.open(target, configuration) { _, _ in }
      if !isServer {
        let restoration = Restoration(
          from: header.incarnation, time: clock().time, until: request.until?.position,
          outbox: request.outbox)
        _ = try log.appendAndWait(
          "outbox", [[NewEntry(kind: EntryKind.restored.rawValue, bytes: restoration.bytes)]])
      }
      try log.close()
      // What is read back must be what was to be copied, and what was added.
      var expected = prefix.lastNumbers
      if !isServer { expected["outbox", default: 0] += 1 }
      let found = try LogPrefix.find(
        in: LogDirectory(target, fileSystem: fileSystem), streams: streams)
      // Damage that a twin healed has been recorded by the opening, in entries of its own.
      let isThere = expected.allSatisfy { found.lastNumbers[$0.key] ?? 0 >= $0.value }
      guard isThere, !found.leavesOut, found.findings.isEmpty else {
        throw LogError.notFound(path: "")
      }
    } catch {
      if case .notFound("") = error { throw .notVerified(path: target) }
      throw .log(error)
    }
  }
}

extension LogPlace {
  /// The position, if it is one.
  var position: LogPosition? {
    if case .position(let position) = self { return position }
    return nil
  }
}
