import DaybookLog

/// Reading what may be written at the same time.
enum Rereading {
  /// A writer at work makes another reading differ, damage does not: this many are enough to tell.
  private static let attemptLimit = 5

  /// Reads until nothing is found, or until two readings in a row found the same.
  static func read<Reading, Finding: Equatable>(
    findings: (Reading) -> [Finding], _ once: () throws(LogError) -> Reading
  ) throws(LogError) -> Reading {
    var last: Reading
    do throws(LogError) {
      last = try once()
    } catch {
      // A prepared segment goes when its log is closed, between a listing and a read.
      guard case .notFound = error else { throw error }
      last = try once()
    }
    for _ in 1..<attemptLimit {
      let found = findings(last)
      if found.isEmpty { return last }
      let next = try once()
      if findings(next) == found { return next }
      last = next
    }
    return last
  }
}
