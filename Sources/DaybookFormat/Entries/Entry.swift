/// One entry of a stream, decoded. What the log's readers, the projections and the tools all use.
package enum Entry: Sendable, Hashable {
  case operation(Operation)
  case settlement(Settlement)
  case attempt(Attempt)
  case decision(Decision)
  case departure(Departure)
  case binding(Binding)
  case gap(Gap)
  case restored(Restoration)
  case change(Change)
  case cursor(Cursor)
  case bootstrap(BootstrapStep)
  case heldRow(HeldRow)
  case scopeBase(ScopeBase)
  case feedSettlement(FeedSettlement)
  case verdict(VerdictRow)
  case incarnation(IncarnationRow)
  case history(HistoryIdentity)

  /// Decodes an entry; `nil` for a kind that this version does not know and may skip.
  package init?(kind: UInt8, bytes: ArraySlice<UInt8>) throws(EntryError) {
    guard let known = EntryKind(rawValue: kind) else {
      if kind >= 0x80 { return nil }
      throw .invalid(field: .kind, offset: 0)
    }
    switch known {
    case .operation: self = .operation(try Operation(bytes: Array(bytes)))
    case .settlement: self = .settlement(try Settlement(bytes: bytes))
    case .attempt: self = .attempt(try Attempt(bytes: bytes))
    case .decision: self = .decision(try Decision(bytes: bytes))
    case .departure: self = .departure(try Departure(bytes: bytes))
    case .binding: self = .binding(try Binding(bytes: bytes))
    case .gap: self = .gap(try Gap(bytes: bytes))
    case .restored: self = .restored(try Restoration(bytes: bytes))
    case .change: self = .change(try Change(bytes: bytes))
    case .cursor: self = .cursor(try Cursor(bytes: bytes))
    case .bootstrapBegin, .bootstrapPage, .bootstrapEnd:
      guard let step = try BootstrapStep(kind: known, bytes: bytes) else { return nil }
      self = .bootstrap(step)
    case .heldRow: self = .heldRow(try HeldRow(bytes: bytes))
    case .scopeBase: self = .scopeBase(try ScopeBase(bytes: bytes))
    case .feedSettlement: self = .feedSettlement(try FeedSettlement(bytes: bytes))
    case .verdict: self = .verdict(try VerdictRow(bytes: bytes))
    case .incarnation: self = .incarnation(try IncarnationRow(bytes: bytes))
    case .history: self = .history(try HistoryIdentity(bytes: bytes))
    }
  }

  /// The entry's kind.
  package var kind: EntryKind {
    switch self {
    case .operation: return .operation
    case .settlement: return .settlement
    case .attempt: return .attempt
    case .decision: return .decision
    case .departure: return .departure
    case .binding: return .binding
    case .gap: return .gap
    case .restored: return .restored
    case .change: return .change
    case .cursor: return .cursor
    case .bootstrap(let step): return step.kind
    case .heldRow: return .heldRow
    case .scopeBase: return .scopeBase
    case .feedSettlement: return .feedSettlement
    case .verdict: return .verdict
    case .incarnation: return .incarnation
    case .history: return .history
    }
  }

  /// The entry's bytes, without its kind.
  package var bytes: [UInt8] {
    switch self {
    case .operation(let entry): return entry.bytes
    case .settlement(let entry): return entry.bytes
    case .attempt(let entry): return entry.bytes
    case .decision(let entry): return entry.bytes
    case .departure(let entry): return entry.bytes
    case .binding(let entry): return entry.bytes
    case .gap(let entry): return entry.bytes
    case .restored(let entry): return entry.bytes
    case .change(let entry): return entry.bytes
    case .cursor(let entry): return entry.bytes
    case .bootstrap(let entry): return entry.bytes
    case .heldRow(let entry): return entry.bytes
    case .scopeBase(let entry): return entry.bytes
    case .feedSettlement(let entry): return entry.bytes
    case .verdict(let entry): return entry.bytes
    case .incarnation(let entry): return entry.bytes
    case .history(let entry): return entry.bytes
    }
  }
}
