import DaybookFormat

/// The parts of an operation and of a change, each changed by itself.
extension ByteProbe {
  private static let identifier = Identifier(high: .max, low: .max)
  private static let version = Version(number: .max, mark: .max)

  private struct Intent {
    var id = Identifier.zero
    var incarnation = Identifier.zero
    var number: UInt64 = 0
    var clock = HybridTime(rawValue: 0)
    var seen: UInt64 = 0
    var schemaVersion: UInt32 = 0
    var strategy = Strategy.lazy
    var action = Action.create
    var base = Base.operation(.zero)
    var transaction: Operation.Membership? = Operation.Membership(id: .zero, index: 0, count: 0)
    var supersedes: Identifier?
    var account = ""
    var fields: ValueMap = [:]

    var operation: Operation {
      Operation(
        id: id, incarnation: incarnation, number: number, clock: clock, seen: seen,
        schemaVersion: schemaVersion, account: account, device: "", record: RecordKey("", ""),
        scope: "", strategy: strategy, action: action, base: base, transaction: transaction,
        supersedes: supersedes, fields: fields)
    }
  }

  static let operation = ByteProbe(
    "Operation", source: "DaybookFormat/Model/OperationCoder.swift", byteCount: nil, Intent(),
    partial: [116], bytes: \.operation.bytes,
    changes: [
      0: { $0.id = identifier },
      16: { $0.incarnation = identifier },
      32: { $0.number = .max },
      40: { $0.clock = HybridTime(rawValue: .max) },
      48: { $0.seen = .max },
      56: { $0.schemaVersion = .max },
      60: { $0.strategy = .online },
      61: { $0.action = .delete },
      62: { $0.base = .none },
      64: { $0.base = .operation(identifier) },
      80: { $0.transaction = Operation.Membership(id: identifier, index: 0, count: 0) },
      96: { $0.transaction = Operation.Membership(id: .zero, index: .max, count: 0) },
      98: { $0.transaction = Operation.Membership(id: .zero, index: 0, count: .max) },
      100: { $0.supersedes = identifier },
      116: { $0.account = "a" },
      128: { $0.fields = ["a": .int(1)] },
    ])

  private struct Effect {
    var id = Identifier.zero
    var sequence: UInt64 = 0
    var version = Version(number: 0, mark: 0)
    var seen: UInt64 = 0
    var clock = HybridTime(rawValue: 0)
    var serverTime = Timestamp(milliseconds: 0)
    var action = Action.create
    var extent = Change.Extent.delta
    var isSuperfluous = false
    var scope = ""
    var fields: ValueMap = [:]

    var change: Change {
      Change(
        operationID: id, sequence: sequence, version: version, seen: seen, deviceClock: clock,
        serverTime: serverTime, action: action, extent: extent, isSuperfluous: isSuperfluous,
        scope: scope, record: RecordKey("", ""), account: "", device: "", fields: fields)
    }
  }

  static let change = ByteProbe(
    "Change", source: "DaybookFormat/Entries/Change+Bytes.swift", byteCount: nil, Effect(),
    partial: [68], bytes: \.change.bytes,
    changes: [
      0: { $0.id = identifier },
      16: { $0.sequence = .max },
      24: { $0.version = Version(number: .max, mark: 0) },
      32: { $0.version = Version(number: 0, mark: .max) },
      40: { $0.seen = .max },
      48: { $0.clock = HybridTime(rawValue: .max) },
      56: { $0.serverTime = Timestamp(milliseconds: -1) },
      64: { $0.action = .delete },
      65: { $0.extent = .removal },
      66: { $0.isSuperfluous = true },
      68: { $0.scope = "s" },
      80: { $0.fields = ["a": .int(1)] },
    ])

  private struct Row {
    var version = Version(number: 0, mark: 0)
    var isBeingBuilt = false
    var scope = ""
    var rowBytes: [UInt8] = []

    var row: HeldRow {
      HeldRow(
        record: RecordKey("", ""), scope: scope, version: version, rowBytes: rowBytes,
        isBeingBuilt: isBeingBuilt)
    }
  }

  static let heldRow = ByteProbe(
    "Held row", source: "DaybookFormat/Entries/SnapshotEntries.swift", byteCount: nil, Row(),
    partial: [18], bytes: \.row.bytes,
    changes: [
      0: { $0.version = Version(number: .max, mark: 0) },
      8: { $0.version = Version(number: 0, mark: .max) },
      16: { $0.isBeingBuilt = true },
      18: { $0.scope = "s" },
      24: { $0.rowBytes = [0xA0] },
    ])

  private struct Answer {
    var id = Identifier.zero
    var time = Timestamp(milliseconds: 0)
    var code = RefusalCode.staleBase
    var isConflict = false

    var settlement: Settlement {
      let refusal = Settlement.Refusal(code: code, message: "")
      return Settlement(
        operationID: id, serverTime: time,
        verdict: isConflict ? .conflict(refusal) : .tooOld(refusal))
    }
  }

  static let settlement = ByteProbe(
    "Settlement", source: "DaybookFormat/Entries/Settlement+Bytes.swift", byteCount: nil,
    Answer(),
    partial: [], bytes: \.settlement.bytes,
    changes: [
      0: { $0.id = identifier },
      16: { $0.time = Timestamp(milliseconds: -1) },
      24: { $0.isConflict = true },
      32: { $0.code = .stateRule },
    ])

  private struct Kept {
    var number: UInt64 = 0
    var otherNext: UInt64 = 0
    var clock: UInt64 = 0
    var bytes: [UInt8] = [0]

    var entry: KeptEntry {
      KeptEntry(number: number, otherNext: otherNext, clock: clock, bytes: bytes[...])
    }
  }

  static let keptEntry = ByteProbe(
    "Kept entry", source: "DaybookFormat/Log/KeptEntry.swift",
    byteCount: KeptEntry.prefixByteCount, Kept(), partial: [], bytes: \.entry.stored,
    changes: [
      0: { $0.number = .max },
      8: { $0.otherNext = .max },
      16: { $0.clock = .max },
      24: { $0.bytes = [1] },
    ])
}
