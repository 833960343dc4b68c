import DaybookLog

/// Lets each call that a workload makes fail in turn, in every way that one can fail, with the work
/// going on around it.
///
/// Source: `Docs/Testing.md`, section "Failing calls".
package struct FaultEnumerator<Outcome: Sendable>: Sendable {
  /// A way to fail.
  package enum Kind: Sendable, Hashable, CaseIterable {
    /// An error of the device.
    case failure
    /// No room.
    case fullDisk
    /// A part is stored, and there is no more room.
    case shortWrite
    /// A sync stores a part, says that it failed, and takes the rest for clean.
    case failedSync
    /// The call, and one a few calls later.
    case twice(distance: Int)

    /// One of each.
    package static var allCases: [Kind] {
      [.failure, .fullDisk, .shortWrite, .failedSync] + [1, 2, 3, 5].map { .twice(distance: $0) }
    }

    func fault(at call: Int) -> SimulatedDisk.Fault {
      switch self {
      case .failure: .fail(at: call, .other(5))
      case .fullDisk: .fail(at: call, .diskFull)
      case .shortWrite: .shortWrite(at: call)
      case .failedSync: .failedSync(at: call)
      case .twice(let distance): .failTwice(at: call, distance: distance, .other(5))
      }
    }
  }

  /// The calls of the workload when none fails.
  package let callCount: Int
  private let workload: @Sendable (SimulatedDisk) -> Outcome

  /// Runs `workload` once, to count its calls.
  package init(_ workload: @escaping @Sendable (SimulatedDisk) -> Outcome) {
    let disk = SimulatedDisk()
    _ = workload(disk)
    callCount = disk.callCount
    self.workload = workload
  }

  /// Runs the workload once for each call with that call failing as `kind` says, then crashes in
  /// each of `modes`, and gives the disk, what was told, and the place in words to `check`.
  /// Returns the number of crashes.
  @discardableResult
  package func forEach(
    _ kind: Kind, then modes: [SimulatedDisk.Crash],
    _ check: (SimulatedDisk, Outcome, String) throws -> Void
  ) rethrows -> Int {
    for call in 1...callCount {
      let disk = SimulatedDisk(seed: UInt64(call), fault: kind.fault(at: call))
      let outcome = workload(disk)
      for mode in modes {
        try check(
          disk.crashed(mode, seed: UInt64(call)), outcome, "\(kind) at call \(call), then \(mode)")
      }
    }
    return callCount * modes.count
  }
}
