import DaybookFormat
import DaybookLog

/// What is to be said of every file of one log.
struct Verification {
  /// One file of a stream, or a snapshot.
  struct File: Equatable {
    /// From the log's directory on.
    let name: String
    /// Its closing marks are there.
    let isSealed: Bool
    let validEnd: Int
    let verdict: SegmentReport.Verdict
    /// The first byte that is wrong; `nil` if none is.
    let firstBad: UInt64?
    /// The number of entries known to be lost.
    let lostCount: UInt64
    let entryCount: Int
    /// The findings in sentences that name file and offset.
    let messages: [String]

    /// The status of a log that has but this file.
    var status: ExitStatus {
      switch verdict {
      case .clean, .settled: return .done
      case .torn: return .tornTail
      case .newer: return .newerFormat
      case .healed, .damaged, .missing: return .damaged
      }
    }

    /// The object of this file, named with `prefix` before it.
    func object(prefix: String) -> JSONObject {
      var object = JSONObject()
      object.set("file", prefix + name)
      object.set("sealed", isSealed)
      object.set("validEnd", validEnd)
      object.set("verdict", verdict.rawValue)
      object.set("firstBad", optional: firstBad)
      object.set("lost", lostCount)
      return object
    }
  }

  private(set) var files: [File] = []
  let notes: [String]
  /// What the log is to be held against, and what came of it.
  private(set) var anchored: AnchorReport?

  /// Reads every file of the log at `path`, again if something is found: a writer may be at work.
  static func read(
    _ path: String, anchor: Anchor? = nil, visit: () -> Void
  ) throws(LogError) -> Verification {
    do throws(LogError) {
      return try Rereading.read(findings: { (reading: Verification) in
        reading.files.flatMap(\.messages)
      }) { () throws(LogError) in try Verification(path, anchor, visit: visit) }
    } catch {
      guard case .newerFormat(let file, let found, let supported) = error else { throw error }
      let message = "\(file): format \(found), and this version reads up to \(supported)"
      return Verification(
        files: [
          File(
            name: file, isSealed: false, validEnd: 0, verdict: .newer, firstBad: nil, lostCount: 0,
            entryCount: 0, messages: [message])
        ], notes: [])
    }
  }

  private init(files: [File], notes: [String]) {
    self.files = files
    self.notes = notes
  }

  private init(_ path: String, _ anchor: Anchor?, visit: () -> Void) throws(LogError) {
    let log = try OpenedLog(path)
    if let anchor { anchored = AnchorReport(anchor, logID: log.logID) }
    notes = log.directory.notes
    let witnesses = try log.directory.witnesses()
    // What one stream's frames know of the other, which may be gone with its folder.
    var otherNext: [String: UInt64] = [:]
    for stream in log.streams {
      var segments = try log.directory.segments(of: stream, witnesses: witnesses)
      segments.isHashed = true
      var chain = ChainCheck(logID: log.logID ?? .zero)
      let place = anchor?.places.first { $0.stream == stream }
      var anchorCheck = place.map { AnchorCheck($0) }
      var isThere = false
      while var report = try segments.next() {
        chain.check(&report)
        anchorCheck?.look(report, chain.links)
        if Task.isCancelled { throw .closed }
        visit()
        isThere = true
        for frame in report.frames {
          otherNext[stream] = max(otherNext[stream] ?? 0, frame.header.otherNext)
        }
        files.append(File(report))
      }
      if !isThere { otherNext[stream] = nil }
      if let verdict = anchorCheck?.verdict() { anchored?.verdicts[stream] = verdict }
    }
    if log.directory.lacksSegments, !log.directory.isInUse {
      files.append(File(withoutSegment: LogDirectory.file(of: log.streams[0], ordinal: 1)))
    }
    let listed = Set(files.map(\.name))
    files += try log.directory.spareFiles(besides: listed, visit: visit).map { File($0) }
    guard log.streams.count == 2 else { return }
    for (index, stream) in log.streams.enumerated() where otherNext[stream] == nil {
      guard let next = otherNext[log.streams[1 - index]], next > 1 else { continue }
      let name = LogDirectory.file(of: stream, ordinal: 1)
      guard !files.contains(where: { $0.name == name }) else { continue }
      files.append(File(missing: name, lost: 1...(next - 1)))
    }
  }
}

extension Verification.File {
  init(_ report: SegmentReport) {
    var unreadable: [LogEntry] = []
    for frame in report.frames {
      for stored in report.entries(of: frame) {
        if case .unreadable = DumpWriter.Decoded(stored) { unreadable.append(stored) }
      }
    }
    var messages = report.findings.map(\.message)
    if let version = report.newerVersion {
      messages.append(
        "\(report.file), byte 0: format \(version), and this version reads up to "
          + "\(LogLayout.version)")
    }
    for stored in unreadable {
      messages.append(
        "\(stored.file), byte \(stored.frameOffset): the entry \(stored.stream):\(stored.number) "
          + "is whole, and can't be read")
    }
    let offsets = report.findings.map(\.offset) + unreadable.map(\.frameOffset)
    let isLoss = [.damaged, .missing, .newer].contains(report.verdict)
    self.init(
      name: report.file, isSealed: report.isClosed, validEnd: report.validEnd,
      verdict: unreadable.isEmpty || isLoss ? report.verdict : .damaged, firstBad: offsets.min(),
      lostCount: report.lostCount + UInt64(unreadable.count),
      entryCount: report.frames.reduce(0) { $0 + Int($1.header.entryCount) }, messages: messages)
  }

  /// The file that a log without any segment has not.
  init(withoutSegment name: String) {
    self.init(
      name: name, isSealed: false, validEnd: 0, verdict: .missing, firstBad: 0, lostCount: 0,
      entryCount: 0, messages: ["\(name), byte 0: \(LogCondition.noSegment)"])
  }

  init(_ spare: SpareFile) {
    let verdict: SegmentReport.Verdict
    switch spare.finding {
    case nil: verdict = .clean
    case .some(let finding): verdict = finding.kind == .missing ? .missing : .healed
    }
    self.init(
      name: spare.file, isSealed: spare.isClosed, validEnd: spare.byteCount, verdict: verdict,
      firstBad: spare.finding?.offset, lostCount: 0, entryCount: spare.entryCount,
      messages: spare.finding.map { [$0.message] } ?? [])
  }

  init(missing name: String, lost: ClosedRange<UInt64>) {
    let finding = LogFinding(.missing, file: name, offset: 0, lost: lost)
    self.init(
      name: name, isSealed: false, validEnd: 0, verdict: .missing, firstBad: 0,
      lostCount: lost.upperBound - lost.lowerBound + 1, entryCount: 0,
      messages: [finding.message])
  }
}
