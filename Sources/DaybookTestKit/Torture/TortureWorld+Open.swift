import DaybookFormat
import DaybookLog
import DaybookSync

extension TortureWorld {
  /// Opens the log and compares what it replays with the model. A failure counts only if the disk
  /// did not fail.
  func open(mayFail: Bool) {
    let before = disk.callCount
    let verified = freshDamage.isEmpty && !isOnce(in: 4) ? [] : verify()
    let known = freshDamage.isEmpty ? nil : KnownToDisk(still, damagedFiles, freshDamage)
    let opening: TortureOpening
    do throws(LogError) {
      opening = try TortureOpening(TortureWorld.directory, configuration)
    } catch {
      tell("not opened: \(error)")
      openingCallCount = max(openingCallCount, disk.callCount - before)
      if !mayFail { check(.opens, false, "opening failed: \(error)") }
      return
    }
    let opened = opening.log
    openingCallCount = disk.callCount - before
    report.openings += 1
    tell("opened, \(opened.findings.map(\.message))")
    log = opened
    check(.opens, opening.unreadable == nil, opening.unreadable ?? "")
    adopt(
      opening, verified + opened.findings, known, isReadOnly: opened.isReadOnly, mayFail: mayFail)
    // A log that nothing was ever written to is a new one each time.
    if isStateKnown, let live = state, freshDamage.isEmpty,
      opened.damage.found.isEmpty, !live.isUntouched
    {
      check(
        .sameState, live == opening.state,
        "replay makes another state than the log had: "
          + TortureWorld.difference(opening.state, live))
    }
    state = opening.state
    isStateKnown = true
    isClosedWhole = false
    freshDamage = [:]
    look()
    guard let refusal = opened.refusal else { return }
    close()
    if case .damaged = refusal { isOver = true }
  }

  private func adopt(
    _ opening: TortureOpening, _ findings: [LogFinding], _ known: KnownToDisk?, isReadOnly: Bool,
    mayFail: Bool
  ) {
    let told = findings.filter { $0.kind != .tornTail }
    let links = told.filter { [.seal, .chain].contains($0.kind) }
    check(.chained, links.isEmpty || !damagedFiles.isEmpty, links.first?.message ?? "")
    let strange = told.first {
      !isExplained($0) && ![.seal, .chain].contains($0.kind) && !mayBeTorn($0)
    }
    check(.crashIsNoDamage, strange == nil, strange?.message ?? "")
    check(.opens, !isReadOnly || mayFail || !damagedFiles.isEmpty, "open for reading only")
    for (file, damage) in freshDamage where damage.wasClosed && file.hasSuffix(".dbs") {
      check(
        .noSilentLoss,
        told.contains { $0.file == file }
          || known.map { $0.untold.contains(file) || $0.unread.contains(file) } ?? false,
        "the damage of \(file) is not told")
    }
    // What is not told must be there; a torn tail is told too, if only by verifying.
    let tellsLoss =
      !damagedFiles.isEmpty
      && findings.contains { isExplained($0) && ($0.isLoss || $0.kind == .tornTail) }
    let mayLoseOpenFeed = freshDamage.contains { !$0.value.wasClosed && $0.key.hasPrefix("feed/") }
    for name in TortureStreamName.allCases {
      var stream = model(name)
      let found = opening.found[name] ?? []
      if name == .feed, told.contains(where: { $0.file.hasPrefix(SnapshotFile.folder) }) {
        stream.limitFloor(to: wholeSnapshotNumber)
      }
      let (complaints, lost) = stream.adopt(
        found, losesTail: name == .feed ? tellsLoss || mayLoseOpenFeed : tellsLoss && isReadOnly)
      for invariant in [
        TortureInvariant.durableBeforeVisible, .nothingLost, .onceInOrder, .allOrNothing,
        .refusedIsGone,
      ] {
        let complaint = complaints.first { $0.invariant == invariant }
        check(invariant, complaint == nil, complaint?.detail ?? "")
      }
      if let first = lost.first {
        let isUntold = name == .feed && first > known?.durableFeed ?? 0 && mayLoseOpenFeed
        check(
          .noSilentLoss, tellsLoss || isUntold, "\(lost.count) entries of \(name.rawValue) are gone"
        )
      }
      if name == .feed, !lost.isEmpty || mayLoseOpenFeed {
        let isTorn = !findings.contains { $0.stream == name.rawValue && $0.isLoss }
        let known = known ?? KnownToDisk(still, damagedFiles, [:])
        stream.limitHighest(to: (isTorn ? known?.durableFeed : known?.namedFeed) ?? 0)
      }
      if name == .outbox {
        check(.nothingLost, lost.isEmpty, "\(lost.count) entries of the outbox are gone")
        outbox = stream
      } else {
        feed = stream
      }
    }
  }

  /// What the newest snapshot that is whole stands for; 0 without one.
  private var wholeSnapshotNumber: UInt64 {
    let found = try? LogDirectory(TortureWorld.directory, fileSystem: still)
    return (try? found?.newestSnapshot())?.file.feedNumber ?? 0
  }

  /// Whether a crash may have left what is found: the file's end is named by nobody, since the
  /// header behind it never became whole, and no entry is touched.
  private func mayBeTorn(_ finding: LogFinding) -> Bool {
    guard !finding.isLoss, let found = try? LogDirectory(TortureWorld.directory, fileSystem: still),
      let files = found.streams.first(where: { $0.name == finding.stream })?.serving,
      let place = files.firstIndex(where: { $0.file == finding.file }), place + 1 < files.count
    else { return false }
    return (try? found.scan(files[place + 1].file))?.header == nil
  }

  /// Whether the finding is about a file that was damaged; without its snapshots, what a compaction
  /// left of the feed is nothing.
  private func isExplained(_ finding: LogFinding) -> Bool {
    damagedFiles.contains(finding.file)
      || finding.stream == SnapshotFile.stream
        && damagedFiles.contains { $0.hasPrefix(SnapshotFile.folder) }
  }

  /// Every finding of a look at all files, as `daybook verify` takes it.
  func verify() -> [LogFinding] {
    var findings: [LogFinding] = []
    do throws(LogError) {
      let found = try LogDirectory(TortureWorld.directory, fileSystem: fileSystem)
      let witnesses = try found.witnesses()
      for stream in TortureStreamName.allCases {
        var segments = try found.segments(of: stream.rawValue, witnesses: witnesses)
        segments.isHashed = true
        var chain = ChainCheck(logID: try found.logID() ?? .zero)
        while var report = try segments.next() {
          chain.check(&report)
          findings += report.findings
        }
      }
    } catch {
      return []
    }
    return findings
  }

  /// Compares the live state with what the model makes of the same entries.
  func look() {
    guard isStateKnown, let state else { return }
    look(at: state, expectation)
  }

  /// Compares `state` with what the model expects.
  func look(at state: ClientState, _ expectation: TortureExpectation) {
    let position = state.scopes[TortureServer.scope]?.position?.sequence
    check(
      .noChangeSkipped, position == expectation.position,
      "the cursor is at \(position.map(String.init) ?? "nothing"), not at "
        + "\(expectation.position.map(String.init) ?? "nothing")")
    let collection = state.collections[TortureServer.collection]
    var base: [String: [String: Int64]] = [:]
    for (id, held) in collection?.base ?? [:] {
      if let row = held.row { base[id] = TortureWorld.fields(of: row) }
    }
    let wantedBase = expectation.base(server)
    check(
      .noChangeSkipped, base == wantedBase,
      "the base at \(position ?? 0) has \(TortureWorld.difference(base, wantedBase))")
    var shown: [String: [String: Int64]] = [:]
    for id in collection?.shownIDs ?? [] {
      let key = RecordKey(TortureServer.collection, id)
      if let row = state.shown(key)?.row { shown[id] = TortureWorld.fields(of: row) }
    }
    let wanted = expectation.shown(server)
    check(
      .rowsAsExpected, shown == wanted, "shown is \(TortureWorld.difference(shown, wanted))")
    let unsettled = state.unsettled.map(\.operation.id)
    check(
      .nothingLost, unsettled == expectation.unsettled.map(\.id),
      "\(unsettled.count) operations wait, not \(expectation.unsettled.count)")
  }

  /// The first part of a state in which two differ, in words.
  private static func difference(_ found: ClientState?, _ wanted: ClientState) -> String {
    guard let found else { return "no state" }
    if found.scopes != wanted.scopes { return "scopes" }
    if found.nextNumber != wanted.nextNumber { return "the next number" }
    if found.clock != wanted.clock { return "the clock" }
    let (kept, wantedKept) = (found.keptOperations, wanted.keptOperations)
    if kept != wantedKept {
      let place = zip(kept, wantedKept).first { $0 != $1 }
      return "operations: \(kept.count), not \(wantedKept.count); "
        + (place.map { "\($0), not \($1)" } ?? "the first ones are alike")
    }
    for (name, collection) in found.collections where collection != wanted.collections[name] {
      let other = wanted.collections[name]
      if collection.base != other?.base { return "the base of \(name)" }
      if collection.overlays != other?.overlays { return "the overlays of \(name)" }
      return "the indexes of \(name)"
    }
    if found.incarnation != wanted.incarnation { return "the incarnation" }
    if found.epoch != wanted.epoch { return "the epoch" }
    if found.watermark != wanted.watermark { return "the watermark" }
    return "what is kept of confirmed operations"
  }

  private static func fields(of row: ValueMap) -> [String: Int64] {
    var fields: [String: Int64] = [:]
    for name in row.names { fields[name] = row[name]?.integer }
    return fields
  }

  private static func difference(
    _ found: [String: [String: Int64]], _ wanted: [String: [String: Int64]]
  ) -> String {
    let keys = Set(found.keys).union(wanted.keys).filter { found[$0] != wanted[$0] }.sorted()
    guard let key = keys.first else { return "as wanted" }
    func text(_ row: [String: Int64]?) -> String {
      row.map {
        $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
      }
        ?? "nothing"
    }
    return "\(key): \(text(found[key])), not \(text(wanted[key]))"
  }
}

extension ClientState {
  /// Nothing was folded into it.
  fileprivate var isUntouched: Bool { nextNumber == 1 && scopes.isEmpty && binding == nil }
}
