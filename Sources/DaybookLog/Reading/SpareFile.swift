import DaybookFormat

/// A file that no replay reads as long as all is well: a snapshot, or a superseded file.
package struct SpareFile: Sendable {
  /// The file, from the log's directory on.
  package let file: String
  /// The size of the file.
  package let byteCount: Int
  /// Its closing marks are there.
  package let isClosed: Bool
  /// The entries in it.
  package let entryCount: Int
  /// What is wrong with it, if anything is.
  package let finding: LogFinding?
}

extension LogDirectory {
  /// Looks at every snapshot and every superseded file, but for those in `known`. Reads all of
  /// them; one that is removed meanwhile is left out.
  ///
  /// Nothing is lost by one that is not whole: it is healed by what serves. Only a snapshot is
  /// missed if there is no other, and a compaction dropped the entries that it stands for.
  package func spareFiles(
    besides known: Set<String>, visit: () -> Void
  ) throws(LogError) -> [SpareFile] {
    var spares: [SpareFile] = []
    for stream in streams {
      let raw = try rawReports(of: stream, besides: known)
      for file in stream.superseded where !known.contains(file.file) {
        visit()
        if let report = raw[file.file] {
          spares.append(SpareFile(report))
        } else if file.isCompacted {
          let found = try spare(file.file) { scan, bytes in
            let sealed = SealedScan(scan, bytes: bytes)
            return sealed?.header.isOf(file, stream: stream.name) == true
              && sealed?.isProven() == true
          }
          if let found { spares.append(found) }
        }
      }
    }
    let hasWhole = try newestSnapshot() != nil
    let feed = streams.first { $0.name == SnapshotFile.stream }
    let isNeeded = !hasWhole && feed?.serving.contains(where: \.isCompacted) == true
    for snapshot in snapshots {
      visit()
      let isWhole = try readSnapshot(snapshot) != nil
      let kind: LogFinding.Kind = isNeeded ? .missing : .standIn
      let found = try spare(snapshot.file, kind) { _, _ in isWhole }
      if let found { spares.append(found) }
    }
    return spares
  }

  /// The reports of superseded segments as they were written, by file.
  private func rawReports(
    of stream: Stream, besides known: Set<String>
  ) throws(LogError) -> [String: SegmentReport] {
    let raw = stream.superseded.filter { !$0.isCompacted && !known.contains($0.file) }
    guard let last = raw.map(\.first).max() else { return [:] }
    // What follows them tells how they ended.
    let following = stream.serving.filter { !$0.isCompacted }
    var segments = SegmentSequence(
      Stream(name: stream.name, files: raw + following), of: self, witness: 0, isInUse: true,
      logID: try logID(), policy: .usual(for: stream.name))
    var reports: [String: SegmentReport] = [:]
    while let report = try segments.next(), report.ordinal <= last {
      reports[report.file] = report
    }
    return reports
  }

  /// What is to be said of `file`; `nil` if it is gone.
  private func spare(
    _ file: String, _ kind: LogFinding.Kind = .standIn,
    isWhole: (SegmentScan, [UInt8]) throws(LogError) -> Bool
  ) throws(LogError) -> SpareFile? {
    do throws(LogError) {
      let content = try content(of: file)
      let scan = SegmentScan(content.bytes)
      var finding: LogFinding?
      if try !isWhole(scan, content.bytes) {
        finding = LogFinding(kind, file: file, offset: UInt64(scan.firstBad))
      } else if let offset = content.unreadable {
        finding = LogFinding(.unreadable, file: file, offset: UInt64(offset))
      }
      let frames = scan.frames.filter { $0.header.kind == .batch || $0.header.kind == .kept }
      return SpareFile(
        file: file, byteCount: content.bytes.count,
        isClosed: scan.frames.contains { $0.header.kind == .closingMark },
        entryCount: frames.reduce(0) { $0 + $1.parts.count }, finding: finding)
    } catch {
      if case .notFound = error { return nil }
      guard error.isUnreadable else { throw error }
      return SpareFile(
        file: file, byteCount: 0, isClosed: false, entryCount: 0,
        finding: LogFinding(kind, file: file, offset: 0))
    }
  }

  /// How many files are in the quarantine, and their bytes.
  package func quarantined() throws(LogError) -> (count: Int, byteCount: UInt64) {
    do throws(FileError) {
      let folder = "\(path)/\(Quarantine.folder)"
      guard try fileSystem.attributes(of: folder)?.kind == .directory else { return (0, 0) }
      var (count, byteCount) = (0, 0 as UInt64)
      for name in try fileSystem.list(folder) {
        count += 1
        byteCount += try fileSystem.attributes(of: "\(folder)/\(name)")?.byteCount ?? 0
      }
      return (count, byteCount)
    } catch {
      throw LogError(error)
    }
  }

  /// There is no file of any stream: the segments are lost, or nothing was ever written.
  package var lacksSegments: Bool { streams.allSatisfy(\.files.isEmpty) }
}

extension SpareFile {
  fileprivate init(_ report: SegmentReport) {
    let wrong = report.findings.first { $0.kind != .tornTail }
    file = report.file
    byteCount = report.byteCount
    isClosed = report.isClosed
    entryCount = report.frames.reduce(0) { $0 + $1.parts.count }
    finding = wrong.map {
      LogFinding($0.isLoss ? .standIn : $0.kind, file: report.file, offset: $0.offset)
    }
  }
}
