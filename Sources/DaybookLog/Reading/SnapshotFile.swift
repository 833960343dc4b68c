import DaybookFormat

/// A snapshot, by what its name says: `snapshots/0000004711-0000000123.dbs` stands for the feed up
/// to 4711, made when the outbox had come to 123.
package struct SnapshotFile: Sendable, Hashable {
  /// The folder of snapshots.
  package static let folder = "snapshots"
  /// The stream of which a snapshot stands for the front, and the one that it never stands for.
  package static let stream = "feed"

  /// The number of the last entry of the feed that went into it.
  package let feedNumber: UInt64
  /// The number of the last entry of the outbox that went into it.
  package let outboxNumber: UInt64

  /// The snapshot as of these numbers.
  package init(feedNumber: UInt64, outboxNumber: UInt64) {
    self.feedNumber = feedNumber
    self.outboxNumber = outboxNumber
  }

  /// The snapshot of this file name; `nil` if it is none's.
  init?(name: String) {
    guard name.hasSuffix(LogLayout.segmentSuffix) else { return nil }
    let numbers = name.dropLast(LogLayout.segmentSuffix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard numbers.count == 2, let feed = UInt64(numbers[0]), let outbox = UInt64(numbers[1]),
      feed <= LogLayout.numberLimit, outbox <= LogLayout.numberLimit
    else { return nil }
    self.init(feedNumber: feed, outboxNumber: outbox)
    guard file == "\(SnapshotFile.folder)/\(name)" else { return nil }
  }

  /// The file, from the log's directory on.
  package var file: String {
    "\(SnapshotFile.folder)/\(SnapshotFile.digits(feedNumber))-"
      + "\(SnapshotFile.digits(outboxNumber))\(LogLayout.segmentSuffix)"
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  /// Whether this one stands for less than `other`.
  func precedes(_ other: SnapshotFile) -> Bool {
    (feedNumber, outboxNumber) < (other.feedNumber, other.outboxNumber)
  }
}

extension LogDirectory {
  /// The suffix of files that are being written: they become what they are by a rename.
  static let temporarySuffix = ".tmp"

  /// The newest snapshot that is whole, with its scan; `nil` without one. What is not whole is told
  /// to `skipped`: an older one stands in for it, or the streams do.
  package func newestSnapshot(
    skipped: (SnapshotFile) -> Void = { _ in }
  ) throws(LogError) -> (file: SnapshotFile, content: SealedScan)? {
    for file in snapshots.sorted(by: { $1.precedes($0) }) {
      if let content = try readSnapshot(file) { return (file, content) }
      skipped(file)
    }
    return nil
  }

  /// What is to be said of a snapshot that is not whole; `nil` if it can't be read any more.
  package func damage(of file: SnapshotFile) -> LogFinding? {
    do throws(LogError) {
      let scan = try scan(file.file)
      return LogFinding(.standIn, file: file.file, offset: UInt64(scan.firstBad))
    } catch {
      return error.isUnreadable ? LogFinding(.standIn, file: file.file, offset: 0) : nil
    }
  }

  /// The scan of a snapshot; `nil` if it is not whole or another log's.
  package func readSnapshot(_ file: SnapshotFile) throws(LogError) -> SealedScan? {
    let bytes: [UInt8]
    do throws(LogError) {
      let content = try content(of: file.file)
      if content.isCut { return nil }
      bytes = content.bytes
    } catch {
      if error.isUnreadable { return nil }
      // Somebody may have removed an old one meanwhile.
      if case .notFound = error { return nil }
      throw error
    }
    guard let content = SealedScan(SegmentScan(bytes), bytes: bytes),
      content.header.kind == .snapshot, let extent = content.seal.extent,
      extent.feedNumber == file.feedNumber, extent.outboxNumber == file.outboxNumber
    else { return nil }
    if let logID = try logID(), logID != content.header.logID {
      return nil
    }
    return content
  }

  /// The files that somebody began to write and never finished, from the directory on.
  func temporaries() throws(LogError) -> [String] {
    var files: [String] = []
    do throws(FileError) {
      for folder in streams.map(\.name) + [SnapshotFile.folder] {
        guard try fileSystem.attributes(of: "\(path)/\(folder)")?.kind == .directory else {
          continue
        }
        for name in try fileSystem.list("\(path)/\(folder)")
        where name.hasSuffix(LogDirectory.temporarySuffix) {
          files.append("\(folder)/\(name)")
        }
      }
    } catch {
      throw LogError(error)
    }
    return files.sorted()
  }

  /// Removes the files that somebody began to write and never finished. For the lock's holder
  /// alone; one that can't be removed does no harm.
  func removeTemporaries() {
    for file in (try? temporaries()) ?? [] { try? fileSystem.remove("\(path)/\(file)") }
  }

  static func listSnapshots(
    in path: String, _ fileSystem: any FileSystem
  ) throws(FileError) -> [SnapshotFile] {
    let folder = "\(path)/\(SnapshotFile.folder)"
    guard try fileSystem.attributes(of: folder)?.kind == .directory else { return [] }
    return try fileSystem.list(folder).compactMap { SnapshotFile(name: $0) }.sorted {
      $0.precedes($1)
    }
  }
}
