package import DaybookFormat

/// Mends a damaged log: whole files of a copy take the place of damaged ones where the chain proves
/// that they are the same, and recovery does what is left.
///
/// Damaged bytes are never written over: they stay where they are, or are in the quarantine before
/// another file takes their place.
package struct LogRepair {
  /// What is to be done about one file.
  package struct Step: Sendable {
    /// The file, from the log's directory on.
    package let file: String
    /// What is wrong with it.
    package let findings: [LogFinding]
    /// The copy holds it whole.
    package internal(set) var isReplaced = false

    /// The number of entries that it has lost, unless it is replaced.
    package var lostCount: UInt64 {
      findings.reduce(0) { $0 + ($1.lost.map { $0.upperBound - $0.lowerBound + 1 } ?? 0) }
    }
  }

  /// What recovery did.
  package struct Outcome: Sendable {
    /// What it found and did, as opening the log says it.
    package let damage: DamageReport
    /// Why the log still can't be written to, if it can't.
    package let refusal: LogError?
  }

  private let log: LogDirectory
  private let copy: LogDirectory?
  private let fileSystem: any FileSystem

  /// A repair of the log at `path`, with the help of a copy of it, if there is one.
  package init(
    of path: String, from copy: String?, fileSystem: any FileSystem
  ) throws(CopyError) {
    self.fileSystem = fileSystem
    do throws(LogError) {
      log = try LogDirectory(path, fileSystem: fileSystem)
      guard let copy else {
        self.copy = nil
        return
      }
      let found = try LogDirectory(copy, fileSystem: fileSystem)
      self.copy = found
      if let own = try log.logID(), let other = try found.logID(), own != other {
        throw .notALog(path: copy)
      }
    } catch {
      if let copy, error == .notALog(path: copy) { throw .otherLog(path: copy) }
      throw .log(error)
    }
  }

  // MARK: - The plan

  /// What is wrong with each file, and which ones the copy can replace. Reads both; changes
  /// nothing. A torn tail is no damage: the next opening settles it.
  package func plan() throws(CopyError) -> [Step] { try plan(isInUse: log.isInUse) }

  private func plan(isInUse: Bool) throws(CopyError) -> [Step] {
    var steps: [Step] = []
    do throws(LogError) {
      for stream in log.streams {
        let candidates = try candidates(stream.name)
        for report in try reports(of: stream.name, in: log, isInUse).map(\.report) {
          let findings = report.findings.filter { $0.kind != .tornTail && $0.record == nil }
          guard !findings.isEmpty else { continue }
          var step = Step(file: report.file, findings: findings)
          if let candidate = candidates[report.file] {
            step.isReplaced = try fits(candidate, in: stream, of: report)
          }
          steps.append(step)
        }
      }
    } catch {
      throw .log(error)
    }
    return steps
  }

  private struct Judged {
    let report: SegmentReport
    /// The chain value behind it.
    let chain: ChainValue?
  }

  private func reports(
    of stream: String, in directory: LogDirectory, _ isInUse: Bool
  ) throws(LogError) -> [Judged] {
    let logID = try directory.logID()
    var segments = directory.segments(
      of: stream, witnesses: try directory.witnesses(), isInUse: isInUse, logID: logID,
      policy: .usual(for: stream))
    segments.isHashed = true
    var check = ChainCheck(logID: logID ?? .zero)
    var judged: [Judged] = []
    while var report = try segments.next() {
      check.check(&report)
      judged.append(Judged(report: report, chain: check.links.last?.value))
    }
    return judged
  }

  /// The files of the copy's stream in which nothing is wrong.
  private func candidates(_ stream: String) throws(LogError) -> [String: Judged] {
    guard let copy else { return [:] }
    var candidates: [String: Judged] = [:]
    for judged in try reports(of: stream, in: copy, copy.isInUse)
    where judged.report.findings.isEmpty && judged.report.header != nil {
      candidates[judged.report.file] = judged
    }
    return candidates
  }

  /// Whether `candidate` is what the damaged file was: the next file names its chain value, or,
  /// where there is none, it has the same salt and every frame that is still whole.
  private func fits(
    _ candidate: Judged, in stream: LogDirectory.Stream, of report: SegmentReport
  ) throws(LogError) -> Bool {
    guard let there = candidate.report.header else { return false }
    if let header = report.header, header.salt != there.salt { return false }
    let frames = Set(candidate.report.frames.map(\.header.frameNumber))
    guard report.frames.allSatisfy({ frames.contains($0.header.frameNumber) }) else { return false }
    let ordinal = candidate.report.lastOrdinal + 1
    let next = (stream.serving + stream.superseded).first { $0.first == ordinal }
    guard let next, let successor = try log.header(of: next.file)?.predecessor else {
      return report.header != nil && candidate.report.nextNumber >= report.nextNumber
    }
    if !successor.chain.isZero { return candidate.chain == successor.chain }
    guard successor.lastNumber + 1 == candidate.report.nextNumber else { return false }
    guard let tail = successor.tail else {
      return successor.validEnd == UInt64(candidate.report.validEnd)
    }
    return tail.byteCount == UInt64(candidate.report.byteCount)
      && tail.checksum == candidate.report.fileChecksum
  }

  // MARK: - Doing it

  /// Makes a repaired log in the directory `target`, which must be new; the damaged one stays as it
  /// is. On return it is closed and durable, and gives every entry that the damaged one gives.
  package func write(
    _ steps: [Step], to target: String, random: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> HybridTime
  ) throws(CopyError) -> Outcome {
    let before = try census(log.path)
    _ = try LogBackup(from: log.path, to: target, fileSystem: fileSystem).run()
    try replace(steps, in: target)
    let outcome = try recover(target, random: random, clock: clock)
    try check(target, holds: before)
    return outcome
  }

  /// Repairs the log where it is: a damaged file that is replaced is copied to the quarantine
  /// first.
  ///
  /// A crash at any call leaves each file as it was or whole, and the damaged bytes of every file
  /// that was replaced. What somebody changed since `steps` were planned is left as it is.
  /// - Throws: `locked`, `notPermitted` before anything is written, and what writing throws.
  package func apply(
    _ steps: [Step], random: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> HybridTime
  ) throws(CopyError) -> Outcome {
    let lock: any FileLock
    do throws(FileError) {
      lock = try fileSystem.lock("\(log.path)/\(LogDirectory.lockFile)")
    } catch {
      if case .locked(let process) = error.reason {
        throw .log(.locked(path: log.path, by: process))
      }
      throw CopyError(error)
    }
    let before = try replace(steps, holding: lock)
    let outcome = try recover(log.path, random: random, clock: clock)
    try check(log.path, holds: before)
    return outcome
  }

  /// Replaces in the log what can be, and lets go of the lock. Returns what the log gave before.
  private func replace(
    _ steps: [Step], holding lock: any FileLock
  ) throws(CopyError) -> LogCensus? {
    defer { lock.release() }
    let before = try census(log.path, isWriter: true)
    let now = try LogRepair(of: log.path, from: copy?.path, fileSystem: fileSystem)
    let planned = Set(steps.filter(\.isReplaced).map(\.file))
    let fresh = try now.plan(isInUse: false).filter { $0.isReplaced && planned.contains($0.file) }
    try keep(fresh)
    try replace(fresh, in: log.path)
    return before
  }

  /// What the log at `path` gives; `nil` if a newer version wrote it.
  private func census(_ path: String, isWriter: Bool = false) throws(CopyError) -> LogCensus? {
    do throws(LogError) {
      let found = try LogDirectory(path, fileSystem: fileSystem)
      return try LogCensus(of: found, isWriter: isWriter)
    } catch {
      if case .newerFormat = error { return nil }
      throw .log(error)
    }
  }

  private func check(_ path: String, holds before: LogCensus?) throws(CopyError) {
    guard let before, let lack = try census(path)?.lacks(of: before) else { return }
    throw .lacksEntries(path: path, stream: lack.stream, count: lack.count)
  }

  /// Copies the damaged files that are to be replaced to the quarantine, durable on return.
  private func keep(_ steps: [Step]) throws(CopyError) {
    let quarantine = "\(log.path)/\(Quarantine.folder)"
    let copier = FileCopier(fileSystem: fileSystem)
    do throws(FileError) {
      for step in steps {
        let path = "\(log.path)/\(step.file)"
        guard try fileSystem.attributes(of: path) != nil else { continue }
        if try fileSystem.attributes(of: quarantine) == nil {
          try fileSystem.makeDirectory(quarantine)
        }
        guard let name = try quarantineName(path, step.file, copier) else { continue }
        _ = try copier.place(copyOf: path, at: "\(quarantine)/\(name)")
      }
      guard !steps.isEmpty, try fileSystem.attributes(of: quarantine) != nil else { return }
      try fileSystem.syncDirectory(quarantine)
      try fileSystem.syncDirectory(log.path)
    } catch {
      throw copier.problem(error)
    }
  }

  /// `outbox-00000002.g0.dbs-whole.bytes` for `outbox/00000002.g0.dbs`, with a number behind it if
  /// that is taken by other bytes; `nil` if an earlier repair has kept the same ones.
  private func quarantineName(
    _ path: String, _ file: String, _ copier: FileCopier
  ) throws(FileError) -> String? {
    let stem = String(file.map { $0 == "/" ? "-" : $0 }) + "-whole"
    var name = "\(stem).bytes"
    var number = 1
    while true {
      let kept = "\(log.path)/\(Quarantine.folder)/\(name)"
      if try fileSystem.attributes(of: kept) == nil { return name }
      if try copier.isSame(path, kept) { return nil }
      number += 1
      name = "\(stem)-\(number).bytes"
    }
  }

  private func replace(_ steps: [Step], in target: String) throws(CopyError) {
    guard let copy else { return }
    let copier = FileCopier(fileSystem: fileSystem)
    var folders: Set<String> = []
    for step in steps where step.isReplaced {
      let folder = "\(target)/\(step.file.prefix { $0 != "/" })"
      do throws(FileError) {
        if try fileSystem.attributes(of: folder) == nil {
          try fileSystem.makeDirectory(folder)
          try fileSystem.syncDirectory(target)
        }
      } catch {
        throw CopyError(error)
      }
      _ = try copier.copy("\(copy.path)/\(step.file)", to: "\(target)/\(step.file)")
      folders.insert(folder)
    }
    do throws(FileError) {
      for folder in folders.sorted() { try fileSystem.syncDirectory(folder) }
    } catch {
      throw CopyError(error)
    }
  }

  private func recover(
    _ path: String, random: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> HybridTime
  ) throws(CopyError) -> Outcome {
    do throws(LogError) {
      let found = try LogDirectory(path, fileSystem: fileSystem)
      let isServer = found.streams.contains { $0.name == "changes" && !$0.segments.isEmpty }
      let header = try found.newestHeader()
      let opened = try Log.open(
        path,
        LogConfiguration(
          streams: isServer ? [.changes] : [.feed, .outbox], account: header?.account ?? "",
          fileSystem: fileSystem, random: random, clock: clock, idleMarkDelay: nil)
      ) { _, _ in }
      let outcome = Outcome(damage: opened.damage, refusal: opened.refusal)
      try opened.close()
      return outcome
    } catch {
      throw .log(error)
    }
  }
}
