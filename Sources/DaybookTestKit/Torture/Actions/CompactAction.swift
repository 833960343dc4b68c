import Daybook
import DaybookFormat
import DaybookLog

/// The log is kept small, while it is open or not, as far as files alone tell what is needed: by
/// limits of a few kilobytes, so that hardly anything is ever left as it was written.
struct CompactAction: TortureAction {
  let name = "compact"
  let weight = 6
  /// While a copy is made, what it may still want to read is not removed.
  var keepsSuperseded = false

  func isPossible(in world: TortureWorld) -> Bool {
    world.isStateKnown
      && world.disk.content(of: "\(TortureWorld.directory)/\(LogDirectory.formatFile)") != nil
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    if world.planted == .droppedOperation {
      dropOperations(world)
      return
    }
    let limits = limits(world)
    var remaining = world.isOnce(in: 6) ? world.draw(below: 200) : .max
    var random = SplitMix64(seed: world.random.next())
    let now = world.now
    var upkeep = LogUpkeep(
      TortureWorld.directory, fileSystem: world.fileSystem, schema: TortureWorld.schema,
      limits: limits, horizonMilliseconds: world.pick([0, 20, 86_400_000]) ?? 0,
      random: { random.next() }, clock: { HybridTime(rawValue: now) },
      isStopped: {
        remaining -= 1
        return remaining < 0
      })
    var isWhole = false
    do throws(LogError) {
      let outcome = try upkeep.run(thorough: true)
      isWhole = remaining > 0 && outcome.unfit.isEmpty
      world.tell("\(outcome.snapshots.count) snapshots, \(outcome.compactions.count) outputs")
    } catch {
      world.tell("not compacted: \(error)")
      world.check(
        .bounded, mayFail || !world.damagedFiles.isEmpty, "the log can't be kept small: \(error)")
    }
    world.noteCompaction()
    if isWhole, !mayFail, world.damagedFiles.isEmpty { checkSize(world, limits) }
  }

  /// The planted bug: what a compaction keeps has nothing to do with what is needed.
  private func dropOperations(_ world: TortureWorld) {
    var random = SplitMix64(seed: world.random.next())
    guard let found = try? LogDirectory(TortureWorld.directory, fileSystem: world.fileSystem),
      let closed = try? found.closedFiles(of: TortureStreamName.outbox.rawValue), !closed.isEmpty
    else { return }
    _ = try? Compactor(found, random: { random.next() }).compact(
      TortureStreamName.outbox.rawValue, closed.map(\.file), isEchoed: true, isCompressed: false
    ) { entry in entry.kind != EntryKind.operation.rawValue || entry.number % 3 != 0 }
  }

  private func limits(_ world: TortureWorld) -> MaintenanceLimits {
    var limits = MaintenanceLimits()
    limits.rawFileLimit = 2 + world.draw(below: 4)
    limits.mergeFileLimit = 2 + world.draw(below: 3)
    limits.garbageByteLimit = 1
    limits.snapshotByteLimit = 1
    if !keepsSuperseded { limits.supersededByteLimit = UInt64(world.draw(below: 3)) * 100_000 }
    return limits
  }

  /// What a whole round leaves: few files as they were written, few superseded ones, two snapshots.
  private func checkSize(_ world: TortureWorld, _ limits: MaintenanceLimits) {
    guard let found = try? LogDirectory(TortureWorld.directory, fileSystem: world.still) else {
      return
    }
    world.check(.bounded, found.snapshots.count <= 2, "\(found.snapshots.count) snapshots are left")
    for stream in found.streams {
      let left = ((try? found.sized(stream.superseded)) ?? []).reduce(0) { $0 + $1.byteCount }
      if stream.name == SnapshotFile.stream, found.snapshots.isEmpty { continue }
      world.check(
        .bounded, left <= limits.supersededByteLimit,
        "\(left) superseded bytes of \(stream.name) are left")
    }
    let closed = (try? found.closedFiles(of: TortureStreamName.outbox.rawValue)) ?? []
    world.check(
      .bounded, closed.count < limits.mergeFileLimit + 2 * limits.rawFileLimit,
      "\(closed.count) closed files of the outbox are left")
  }
}

extension TortureWorld {
  /// From now on entries may be gone that nobody needs: of the feed what a snapshot stands for, of
  /// the outbox what is about operations that took effect below the cursor or were decided about.
  func noteCompaction() {
    guard let found = try? LogDirectory(TortureWorld.directory, fileSystem: still) else { return }
    let expectation = self.expectation
    let needed = expectation.needed
    feed.noteCompaction(through: found.snapshots.last?.feedNumber ?? 0) { _ in false }
    outbox.noteCompaction(through: 0) { entry in
      switch entry.meaning {
      case .operation(let operation): !needed.contains(operation.id)
      case .accepted(let id, _), .refused(let id): !needed.contains(id)
      case .left(let members, _, _): needed.isDisjoint(with: members)
      case .decided(let root, _): needed.isDisjoint(with: expectation.members(of: root))
      default: true
      }
    }
  }
}
