import DaybookFormat
import DaybookSync

extension Version {
  /// The number and the mark's 16 digits: `17-00c0ffee00c0ffee`.
  var text: String { "\(number)-\(hexadecimal(mark))" }
}

extension ScopePosition {
  /// The sequence number and the mark's 16 digits: `17-00c0ffee00c0ffee`.
  var text: String { "\(sequence)-\(hexadecimal(mark))" }
}

/// `number` in 16 digits.
private func hexadecimal(_ number: UInt64) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}

extension SegmentHeader {
  /// The account for a line of text; a server's log belongs to none.
  var accountText: String { account.isEmpty ? "none" : printable(account) }
}

extension Base {
  /// `{"version":"3-..."}`, `{"operation":"..."}` or null.
  var value: Value {
    switch self {
    case .none: return .null
    case .version(let version): return .map(["version": .text(version.text)])
    case .operation(let id): return .map(["operation": .text(id.description)])
    }
  }

  /// What the author had before them, in words.
  var words: String {
    switch self {
    case .none: return "nothing"
    case .version(let version): return "version \(version.text)"
    case .operation(let id): return "operation \(id)"
    }
  }
}

extension Change.Extent {
  var word: String {
    switch self {
    case .delta: return "delta"
    case .row: return "row"
    case .removal: return "removal"
    }
  }
}

extension Decision.Kind {
  var word: String {
    switch self {
    case .discarded: return "discarded"
    case .retried: return "retried"
    case .resent: return "resent"
    case .released: return "released"
    case .dropped: return "dropped"
    }
  }
}

extension EntryKind {
  /// The kind's name, in dumps and counts.
  var word: String {
    switch self {
    case .operation: return "operation"
    case .settlement: return "settlement"
    case .attempt: return "attempt"
    case .decision: return "decision"
    case .departure: return "departure"
    case .binding: return "binding"
    case .gap: return "gap"
    case .restored: return "restored"
    case .change: return "change"
    case .cursor: return "cursor"
    case .bootstrapBegin: return "bootstrapBegin"
    case .bootstrapPage: return "bootstrapPage"
    case .bootstrapEnd: return "bootstrapEnd"
    case .heldRow: return "heldRow"
    case .scopeBase: return "scopeBase"
    case .feedSettlement: return "feedSettlement"
    case .verdict: return "verdict"
    case .incarnation: return "incarnation"
    case .history: return "history"
    }
  }

  /// The name of the kind `code`, also of one that this version does not know.
  static func word(of code: UInt8) -> String {
    EntryKind(rawValue: code)?.word ?? "unknown \(code)"
  }
}
