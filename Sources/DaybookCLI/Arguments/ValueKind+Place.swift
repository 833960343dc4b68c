import DaybookFormat
import DaybookLog

extension ValueKind where Value == LogPlace {
  /// A position as `outbox:17`, or a time; without a zone it is in UTC.
  static var place: Self {
    Self(
      placeholder: "POSITION|TIME", expectation: .place, parse: LogPlace.init(commandLine:),
      show: { $0.text })
  }
}

extension LogPlace {
  /// The place that `text` names: `outbox:17`, `2026-03-02T14:05:00Z`, `2026-03-02 14:05`.
  init?(commandLine text: String) {
    if let position = LogPosition(text),
      ["outbox", "feed", "changes"].contains(position.stream)
    {
      self = .position(position)
      return
    }
    for end in ["", "Z", ":00Z", " 00:00:00Z"] {
      if let time = Timestamp(rfc3339: text + end) {
        self = .time(time)
        return
      }
    }
    return nil
  }

  /// As one would type it.
  var text: String {
    switch self {
    case .position(let position): return position.description
    case .time(let time): return time.rfc3339
    }
  }
}
