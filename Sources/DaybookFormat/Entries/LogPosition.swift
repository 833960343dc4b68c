/// A place in a log: behind the entry `number` of one stream. It means a place of the other stream
/// too, which the frames name.
package struct LogPosition: Sendable, Hashable, CustomStringConvertible {
  /// The stream's name.
  package let stream: String
  /// The last entry of it that counts; 0 for none.
  package let number: UInt64

  /// The place behind entry `number` of `stream`.
  package init(stream: String, number: UInt64) {
    self.stream = stream
    self.number = number
  }

  /// As a command line names it: `outbox:12`.
  package var description: String { "\(stream):\(number)" }

  /// The place that `text` names, `outbox:12` or `feed:3`; `nil` if it names none.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[1].allSatisfy(\.isASCII),
      parts[1].allSatisfy(\.isNumber), let number = UInt64(parts[1]),
      number <= LogLayout.numberLimit
    else { return nil }
    self.init(stream: String(parts[0]), number: number)
  }
}
