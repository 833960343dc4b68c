import DaybookFormat

/// What opening does about the damage that its replay met: evidence first, then for each damaged
/// stream a new segment that begins with what is known of the damage. Nothing that is there is
/// changed, cut or removed.
///
///     found ──▶ copied to quarantine, synced ──▶ gap entries in a new segment, synced ──▶ known
///       ▲                   │                                 │
///       └───────────────────┴──────── a crash ────────────────┘
///
/// A crash anywhere leaves the damage as it was, so the next opening does the same again, under the
/// same names. Source: `Docs/Format.md`, section "Recovery".
struct Recovery {
  /// The folder of the log.
  let directory: LogDirectory
  let configuration: LogConfiguration
  /// What the opening gives to the app.
  private(set) var report = DamageReport()
  private let torn: [LogFinding]
  private let stops: [String: UInt64]
  private let named: [String: UInt64]

  /// The recovery from what `replay` met.
  init(_ directory: LogDirectory, _ configuration: LogConfiguration, after replay: LogReplay) {
    self.directory = directory
    self.configuration = configuration
    stops = replay.stops
    named = replay.named
    // A write that never finished is no damage.
    torn = replay.findings.filter { $0.kind == .tornTail }
    let damage = replay.findings.filter { $0.kind != .tornTail }
    report.found = damage.filter { $0.record == nil }
    report.known = damage.filter { $0.record != nil }
    report.cut = replay.stops
    for options in configuration.streams where options.onDamage != .cut {
      let lost = damage.filter { $0.stream == options.name }.compactMap(\.lost)
      report.lost[options.name] = lost.isEmpty ? nil : DamageReport.union(of: lost)
    }
  }

  /// The first loss of a stream that must not be written to behind one.
  var refusedLoss: LogFinding? {
    let refusing = configuration.streams.filter { $0.onDamage == .refuse }.map(\.name)
    return (report.found + report.known).first { $0.isLoss && refusing.contains($0.stream) }
  }

  /// Keeps the evidence and records the damage in the streams of `writers`. Returns the gap
  /// entries, durable, in the order in which a replay gives them.
  ///
  /// A disk that takes no more is no reason not to open: what is not recorded is found again by the
  /// next opening, and numbers go on above all that were named in any case.
  mutating func run(_ writers: [StreamWriter]) -> [LogEntry] {
    defer { describe() }
    if report.found.isEmpty, torn.isEmpty { return [] }
    var gaps: [String: [Gap]] = [:]
    do throws(LogError) {
      gaps = try keepEvidence()
    } catch {
      report.actions.append(
        "The damage could not be recorded now; the next opening tries again.")
    }
    var entries: [LogEntry] = []
    for (index, writer) in writers.enumerated() {
      let stream = writer.options.name
      guard report.found.contains(where: { $0.stream == stream }) else { continue }
      let other = writers.count == 2 ? writers[1 - index] : nil
      let otherNext = other.map { $0.statedNumber + 1 } ?? 0
      writer.goOn(above: named[stream] ?? 0)
      let clock = configuration.clock()
      let first = writer.nextNumber
      let new = gaps[stream] ?? []
      do throws(LogError) {
        try writer.record(new, otherNext: otherNext)
      } catch {
        // Their numbers are shown all the same.
        writer.goOn(above: first + UInt64(new.count) - 1)
        report.actions.append(
          "\(stream): the damage could not be recorded now; the next opening tries again.")
      }
      for (place, gap) in new.enumerated() {
        entries.append(
          LogEntry(
            stream: stream, number: first + UInt64(place), kind: EntryKind.gap.rawValue,
            bytes: gap.bytes[...], otherNext: otherNext, clock: clock,
            file: LogDirectory.segmentFile(stream: stream, ordinal: writer.lastOrdinal),
            frameOffset: UInt64(LogLayout.segmentHeaderByteCount)))
      }
    }
    return entries
  }

  /// The number before the entries of `stream` that a crash left with one copy, if they are to be
  /// written again; `nil` if there are none, or if damage of the stream is recorded first.
  func loneEnd(of stream: String, in replay: LogReplay) -> UInt64? {
    guard !report.found.contains(where: { $0.stream == stream }) else { return nil }
    return replay.tails[stream]?.loneReport?.loneFrames.first.map { $0.header.firstNumber - 1 }
  }

  /// Begins a new segment, durable, where a crash left an unclean end, before anything is written
  /// that could prove that end durable: then it would be taken for damage. Entries with one copy
  /// are written again, under their numbers.
  func settleTails(_ writers: [StreamWriter], _ replay: LogReplay) throws(LogError) {
    for writer in writers {
      let stream = writer.options.name
      if let end = loneEnd(of: stream, in: replay), let lone = replay.tails[stream]?.loneReport {
        let isLast = replay.last[stream]?.ordinal == lone.ordinal
        try writer.writeAgain(
          lone.loneFrames, behind: end, validEnd: isLast ? lone.lone?.validEnd : nil)
      } else if torn.contains(where: { $0.stream == stream }) {
        try writer.settleTail()
      }
    }
  }

  /// Copies what the findings are about. Returns the gap entries that record them, by stream.
  private mutating func keepEvidence() throws(LogError) -> [String: [Gap]] {
    do throws(FileError) {
      var quarantine = Quarantine(directory.path, fileSystem: directory.fileSystem)
      var gaps: [String: [Gap]] = [:]
      let time = configuration.clock().time
      var (file, evidence) = ("", Evidence([]))
      for finding in (report.found + torn).sorted(by: { $0.file < $1.file }) {
        if finding.file != file {
          file = finding.file
          evidence = Evidence(try bytes(of: file))
        }
        let bytes = evidence.bytes(of: finding)
        let digest = SHA256Digest(bytes: SHA256Digest.hash(bytes)) ?? .zero
        let name = bytes.isEmpty ? nil : try quarantine.keep(bytes, of: finding, digest: digest)
        guard finding.kind != .tornTail, isRecorded(finding, gaps[finding.stream] ?? []) else {
          continue
        }
        let gap = Gap(
          file: finding.file, offset: finding.offset, kind: finding.kind.rawValue,
          lost: finding.lost, cut: finding.lost == nil ? nil : stops[finding.stream],
          evidence: digest.bytes, quarantine: name, time: time)
        // What is cut ends with the first entry, so that it takes none of the others away.
        let place = gap.cut == nil ? gaps[finding.stream]?.count ?? 0 : 0
        gaps[finding.stream, default: []].insert(gap, at: place)
      }
      try quarantine.sync()
      report.evidence = quarantine.added
      return gaps
    } catch {
      throw LogError(error)
    }
  }

  /// Whether `finding` wants a gap entry of its own beside `gaps`, which are recorded with it.
  /// One covers all that a cut takes away, and all damage of one file that costs nothing.
  private func isRecorded(_ finding: LogFinding, _ gaps: [Gap]) -> Bool {
    if finding.lost != nil {
      return stops[finding.stream] == nil || !gaps.contains { $0.cut != nil }
    }
    return !gaps.contains {
      $0.file == finding.file && $0.lost == nil
        && LogFinding.Kind(rawValue: $0.kind)?.isLoss == finding.kind.isLoss
    }
  }

  private func bytes(of file: String) throws(FileError) -> [UInt8] {
    let path = "\(directory.path)/\(file)"
    guard try directory.fileSystem.attributes(of: path) != nil else { return [] }
    do throws(FileError) {
      return try FileContent(of: path, directory.fileSystem).bytes
    } catch {
      guard error.isUnreadable else { throw error }
      return []
    }
  }

  private mutating func describe() {
    let copies = report.evidence.count { $0.hasSuffix(".bytes") }
    if copies > 0 {
      report.actions.append(
        "Damaged bytes were copied to \(Quarantine.folder) "
          + "(\(copies == 1 ? "one piece" : "\(copies) pieces")); nothing was changed.")
    }
    for (stream, lost) in report.lost.sorted(by: { $0.key < $1.key }) {
      let words = lost.map { LogFinding.words(for: $0) }.joined(separator: ", ")
      report.actions.append("\(stream): lost for good are \(words). All else goes on.")
    }
    for (stream, first) in report.cut.sorted(by: { $0.key < $1.key }) {
      report.actions.append(
        "\(stream): what follows from \(first) on does not count and is fetched again.")
    }
  }
}

extension DamageReport {
  /// The numbers of `ranges` as few ranges in order.
  static func union(of ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
    var union: [ClosedRange<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = union.last, range.lowerBound <= last.upperBound + 1 {
        union[union.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        union.append(range)
      }
    }
    return union
  }
}
