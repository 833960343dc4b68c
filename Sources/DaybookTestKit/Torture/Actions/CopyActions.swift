import DaybookFormat
import DaybookLog
import Synchronization

/// The directory is copied file by file, as `cp -r` does, while the log goes on; the copy must open
/// with all that had been acknowledged when it was begun.
struct CopyAction: TortureAction {
  let name = "copy"
  let weight = 2
  func isPossible(in world: TortureWorld) -> Bool {
    world.log != nil && world.isStateKnown && world.damagedFiles.isEmpty
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    let copy = SimulatedDisk(seed: world.random.next())
    let before = world.copyMark
    var pause = world.draw(below: world.disk.paths.count + 1)
    // Folder by folder, each listed when it is come to, in any order, with work in between.
    for folder in shuffled(world, Set(world.disk.paths.map { FilePath.parent(of: $0) }).sorted()) {
      let paths = world.disk.paths.filter { FilePath.parent(of: $0) == folder }
      for path in shuffled(world, paths) {
        if pause == 0 { CopyAction.work(world, mayFail: mayFail) }
        pause -= 1
        if let content = world.disk.content(of: path) { copy.put(content, at: path) }
      }
    }
    // What failed meanwhile may be in the copy without the word that it was refused.
    guard !mayFail else { return }
    world.compare(TortureWorld.directory, on: copy, with: before)
  }

  private func shuffled(_ world: TortureWorld, _ paths: [String]) -> [String] {
    var paths = paths
    for place in paths.indices.dropLast() {
      paths.swapAt(place, place + world.draw(below: paths.count - place))
    }
    return paths
  }

  /// A few actions, while files are copied; the log is tidied up once at most.
  static func work(_ world: TortureWorld, mayFail: Bool) {
    var actions: [any TortureAction] = [
      WriteAction(), PullAction(), SettleAction(), IdleAction(),
      CompactAction(keepsSuperseded: true),
    ]
    for _ in 0...world.draw(below: 5) {
      guard let action = world.pick(actions), action.isPossible(in: world) else { continue }
      action.run(world, mayFail: mayFail)
      if action is CompactAction { actions.removeLast() }
    }
  }
}

/// The log is backed up, on top of what earlier backups hold, and restored from it; nobody writes
/// meanwhile, but the machine may stop.
struct BackupAction: TortureAction {
  static let backup = SimulatedDisk.root + "/backup"
  static let restored = SimulatedDisk.root + "/restored"
  let name = "backup"
  let weight = 2
  func isPossible(in world: TortureWorld) -> Bool {
    world.damagedFiles.isEmpty && world.freshDamage.isEmpty && world.isStateKnown
      && world.report.openings > 0
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    let before = world.copyMark
    do throws(CopyError) {
      _ = try LogBackup(
        from: TortureWorld.directory, to: BackupAction.backup, fileSystem: world.fileSystem
      ).run()
      world.tell("backed up")
    } catch {
      world.tell("not backed up: \(error)")
      return
    }
    guard !mayFail, world.isOnce(in: 2) else { return }
    world.compare(BackupAction.backup, on: world.disk, with: before)
  }
}

extension TortureWorld {
  /// How many transactions of each stream are durable: what was only written may go to another
  /// file while the copy is made.
  var copyMark: [TortureStreamName: Int] {
    [.outbox: outbox.durableCount, .feed: feed.durableCount]
  }

  /// Restores a copy and compares it with what the log held at `mark`, and may have got since.
  func compare(
    _ directory: String, on copy: SimulatedDisk, with mark: [TortureStreamName: Int]
  ) {
    copy.dropTree(BackupAction.restored)
    self.copy = copy
    defer { self.copy = nil }
    let random = Mutex(SplitMix64(seed: self.random.next()))
    let now = self.now
    do throws(CopyError) {
      let restore = try LogRestore(
        from: directory, into: BackupAction.restored, fileSystem: copy,
        random: { random.withLock { $0.next() } }, clock: { HybridTime(rawValue: now) })
      _ = try restore.run(LogRestore.Request(outbox: .send))
    } catch {
      // A log that nothing was written to is no log yet.
      let isNew = (mark[.outbox] ?? 0) + (mark[.feed] ?? 0) == 0
      check(.opens, isNew, "a copy can't be restored: \(error)")
      return
    }
    var configuration = self.configuration
    configuration.fileSystem = copy
    let opening: TortureOpening
    do throws(LogError) {
      opening = try TortureOpening(BackupAction.restored, configuration)
      try opening.log.close()
    } catch {
      check(.opens, false, "a copy does not open: \(error)")
      return
    }
    check(.opens, opening.log.refusal == nil, "a copy opens for reading only")
    var streams: [TortureStreamName: TortureStream] = [:]
    let snapshots = (try? LogDirectory(BackupAction.restored, fileSystem: copy))?.snapshots ?? []
    for name in TortureStreamName.allCases {
      var stream = model(name)
      let floor = name == .feed ? snapshots.last?.feedNumber ?? 0 : 0
      stream.relax(from: mark[name] ?? 0, floor: floor)
      var found = opening.found[name] ?? []
      found.removeAll { $0.kind == EntryKind.restored.rawValue }
      let complaint = stream.adopt(found, losesTail: false).complaints.first
      check(.copies, complaint == nil, "a copy: \(complaint?.detail ?? "")")
      streams[name] = stream
    }
    guard report.violation == nil, let outbox = streams[.outbox], let feed = streams[.feed] else {
      return
    }
    // The copy of the feed may be older than that of the outbox.
    look(at: opening.state, expectation(outbox, feed, isCut: true))
  }
}
