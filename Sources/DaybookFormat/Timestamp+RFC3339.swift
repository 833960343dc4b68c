extension Timestamp {
  /// This instant as `2017-01-01T11:53:26Z`, in UTC, with three digits of milliseconds if there are
  /// any.
  ///
  /// RFC 3339 ends at the years 0000 and 9999; outside of them the year has a sign and the digits
  /// it needs, at least six (ISO 8601), which ``init(rfc3339:)`` does not take.
  package var rfc3339: String {
    let days = CivilDate.floor(milliseconds, by: 86_400_000)
    // Wraps where the product alone would leave 64 bits; the difference is a day at most.
    let rest = milliseconds &- days &* 86_400_000
    let date = CivilDate(days: days)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    if (0...9999).contains(date.year) {
      Timestamp.append(date.year, width: 4, to: &text)
    } else {
      text.append(UInt8(ascii: date.year < 0 ? "-" : "+"))
      Timestamp.append(Int64(date.year.magnitude), width: 6, to: &text)
    }
    for (mark, number) in [
      ("-", date.month), ("-", date.day), ("T", rest / 3_600_000), (":", rest / 60_000 % 60),
      (":", rest / 1000 % 60),
    ] as [(Unicode.Scalar, Int64)] {
      text.append(UInt8(ascii: mark))
      Timestamp.append(number, width: 2, to: &text)
    }
    if rest % 1000 != 0 {
      text.append(UInt8(ascii: "."))
      Timestamp.append(rest % 1000, width: 3, to: &text)
    }
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ number: Int64, width: Int, to text: inout [UInt8]) {
    let digits = Array(String(number).utf8)
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, width - digits.count)))
    text.append(contentsOf: digits)
  }

  /// The instant that `rfc3339` spells, `nil` if it is none.
  ///
  /// Takes the years 0001 to 9999, `T` or `t` or one space, `Z` or an offset up to 23:59, and a
  /// fraction of any length, cut to milliseconds. A leap second counts as the second after it.
  package init?(rfc3339 text: String) {
    var scanner = Scanner(Array(text.utf8))
    guard let year = scanner.number(digits: 4), year >= 1, scanner.take("-"),
      let month = scanner.number(digits: 2), scanner.take("-"),
      let day = scanner.number(digits: 2), scanner.take("T", "t", " "),
      let hour = scanner.number(digits: 2), hour < 24, scanner.take(":"),
      let minute = scanner.number(digits: 2), minute < 60, scanner.take(":"),
      let second = scanner.number(digits: 2), second <= 60,
      let milliseconds = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd
    else { return nil }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists else { return nil }
    let seconds = ((date.days * 24 + hour) * 60 + minute - offset) * 60 + second
    self.init(milliseconds: seconds * 1000 + milliseconds)
  }

  /// A place in a text of ASCII.
  private struct Scanner {
    private let characters: [UInt8]
    private var index = 0

    init(_ characters: [UInt8]) { self.characters = characters }

    var isAtEnd: Bool { index == characters.count }

    /// Takes one of these characters.
    mutating func take(_ wanted: Unicode.Scalar...) -> Bool {
      guard index < characters.count,
        wanted.contains(where: { UInt8(ascii: $0) == characters[index] })
      else { return false }
      index += 1
      return true
    }

    private mutating func digit() -> Int64? {
      guard index < characters.count, (48...57).contains(characters[index]) else { return nil }
      index += 1
      return Int64(characters[index - 1] - 48)
    }

    mutating func number(digits count: Int) -> Int64? {
      var number: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// Milliseconds of a fraction, 0 if there is none.
    mutating func fraction() -> Int64? {
      guard take(".") else { return 0 }
      guard var milliseconds = digit().map({ $0 * 100 }) else { return nil }
      var weight: Int64 = 10
      while let digit = digit() {
        milliseconds += digit * weight
        weight /= 10
      }
      return milliseconds
    }

    /// Minutes east of Greenwich.
    mutating func offset() -> Int64? {
      if take("Z", "z") { return 0 }
      let sign: Int64 = take("-") ? -1 : 1
      guard sign < 0 || take("+"), let hours = number(digits: 2), hours < 24, take(":"),
        let minutes = number(digits: 2), minutes < 60
      else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }
}
