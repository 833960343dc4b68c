/// A day of the Gregorian calendar, carried back before its beginning, as RFC 3339 wants it.
///
/// The arithmetic counts in eras of 400 years, each 146,097 days, with years that begin in March,
/// so that a leap day is a year's last. Source: Howard Hinnant, "chrono-compatible low-level date
/// algorithms".
struct CivilDate: Hashable {
  var year: Int64
  /// 1...12.
  var month: Int64
  /// 1...31.
  var day: Int64

  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day that begins `days` days after 1970-01-01.
  init(days: Int64) {
    let shifted = days + 719_468
    let era = CivilDate.floor(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Days since 1970-01-01, negative before it.
  var days: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = CivilDate.floor(shiftedYear, by: 400)
    let yearOfEra = shiftedYear - era * 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Whether there is such a day.
  var exists: Bool {
    guard (1...12).contains(month), day >= 1 else { return false }
    return CivilDate(days: days) == self
  }

  /// The greatest whole quotient not above the true one.
  static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
