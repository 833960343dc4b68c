import DaybookFormat
import Testing

/// Structures that are written with one field changed after the other, to see which bytes change.
struct ByteProbe: Sendable, CustomTestStringConvertible {
  /// The section of the page.
  let section: String
  /// The source file whose doc comment has the same table.
  let source: String
  /// The size of the fixed part, as the code knows it; `nil` if it has no name there.
  let byteCount: Int?
  /// The bytes as they are.
  let bytes: [UInt8]
  /// The bytes with the field at an offset changed, in all its bytes where it has no set of values.
  let changed: [Int: [UInt8]]
  /// Offsets of fields that change together.
  let together: [Int: Int]
  /// Offsets of fields of which a change does not reach every byte: sets of values and counts.
  let partial: Set<Int>

  var testDescription: String { section }

  init<Subject>(
    _ section: String, source: String, byteCount: Int?, _ subject: Subject,
    together: [Int: Int] = [:], partial: Set<Int>, bytes: (Subject) -> [UInt8],
    changes: [Int: (inout Subject) -> Void]
  ) {
    self.together = together
    self.partial = partial
    self.section = section
    self.source = source
    self.byteCount = byteCount
    self.bytes = bytes(subject)
    changed = changes.mapValues { change in
      var copy = subject
      change(&copy)
      return bytes(copy)
    }
  }

  static let all = [
    segmentHeader, frame, entry, head, operation, change, settlement, heldRow, keptEntry,
  ]

  private static let identifier = Identifier(high: .max, low: .max)
  private static let ones = SHA256Digest(bytes: [UInt8](repeating: 0xFF, count: 32)) ?? .zero

  static let segmentHeader = ByteProbe(
    "Segment header", source: "DaybookFormat/Log/SegmentHeader.swift",
    byteCount: SegmentHeader.byteCount,
    SegmentHeader(
      logID: .zero, incarnation: .zero, salt: .zero, stream: "", ordinal: 0, isEchoed: false,
      firstNumber: 0, clock: 0,
      predecessor: SegmentHeader.Predecessor(
        ordinal: 0, validEnd: 0, lastNumber: 0,
        tail: SegmentHeader.Predecessor.Tail(byteCount: 0, checksum: 0)),
      account: ""),
    // A name comes with its size.
    together: [232: 240, 240: 232], partial: [124, 180, 232],
    bytes: { Array($0.pages.prefix(SegmentHeader.byteCount)) },
    changes: [
      14: { $0.kind = .snapshot },
      16: { $0.incompatibleFeatures = .max },
      24: { $0.readOnlyFeatures = .max },
      32: { $0.compatibleFeatures = .max },
      40: { $0.logID = identifier },
      56: { $0.incarnation = identifier },
      72: { $0.salt = identifier },
      88: { $0.stream = String(repeating: "s", count: 16) },
      104: { $0.ordinal = .max },
      112: { $0.lastOrdinal = .max },
      120: { $0.generation = .max },
      124: {
        $0.isEchoed = true
        $0.beginsAfterDamage = true
      },
      128: { $0.firstNumber = .max },
      136: { $0.clock = .max },
      144: { $0.predecessor?.ordinal = .max },
      152: { $0.predecessor?.validEnd = .max },
      160: { $0.predecessor?.tail?.byteCount = .max },
      168: { $0.predecessor?.lastNumber = .max },
      176: { $0.predecessor?.tail?.checksum = .max },
      180: { $0.predecessor?.tail = nil },
      184: { $0.predecessor?.chain = ChainValue(digest: ones) },
      232: { $0.account = "a" },
      240: { $0.account = String(repeating: "a", count: 128) },
    ])

  static let frame = ByteProbe(
    "Frame", source: "DaybookFormat/Log/FrameHeader.swift", byteCount: FrameHeader.byteCount,
    FrameHeader(
      kind: .batch, frameNumber: 0, firstNumber: 0, durableNumber: 0, otherNext: 0, clock: 0),
    partial: [], bytes: { $0.bytes(at: 8_192, salt: .zero) },
    changes: [
      8: { $0.kind = .echo },
      9: { $0.codec = .lz4 },
      12: { $0.storedByteCount = .max },
      16: { $0.rawByteCount = .max },
      20: { $0.entryCount = .max },
      24: { $0.frameNumber = .max },
      32: { $0.firstNumber = .max },
      40: { $0.durableNumber = .max },
      48: { $0.otherNext = .max },
      56: { $0.clock = .max },
      64: { $0.storedChecksum = .max },
      68: { $0.rawChecksum = .max },
    ])

  static let entry = ByteProbe(
    "Entries in a frame", source: "DaybookFormat/Log/FramePayload.swift",
    byteCount: LogLayout.entryHeaderByteCount,
    (kind: UInt8(0), bytes: [UInt8](repeating: 0, count: 4)),
    partial: [0],
    bytes: { entry in
      var payload: [UInt8] = []
      FramePayload.append(kind: entry.kind, bytes: entry.bytes, to: &payload)
      return payload
    },
    changes: [
      0: { $0.bytes.append(0) },
      4: { $0.kind = .max },
      12: { $0.bytes = [1, 1, 1, 1] },
    ])

  static let head = ByteProbe(
    "HEAD", source: "DaybookFormat/Log/HeadSlot.swift", byteCount: HeadSlot.byteCount,
    HeadSlot(sequence: 0, streams: [stream(0, "", isClosed: false)]),
    together: [24: 16], partial: [16, 24], bytes: \.bytes,
    changes: [
      8: { $0.sequence = .max },
      16: { $0.streams = [] },
      24: {
        $0.streams = Array(
          repeating: stream(.max, String(repeating: "n", count: 16), isClosed: true),
          count: LogLayout.streamLimit)
      },
    ])

  private static func stream(_ number: UInt64, _ name: String, isClosed: Bool) -> HeadSlot.Stream {
    HeadSlot.Stream(
      name: name, ordinal: number, durableNumber: number, validEnd: number, isClosed: isClosed)
  }
}
