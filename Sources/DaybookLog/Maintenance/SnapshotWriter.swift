package import DaybookFormat

/// Writes a snapshot of a log: entries that stand for the feed up to a number.
///
/// It takes what its caller gives and knows nothing of what the entries mean. The file is written
/// beside its name, sealed, synced, closed, opened again and verified; only then it gets its name.
package struct SnapshotWriter: ~Copyable {
  private var writer: SealedFileWriter
  private let directory: LogDirectory
  private let file: SnapshotFile
  private let extent: Seal.Extent
  private let clock: UInt64
  private var count: UInt64 = 0

  /// Begins the snapshot as of `extent` of the log in `directory`, whose lock the caller's process
  /// holds. Salts come from `random`.
  /// - Throws: ``LogError``: `diskFull`, `notPermitted`, `inputOutput`.
  package init(
    _ directory: LogDirectory, identity: LogIdentity, extent: Seal.Extent, clock: HybridTime,
    random: () -> UInt64
  ) throws(LogError) {
    self.directory = directory
    self.extent = extent
    self.clock = clock.rawValue
    file = SnapshotFile(feedNumber: extent.feedNumber, outboxNumber: extent.outboxNumber)
    var header = SegmentHeader(
      logID: identity.logID, incarnation: identity.incarnation,
      salt: Identifier(high: random(), low: random()), stream: SnapshotFile.stream, ordinal: 1,
      isEchoed: false, firstNumber: 1, clock: clock.rawValue, predecessor: nil,
      account: identity.account)
    header.kind = .snapshot
    do throws(FileError) {
      let fileSystem = directory.fileSystem
      let folder = "\(directory.path)/\(SnapshotFile.folder)"
      if try fileSystem.attributes(of: folder) == nil {
        try fileSystem.makeDirectory(folder)
        try fileSystem.syncDirectory(directory.path)
      }
      let path = "\(directory.path)/\(file.file)\(LogDirectory.temporarySuffix)"
      if try fileSystem.attributes(of: path) != nil { try fileSystem.remove(path) }
      let made = try SealedFileWriter(
        path, header: header, isCompressed: true, durableNumber: 0,
        otherNext: extent.outboxNumber + 1, fileSystem: fileSystem)
      writer = made
    } catch {
      throw LogError(error)
    }
  }

  /// Adds an entry. Nothing of it is durable before ``finish()``.
  package mutating func append(kind: UInt8, bytes: [UInt8]) throws(LogError) {
    do throws(FileError) {
      try writer.append(kind: kind, bytes: bytes, clock: clock)
      count += 1
    } catch {
      throw LogError(error)
    }
  }

  /// Lets go of a snapshot that is not finished, and removes it.
  package consuming func abandon() {
    writer.abandon()
    let path = "\(directory.path)/\(file.file)\(LogDirectory.temporarySuffix)"
    try? directory.fileSystem.remove(path)
  }

  /// Seals, verifies and publishes the snapshot: on return it survives a power cut, and replay
  /// begins with it.
  /// - Throws: ``LogError``: also `damaged` if what is read back is not what was written.
  package consuming func finish() throws(LogError) -> SnapshotFile {
    let temporary = file.file + LogDirectory.temporarySuffix
    var isMade = false
    // A full disk is to have its space back.
    defer { if !isMade { try? directory.fileSystem.remove("\(directory.path)/\(temporary)") } }
    do throws(FileError) {
      try writer.seal(numbers: (1, count), chain: .zero, extent: extent)
    } catch {
      throw LogError(error)
    }
    let bytes = try directory.bytesFromDevice(of: temporary)
    guard let content = SealedScan(SegmentScan(bytes), bytes: bytes), content.seal.count == count,
      content.seal.extent == extent
    else { throw .damaged(LogFinding(.frame, file: temporary, offset: 0)) }
    do throws(FileError) {
      if directory.snapshots.contains(file) {
        // One of that name which is not whole, or this would not have been made.
        try directory.fileSystem.remove("\(directory.path)/\(file.file)")
      }
      try SealedFileWriter.publish(
        file.file, in: directory.path, fileSystem: directory.fileSystem)
    } catch {
      throw LogError(error)
    }
    isMade = true
    return file
  }
}

extension LogDirectory {
  /// All bytes of a file, from the device as far as the system can.
  func bytesFromDevice(of file: String) throws(LogError) -> [UInt8] {
    do throws(FileError) {
      let open = try fileSystem.open("\(path)/\(file)", writable: false)
      open.dropCache()
      open.close()
    } catch {
      throw LogError(error)
    }
    return try bytes(of: file)
  }
}
