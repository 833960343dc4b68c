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

  private var source: LogDirectory
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
    streams = self.source.copiedStreams
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
    var prefix: LogPrefix
    var narrowed = self
    do throws(LogError) {
      header = try source.newestHeader()
      if case .position(let position) = request.until, !streams.contains(position.stream) {
        throw .noSuchStream(position.stream)
      }
      prefix = try LogPrefix.find(in: source, streams: streams, until: request.until)
      while let source = try narrowed.source.opened(where: prefix) {
        narrowed.source = source
        prefix = try LogPrefix.find(in: source, streams: streams, until: request.until)
      }
    } catch {
      throw .log(error)
    }
    guard let header else {
      throw source.hasNoSegment ? .noSegment(path: source.path) : .nothingWhole(path: source.path)
    }
    let byteCount = try narrowed.copy(prefix, request, step)
    let incarnation = Identifier(high: random(), low: random())
    try narrowed.begin(incarnation, header, prefix, request)
    return Outcome(
      prefix: prefix, from: header.incarnation, incarnation: incarnation,
      copiedByteCount: byteCount)
  }

  // MARK: - Files

  private func copy(
    _ prefix: LogPrefix, _ request: Request, _ step: (String) throws(CopyError) -> Void
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
    guard let found = try kept(prefix) else {
      // All there is was asked for: what stands in the way is no place, but damage.
      if request.until == nil, let hole = prefix.findings.first {
        throw .hole(hole, path: source.path)
      }
      throw .compacted(path: source.path)
    }
    for stream in source.streams {
      guard let end = prefix.ends[stream.name] else { continue }
      let others = prefix.ends.filter { $0.key != stream.name }
      let otherNext = others.map(\.value.nextNumber).max() ?? 1
      try make(stream.name)
      for file in try files(of: stream, through: end.file) {
        try step(file.file)
        byteCount += try copy(file.file, isLast: file.file == end.file, end, otherNext, copier)
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

  /// The files of `stream` up to the one that serves where `last` stands, with those that stand in
  /// for one of them.
  private func files(
    of stream: LogDirectory.Stream, through last: String
  ) throws(CopyError) -> [StreamFile] {
    let files: [StreamFile]
    do throws(LogError) { files = try source.neededFiles(of: stream) } catch { throw .log(error) }
    guard let file = files.first(where: { $0.file == last }) else { return files }
    let cover = stream.serving.first { $0.first <= file.first && file.last <= $0.last } ?? file
    return files.filter { $0.last <= cover.last }
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
    var damage = DamageReport()
    do throws(LogError) {
      let log = try Log.open(target, configuration) { _, _ in }
      if !isServer {
        let restoration = Restoration(
          from: header.incarnation, time: clock().time, until: request.until?.position,
          outbox: request.outbox)
        _ = try log.appendAndWait(
          "outbox", [[NewEntry(kind: EntryKind.restored.rawValue, bytes: restoration.bytes)]])
      }
      damage = log.damage
      try log.close()
    } catch {
      throw .log(error)
    }
    try check(damage, prefix)
    // What is read back must be what was to be copied, and what was added.
    let isWhole: Bool
    do throws(LogError) {
      var expected = prefix.lastNumbers
      if !isServer { expected["outbox", default: 0] += 1 }
      let found = try LogPrefix.find(
        in: LogDirectory(target, fileSystem: fileSystem), streams: streams)
      // What the opening recorded has entries of its own.
      let isThere = expected.allSatisfy { found.lastNumbers[$0.key] ?? 0 >= $0.value }
      isWhole = isThere && !found.leavesOut && found.findings.isEmpty
    } catch {
      throw .log(error)
    }
    if !isWhole { throw .notVerified(path: target) }
  }

  /// Refuses a log that lacks something of `prefix`: entries that the source gives, or what its
  /// opening met as lost, in `damage`, and the source did not.
  private func check(_ damage: DamageReport, _ prefix: LogPrefix) throws(CopyError) {
    let lack: (stream: String, count: Int)?
    do throws(LogError) {
      let restored = try LogDirectory(target, fileSystem: fileSystem)
      lack = try LogCensus(of: restored).lacks(
        of: LogCensus(of: source), through: prefix.lastNumbers)
    } catch {
      throw .log(error)
    }
    if let lack { throw .lacksEntries(path: target, stream: lack.stream, count: lack.count) }
    let lost = damage.found.first { loss in
      loss.isLoss && !prefix.recorded.contains { $0.file == loss.file && $0.kind == loss.kind }
    }
    guard let lost else { return }
    let count = lost.lost.map { Int(clamping: $0.upperBound - $0.lowerBound + 1) } ?? 0
    throw .lacksEntries(path: target, stream: lost.stream, count: count)
  }
}

extension LogPlace {
  /// The position, if it is one.
  var position: LogPosition? {
    if case .position(let position) = self { return position }
    return nil
  }
}
