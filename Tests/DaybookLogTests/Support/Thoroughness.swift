import Foundation

/// How much of what can be enumerated is: a part in every test run, all of it where the variable
/// `DAYBOOK_FULL` is set.
enum Thoroughness {
  static let isFull = ProcessInfo.processInfo.environment["DAYBOOK_FULL"] != nil
}
