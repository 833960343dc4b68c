import DaybookLog

/// Opens the log, and compares what it holds.
struct OpenAction: TortureAction {
  let name = "open"
  let weight = 60
  var isOpening: Bool { true }
  func isPossible(in world: TortureWorld) -> Bool { world.log == nil }
  func run(_ world: TortureWorld, mayFail: Bool) { world.open(mayFail: mayFail) }
}

/// Opens, ends and opens again: both times the same must be there.
struct OpenTwiceAction: TortureAction {
  let name = "open twice"
  let weight = 6
  var isOpening: Bool { true }
  func isPossible(in world: TortureWorld) -> Bool { world.log == nil }
  func run(_ world: TortureWorld, mayFail: Bool) {
    world.open(mayFail: mayFail)
    guard world.log != nil, !world.isOver else { return }
    world.close()
    world.open(mayFail: mayFail)
  }
}

/// Ends the log whole.
struct CloseAction: TortureAction {
  let name = "close"
  let weight = 3
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) { world.close() }
}

/// Cuts the power, or kills the process, between two actions.
struct CrashAction: TortureAction {
  let name = "crash"
  let weight = 3
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) {
    let mode = world.pick(SimulatedDisk.Crash.allCases) ?? .dropped
    world.crash(mode)
    world.tell("\(mode)")
  }
}

/// Somebody else tries to open the log for writing.
struct SecondWriterAction: TortureAction {
  let name = "second writer"
  let weight = 1
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) {
    do throws(LogError) {
      let second = try Log.open(TortureWorld.directory, world.configuration) {
        _, _ throws(LogError) in
      }
      // Where the lock fails for want of room, the log is there to be read.
      world.check(.oneWriter, mayFail && second.isReadOnly, "a second writer was let in")
      try? second.close()
    } catch {
      guard !mayFail else { return }
      var isLocked = false
      if case .locked = error { isLocked = true }
      world.check(.oneWriter, isLocked, "a second writer was told \(error)")
    }
  }
}

/// Writes the idle marks and HEAD.
struct IdleAction: TortureAction {
  let name = "idle"
  let weight = 6
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) { try? world.log?.markIdle() }
}

/// Makes the feed durable without adding to it.
struct SyncAction: TortureAction {
  let name = "sync"
  let weight = 3
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) { world.append(.feed, [], isSynced: true) }
}

/// Compares the live state with the model.
struct LookAction: TortureAction {
  let name = "look"
  let weight = 4
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }
  func run(_ world: TortureWorld, mayFail: Bool) { world.look() }
}

/// The app goes to sleep without its lock, and wakes up.
struct SuspendAction: TortureAction {
  let name = "suspend"
  let weight = 3
  func isPossible(in world: TortureWorld) -> Bool { world.log != nil }

  func run(_ world: TortureWorld, mayFail: Bool) {
    guard let log = world.log else { return }
    do throws(LogError) {
      try log.suspend()
      world.outbox.acknowledgeAll()
      world.feed.acknowledgeAll()
      world.tell("suspended")
      let isLocked = world.fileSystem.isLocked(TortureWorld.directory + "/LOCK")
      world.check(.oneWriter, !isLocked, "a log that sleeps holds its lock")
      world.append(.feed, [], isSynced: true)
      try log.resume()
      world.tell("resumed")
    } catch {
      world.tell("not resumed: \(error)")
      world.check(.opens, mayFail, "a log that slept does not wake: \(error)")
      // Whoever can't sleep or wake ends and opens anew; what was not synced may be gone.
      try? log.close()
      world.forgetLog()
      world.isClosedWhole = false
    }
  }
}
