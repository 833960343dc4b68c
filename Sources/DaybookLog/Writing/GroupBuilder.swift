import DaybookFormat

/// Lays out the bytes of one group: frames, and for an echoed stream their copies on pages of their
/// own.
struct GroupBuilder {
  let salt: Identifier
  let isEchoed: Bool
  let isCompressed: Bool
  let durableNumber: UInt64
  let otherNext: UInt64
  let clock: UInt64
  /// Where the group begins.
  let offset: Int
  private(set) var frameNumber: UInt64
  private(set) var nextNumber: UInt64
  private var frames: [(header: FrameHeader, stored: [UInt8])] = []

  init(
    salt: Identifier, isEchoed: Bool, isCompressed: Bool, durableNumber: UInt64,
    otherNext: UInt64, clock: UInt64, offset: Int, frameNumber: UInt64, nextNumber: UInt64
  ) {
    self.salt = salt
    self.isEchoed = isEchoed
    self.isCompressed = isCompressed
    self.durableNumber = durableNumber
    self.otherNext = otherNext
    self.clock = clock
    self.offset = offset
    self.frameNumber = frameNumber
    self.nextNumber = nextNumber
  }

  /// Adds `transactions`, each whole in one frame.
  mutating func append(_ transactions: [[NewEntry]]) {
    var payload: [UInt8] = []
    var count = 0
    for transaction in transactions {
      let byteCount = GroupBuilder.byteCount(of: transaction)
      if count > 0, payload.count + byteCount > LogLayout.frameByteTarget {
        appendFrame(payload, count: count)
        payload = []
        count = 0
      }
      for entry in transaction {
        FramePayload.append(kind: entry.kind, bytes: entry.bytes, to: &payload)
      }
      count += transaction.count
    }
    if count > 0 { appendFrame(payload, count: count) }
  }

  /// Adds a mark.
  mutating func append(mark kind: FrameHeader.Kind) {
    frames.append(
      (
        FrameHeader(
          kind: kind, frameNumber: frameNumber, firstNumber: nextNumber,
          durableNumber: durableNumber, otherNext: otherNext, clock: clock), []
      ))
    frameNumber += 1
  }

  /// Adds the seal of the file.
  mutating func append(seal payload: [UInt8]) {
    let checksum = CRC32C.checksum(payload)
    frames.append(
      (
        FrameHeader(
          kind: .seal, storedByteCount: UInt32(payload.count), rawByteCount: UInt32(payload.count),
          frameNumber: frameNumber, firstNumber: nextNumber, durableNumber: durableNumber,
          otherNext: otherNext, clock: clock, storedChecksum: checksum, rawChecksum: checksum),
        payload
      ))
    frameNumber += 1
  }

  /// Where the frames with entries begin, and the numbers of their first entries.
  var places: [Seal.Place] {
    var places: [Seal.Place] = []
    var next = offset
    for (header, _) in frames {
      if header.kind == .batch {
        places.append(Seal.Place(number: header.firstNumber, offset: UInt64(next)))
      }
      next += header.frameByteCount
    }
    return places
  }

  private mutating func appendFrame(_ payload: [UInt8], count: Int) {
    let block = isCompressed ? FramePayload.compress(payload) : nil
    let stored = block ?? payload
    frames.append(
      (
        FrameHeader(
          kind: .batch, codec: block == nil ? .raw : .lz4, storedByteCount: UInt32(stored.count),
          rawByteCount: UInt32(payload.count), entryCount: UInt32(count),
          frameNumber: frameNumber, firstNumber: nextNumber, durableNumber: durableNumber,
          otherNext: otherNext, clock: clock, storedChecksum: CRC32C.checksum(stored),
          rawChecksum: CRC32C.checksum(payload)), stored
      ))
    frameNumber += 1
    nextNumber += UInt64(count)
  }

  /// The bytes of the group, from ``offset`` on. A group of an echoed stream fills whole pages.
  func bytes() -> [UInt8] {
    var bytes: [UInt8] = []
    write(frames, to: &bytes)
    guard isEchoed else { return bytes }
    pad(&bytes)
    let echoes = frames.filter { $0.header.kind == .batch }.map { frame in
      var echo = frame
      echo.header.kind = .echo
      return echo
    }
    write(echoes, to: &bytes)
    pad(&bytes)
    return bytes
  }

  private func write(
    _ frames: [(header: FrameHeader, stored: [UInt8])], to bytes: inout [UInt8]
  ) {
    for (header, stored) in frames {
      let start = bytes.count
      bytes += header.bytes(at: offset + start, salt: salt)
      bytes += stored
      bytes += [UInt8](repeating: 0, count: start + header.frameByteCount - bytes.count)
    }
  }

  private func pad(_ bytes: inout [UInt8]) {
    let end = LogLayout.align(offset + bytes.count, to: LogLayout.pageByteCount)
    bytes += [UInt8](repeating: 0, count: end - offset - bytes.count)
  }

  /// The bytes of a transaction in a payload.
  static func byteCount(of transaction: [NewEntry]) -> Int {
    transaction.reduce(0) { $0 + LogLayout.entryHeaderByteCount + $1.bytes.count }
  }
}
