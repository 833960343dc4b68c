/// What one torture run did and found.
package struct TortureReport: Sendable, Hashable {
  /// How often one invariant was looked at.
  package struct Tally: Sendable, Hashable {
    /// The invariant.
    package let invariant: TortureInvariant
    /// How often it was checked.
    package var checks = 0
    /// How often it did not hold.
    package var violations = 0
  }

  /// The first thing that did not hold.
  package struct Violation: Sendable, Hashable {
    /// The invariant.
    package let invariant: TortureInvariant
    /// The step, from 1: with this many steps the run ends in it.
    package let step: Int
    /// What was seen, with the action and what was done to the disk.
    package let detail: String
    /// The last steps before it, the oldest first, each in words.
    package let trail: [String]
    /// All files as programs saw them then, by their paths: the log is in `log`. None unless the
    /// run was to keep them.
    package let files: [String: [UInt8]]
  }

  /// The most steps that a violation tells of.
  static let trailLimit = 80

  /// The seed.
  package let seed: UInt64
  /// The steps done; a run ends at the first violation.
  package internal(set) var steps = 0
  /// Crashes, in the middle of an action or between two.
  package internal(set) var crashes = 0
  /// Calls that failed on their own.
  package internal(set) var faults = 0
  /// Places of the disk that were damaged.
  package internal(set) var damages = 0
  /// Times that the log was opened.
  package internal(set) var openings = 0
  /// How often each action was taken, by its name.
  package internal(set) var actions: [String: Int] = [:]
  /// Every invariant, in the order of ``TortureInvariant``.
  package internal(set) var invariants = TortureInvariant.allCases.map { Tally(invariant: $0) }
  /// The last steps, in words.
  var trail: [String] = []
  /// The first violation, if there is one.
  package internal(set) var violation: Violation?

  /// Nothing done yet.
  init(seed: UInt64) { self.seed = seed }

  /// The checks of all invariants.
  package var checks: Int { invariants.reduce(0) { $0 + $1.checks } }

  /// The violations of all invariants.
  package var violations: Int { invariants.reduce(0) { $0 + $1.violations } }

  /// This report with the figures of `other` added; seed and violation stay the first ones.
  package func adding(_ other: TortureReport) -> TortureReport {
    var sum = self
    sum.steps += other.steps
    sum.crashes += other.crashes
    sum.faults += other.faults
    sum.damages += other.damages
    sum.openings += other.openings
    sum.actions.merge(other.actions, uniquingKeysWith: +)
    for place in sum.invariants.indices {
      sum.invariants[place].checks += other.invariants[place].checks
      sum.invariants[place].violations += other.invariants[place].violations
    }
    sum.violation = violation ?? other.violation
    return sum
  }
}
