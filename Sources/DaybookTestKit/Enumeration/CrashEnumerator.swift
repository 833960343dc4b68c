/// Stops the machine at every call that a workload makes, and hands out what each way of forgetting
/// leaves of the disk; then once more inside whatever is done afterwards.
///
/// The workload must do the same each time. `Outcome` is what it remembers: what was acknowledged,
/// what was refused. Source: `Docs/Testing.md`, section "Crashes".
package struct CrashEnumerator<Outcome: Sendable>: Sendable {
  /// A machine that stopped.
  package struct Stop: Sendable {
    /// The call that it stopped at, from 1.
    package let call: Int
    /// Its disk, as programs saw it.
    package let disk: SimulatedDisk
    /// What had been told until then.
    package let outcome: Outcome
  }

  /// One machine for each call that changes something, in order, and one that was not stopped.
  package let stops: [Stop]
  /// The calls of the whole workload.
  package let callCount: Int

  /// Runs `workload` once for each call, and once more to count them.
  ///
  /// Of calls that only look, the last one before the next change stands for all: nothing else is
  /// on the disk, and more was told.
  package init(_ workload: (SimulatedDisk) -> Outcome) {
    let whole = SimulatedDisk()
    _ = workload(whole)
    callCount = whole.callCount
    var stops: [Stop] = []
    var changeCount = -1
    for call in 1...callCount + 1 {
      let disk = SimulatedDisk(seed: UInt64(call), fault: .stop(at: call))
      let stop = Stop(call: call, disk: disk, outcome: workload(disk))
      if disk.changeCount == changeCount { stops.removeLast() }
      changeCount = disk.changeCount
      stops.append(stop)
    }
    self.stops = stops
  }

  /// Gives every stop to `check` in every mode: the disk after the crash, what had been told, and
  /// the place in words. Modes that draw are drawn `drawCount` times.
  /// Returns the number of crashes.
  @discardableResult
  package func forEachCrash(
    in modes: [SimulatedDisk.Crash] = SimulatedDisk.Crash.allCases, drawCount: Int = 1,
    _ check: (SimulatedDisk, Outcome, String) throws -> Void
  ) rethrows -> Int {
    var count = 0
    for stop in stops {
      for mode in modes {
        for draw in 0..<(mode.isDrawn ? drawCount : 1) {
          let after = stop.disk.crashed(mode, seed: UInt64(stop.call * 31 + draw))
          try check(after, stop.outcome, "\(mode) at call \(stop.call), draw \(draw)")
          count += 1
        }
      }
    }
    return count
  }

  /// After every `stride`th stop does `reopen`, stopped at each of its calls in turn, and gives
  /// what a second crash leaves to `check`. Modes take turns. Returns the number of crashes.
  @discardableResult
  package func forEachNestedCrash(
    every stride: Int, reopen: (SimulatedDisk, inout Outcome) -> Void,
    _ check: (SimulatedDisk, Outcome, String) throws -> Void
  ) rethrows -> Int {
    let modes = SimulatedDisk.Crash.allCases
    var count = 0
    for (place, stop) in stops.enumerated() where place % stride == 0 {
      let mode = modes[(place / stride) % modes.count]
      var changeCount = -1
      var pending: (SimulatedDisk, Outcome, String)?
      var call = 1
      while true {
        let between = stop.disk.crashed(mode, seed: UInt64(stop.call), fault: .stop(at: call))
        var outcome = stop.outcome
        reopen(between, &outcome)
        let isDone = between.callCount < call
        // Of calls that only look, the last one stands for all.
        if between.changeCount != changeCount, let pending {
          try check(pending.0, pending.1, pending.2)
          count += 1
        }
        changeCount = between.changeCount
        let second = modes[call % modes.count]
        pending = (
          between.crashed(second, seed: UInt64(call)), outcome,
          "\(mode) at call \(stop.call), then \(second) at \(call)"
        )
        if isDone { break }
        call += 1
      }
      if let pending {
        try check(pending.0, pending.1, pending.2)
        count += 1
      }
    }
    return count
  }
}

extension SimulatedDisk.Crash {
  /// What it leaves is drawn.
  package var isDrawn: Bool {
    switch self {
    case .killed, .persisted, .dropped: false
    case .tornSectors, .tornPages, .garbage, .garbagePages: true
    }
  }
}
