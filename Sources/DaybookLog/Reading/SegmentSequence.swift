import DaybookFormat

/// The segments of one stream, judged one after the other; one is in memory at a time.
package struct SegmentSequence {
  let directory: LogDirectory
  let stream: LogDirectory.Stream
  private let witness: UInt64
  private let isInUse: Bool
  let policy: DamagePolicy
  private var known: KnownDamage?
  private let logID: Identifier?
  /// Whether each report is to say the digest of what stands before the seal.
  package var isHashed = false
  /// The files that serve the ordinals, in order; inputs stand in for an output that is damaged.
  var files: [StreamFile]
  /// Outputs that are not whole: what other files lack may be in them.
  var sources: [OutputSalvage] = []
  /// Outputs without a header that are still to be told.
  var untold: [StreamFile] = []
  var index = 0
  var nextOrdinal: UInt64 = 1
  /// The segment read last can't be gone on with: what follows is in another file.
  var isClosed = true
  /// The number that the next segment must begin with.
  package internal(set) var nextNumber: UInt64 = 1

  /// The segments of `stream`, of which `witness` is known to be durable by others.
  init(
    _ stream: LogDirectory.Stream, of directory: LogDirectory, witness: UInt64, isInUse: Bool,
    logID: Identifier?, policy: DamagePolicy
  ) {
    self.logID = logID
    self.directory = directory
    self.stream = stream
    self.witness = witness
    self.isInUse = isInUse
    self.policy = policy
    files = stream.serving
  }

  /// What gap entries say of the stream; read once.
  mutating func knownDamage() throws(LogError) -> KnownDamage {
    if let known { return known }
    let read = KnownDamage(stream: stream.name, gaps: try directory.gaps(of: stream))
    known = read
    return read
  }

  /// Leaves out the files that hold nothing above `number`, of which only headers are read. What is
  /// below is neither looked for nor missed.
  mutating func skip(through number: UInt64) throws(LogError) {
    nextNumber = number + 1
    for place in files.indices.reversed() {
      guard let header = try directory.header(of: files[place].file),
        header.stream == stream.name, header.ordinal == files[place].first,
        header.firstNumber <= number + 1
      else { continue }
      index = place
      nextNumber = header.firstNumber
      break
    }
    if index < files.count { nextOrdinal = files[index].first }
  }

  /// The next segment's report; `nil` behind the last one.
  package mutating func next() throws(LogError) -> SegmentReport? {
    let known = try knownDamage()
    if let void = try voidReport() { return void }
    guard index < files.count else { return missingOutputEnd() ?? missingTail() }
    let (ordinal, file) = (files[index].first, files[index].file)
    if ordinal != nextOrdinal { return missing(before: ordinal, file: file) }
    if files[index].isCompacted { return try compacted() }
    index += 1
    nextOrdinal += 1
    var context = SegmentContext(
      file: file, stream: stream.name, ordinal: ordinal, next: nextNumber,
      // What a file that is gone held is not missing here.
      witness: missingOrdinal == nil ? witness : 0)
    context.isSalvaged = policy == .salvage
    context.logID = logID
    context.known = known
    try look(ahead: &context)
    context.head = directory.head?.streams.first {
      $0.name == stream.name && $0.ordinal == ordinal
    }
    context.logID = logID
    let content = try directory.content(of: file)
    let bytes = content.bytes
    var report = SegmentJudge.judge(SegmentScan(bytes), bytes: bytes, context: context)
    if isInUse, context.lastNumber == nil {
      report.findings.removeAll { $0.kind == .tornTail }
    }
    report.note(content, known)
    if isHashed, let end = report.sealFrame?.offset {
      report.digest = SHA256Digest(bytes: SHA256Digest.hash(bytes[..<end]))
    }
    // What this file has lost is not lost once more by the next one.
    let lost = report.findings.compactMap(\.lost).map(\.upperBound).max() ?? 0
    nextNumber = max(report.nextNumber, lost + 1)
    isClosed = report.isClosed
    complete(&report, known)
    return report
  }

  /// Finds what the next header that can be read says of the segment before it.
  private func look(ahead context: inout SegmentContext) throws(LogError) {
    var mayHold = false
    var expected = context.ordinal + 1
    for later in files[index...] {
      guard let header = try directory.header(of: later.file), header.stream == stream.name,
        header.ordinal == later.first, header.logID == logID ?? header.logID
      else {
        mayHold = mayHold || later.first != expected
        if !mayHold { mayHold = !SegmentScan(try directory.bytes(of: later.file)).frames.isEmpty }
        expected = later.last + 1
        continue
      }
      let named = header.predecessor
      if let named, named.ordinal == context.ordinal { context.successor = named }
      // Behind damage a segment's first number is above all that were named; what the one before
      // held, its header says.
      context.lastNumber = min(named?.lastNumber ?? .max, header.firstNumber - 1)
      context.witness = 0
      let isNamedVoid = named?.validEnd == 0 && named?.ordinal == context.ordinal + 1
      context.isFollowedByUnknown = (mayHold || later.first != expected) && !isNamedVoid
      return
    }
  }

  /// The report of segments whose files are not there, though a later one is.
  private mutating func missing(before later: UInt64, file: String) -> SegmentReport {
    let header = try? directory.header(of: file)
    let first = max(header?.firstNumber ?? outputEnd(before: later) ?? nextNumber, nextNumber)
    let last = min(header?.predecessor?.lastNumber ?? .max, first - 1)
    let lost = last >= nextNumber ? nextNumber...last : nil
    return missing(nextOrdinal, next: later, first: first, lost: lost)
  }

  /// The segment that `HEAD` says was written last, if no file is as new.
  private var missingOrdinal: UInt64? {
    guard !isInUse, let named = directory.head?.streams.first(where: { $0.name == stream.name }),
      named.validEnd > 0, named.ordinal > files.last?.last ?? 0
    else { return nil }
    return named.ordinal
  }

  /// The report of a last segment whose file is not there, though others know of its entries.
  private mutating func missingTail() -> SegmentReport? {
    let isLost = isClosed && witness >= nextNumber
    guard index == files.count, isLost || missingOrdinal != nil else { return nil }
    index += 1
    let ordinal = missingOrdinal ?? nextOrdinal
    return missing(
      ordinal, next: ordinal + 1, first: max(witness + 1, nextNumber),
      lost: witness >= nextNumber ? nextNumber...witness : nil)
  }

  mutating func missing(
    _ ordinal: UInt64, next: UInt64, first: UInt64, lost: ClosedRange<UInt64>?
  ) -> SegmentReport {
    let expected = nextNumber
    nextOrdinal = next
    nextNumber = first
    isClosed = false
    var report = SegmentReport(
      file: LogDirectory.segmentFile(stream: stream.name, ordinal: ordinal), stream: stream.name,
      ordinal: ordinal, scan: SegmentScan([]), nextNumber: first)
    report.firstNumber = expected
    report.namedNumber = first - 1
    var finding = LogFinding(.missing, file: report.file, offset: 0, lost: lost)
    finding.record = known?.record(of: finding)
    report.findings = [finding]
    if let known { complete(&report, known) }
    lay(&report, on: sources.first { $0.file.first <= ordinal && ordinal <= $0.file.last })
    return report
  }

  /// Tells what is missing of an output that is not whole by the name of that: what it was made of
  /// need not be there.
  private func lay(_ report: inout SegmentReport, on output: OutputSalvage?) {
    guard let output, !stream.void.contains(output.file) else { return }
    report.file = output.file.file
    report.findings = report.findings.map { old in
      var finding = LogFinding(
        old.kind, file: report.file, offset: UInt64(output.firstBad), lost: old.lost)
      finding.record = old.record
      return finding
    }
  }
}

extension LogDirectory {
  /// The segments of the stream `name`, judged; none if there is no such stream.
  package func segments(
    of name: String, witnesses: [String: UInt64]
  ) throws(LogError) -> SegmentSequence {
    var segments = segments(
      of: name, witnesses: witnesses, isInUse: isInUse, logID: try logID(),
      policy: .usual(for: name))
    segments.tellVoid()
    return segments
  }

  func segments(
    of name: String, witnesses: [String: UInt64], isInUse: Bool, logID: Identifier?,
    policy: DamagePolicy
  ) -> SegmentSequence {
    SegmentSequence(
      streams.first { $0.name == name } ?? Stream(name: name, files: []), of: self,
      witness: witnesses[name] ?? 0, isInUse: isInUse, logID: logID, policy: policy)
  }

  /// For each stream the highest number that `HEAD` or the other stream knows to be durable.
  package func witnesses() throws(LogError) -> [String: UInt64] {
    var witnesses: [String: UInt64] = [:]
    for stream in head?.streams ?? [] { witnesses[stream.name] = stream.durableNumber }
    // A folder that is gone is known by the other stream alone.
    let logID = try logID()
    for (name, other) in [("outbox", "feed"), ("feed", "outbox")] {
      guard let stream = streams.first(where: { $0.name == name }) else { continue }
      // The newest frames know most; a segment without any leaves it to the one before.
      for segment in stream.segments.reversed() {
        let scan = SegmentScan(try bytes(of: segment.file))
        guard scan.header == nil || scan.header?.logID == logID,
          let highest = scan.frames.map(\.header.otherNext).max()
        else { continue }
        if highest > 0 { witnesses[other] = max(witnesses[other] ?? 0, highest - 1) }
        break
      }
    }
    return witnesses
  }
}
