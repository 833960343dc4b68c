import DaybookFormat

/// Writes a file that is whole or not used: a snapshot, or what a compaction makes.
///
/// Everything goes into `<final name>.tmp`, is sealed, synced and closed; whoever wrote it opens it
/// again, verifies it and then calls ``publish(_:in:)``. A crash before the rename leaves a file
/// that no reader takes for anything.
struct SealedFileWriter: ~Copyable {
  /// Bytes that are collected before they are written: 1 MiB.
  private static let chunkByteLimit = 1 << 20

  private let file: any OpenFile
  private let header: SegmentHeader
  private let isCompressed: Bool
  /// What each frame says of both streams.
  private let durableNumber: UInt64
  private let otherNext: UInt64
  private var digest = SHA256Digest.Hasher()
  private var hasher = ChainHasher()
  private var tree = MerkleTree()
  private var chunk: [UInt8] = []
  private var chunkOffset: Int
  private var frameNumber: UInt64 = 0
  private var payload: [UInt8] = []
  private var pending: (count: Int, first: UInt64, otherNext: UInt64, clock: UInt64)?
  private var index: [Seal.Place] = []
  private var count: UInt64 = 0
  private var clocks: (low: UInt64, high: UInt64)?

  /// Begins `path`, which must not be there. Frames say that all entries up to `durableNumber` are
  /// durable, and name `otherNext`.
  init(
    _ path: String, header: SegmentHeader, isCompressed: Bool, durableNumber: UInt64,
    otherNext: UInt64, fileSystem: any FileSystem
  ) throws(FileError) {
    self.header = header
    self.isCompressed = isCompressed
    self.durableNumber = durableNumber
    self.otherNext = otherNext
    chunk = header.pages
    chunkOffset = 0
    file = try fileSystem.create(path)
  }

  private var offset: Int { chunkOffset + chunk.count }

  /// Adds an entry of a snapshot; they are numbered from 1.
  mutating func append(
    kind: UInt8, bytes: [UInt8], clock: UInt64
  ) throws(FileError) {
    let number = count + 1
    tree.append(hasher.leaf(number: number, kind: kind, bytes: bytes), hasher: &hasher)
    try append(kind: kind, stored: bytes, number: number, otherNext: otherNext, clock: clock)
  }

  /// Adds an entry that a compaction keeps.
  mutating func append(kind: UInt8, kept entry: KeptEntry) throws(FileError) {
    let leaf = hasher.leaf(number: entry.number, kind: kind, bytes: entry.bytes)
    tree.append(leaf, hasher: &hasher)
    try append(
      kind: kind, stored: entry.stored, number: entry.number, otherNext: entry.otherNext,
      clock: entry.clock)
  }

  private mutating func append(
    kind: UInt8, stored: [UInt8], number: UInt64, otherNext: UInt64, clock: UInt64
  ) throws(FileError) {
    let byteCount = LogLayout.entryHeaderByteCount + stored.count
    if pending != nil, payload.count + byteCount > LogLayout.frameByteTarget {
      try endFrame()
    }
    FramePayload.append(kind: kind, bytes: stored, to: &payload)
    pending = (
      (pending?.count ?? 0) + 1, pending?.first ?? number, max(pending?.otherNext ?? 0, otherNext),
      max(pending?.clock ?? 0, clock)
    )
    count += 1
    clocks = (min(clocks?.low ?? clock, clock), max(clocks?.high ?? clock, clock))
  }

  /// Ends the frame of entries that is being collected, if there is one.
  private mutating func endFrame() throws(FileError) {
    guard let pending else { return }
    self.pending = nil
    let kept = header.generation > 0
    if index.last.map({ UInt64(offset) >= $0.offset + UInt64(Seal.indexStride) }) ?? true {
      index.append(Seal.Place(number: pending.first, offset: UInt64(offset)))
    }
    let block = isCompressed ? FramePayload.compress(payload) : nil
    var frame = FrameHeader(
      kind: kept ? .kept : .batch, codec: block == nil ? .raw : .lz4,
      entryCount: UInt32(pending.count), frameNumber: frameNumber, firstNumber: pending.first,
      durableNumber: durableNumber, otherNext: pending.otherNext, clock: pending.clock)
    put(&frame, stored: block ?? payload, raw: payload)
    if header.isEchoed {
      pad()
      frame.kind = kept ? .keptEcho : .echo
      put(&frame, stored: block ?? payload, raw: payload)
      pad()
    }
    frameNumber += 1
    payload = []
    if chunk.count >= SealedFileWriter.chunkByteLimit { try flush() }
  }

  /// Adds the proof of one original segment.
  mutating func append(proof: SegmentProof) throws(FileError) {
    try endFrame()
    // A proof has no echo: damage to one costs no entry.
    let bytes = proof.bytes
    var frame = FrameHeader(
      kind: .proof, frameNumber: frameNumber, firstNumber: proof.firstNumber,
      durableNumber: durableNumber, otherNext: 0, clock: clocks?.high ?? 0)
    put(&frame, stored: bytes, raw: bytes)
    frameNumber += 1
    if chunk.count >= SealedFileWriter.chunkByteLimit { try flush() }
  }

  private mutating func put(_ frame: inout FrameHeader, stored: [UInt8], raw: [UInt8]) {
    frame.storedByteCount = UInt32(stored.count)
    frame.rawByteCount = UInt32(raw.count)
    frame.storedChecksum = CRC32C.checksum(stored)
    frame.rawChecksum = CRC32C.checksum(raw)
    chunk += frame.bytes(at: offset, salt: header.salt)
    chunk += stored
    let end = LogLayout.align(offset, to: LogLayout.frameAlignment)
    chunk += [UInt8](repeating: 0, count: end - offset)
  }

  private mutating func pad() {
    let end = LogLayout.align(offset, to: LogLayout.pageByteCount)
    chunk += [UInt8](repeating: 0, count: end - offset)
  }

  private mutating func flush() throws(FileError) {
    digest.update(chunk)
    try file.write(chunk, at: UInt64(chunkOffset))
    chunkOffset += chunk.count
    chunk = []
  }

  /// Seals the file: the seal, both closing marks, sync, close. Numbers are those of the range that
  /// the file stands for; `chain` is the value behind it.
  mutating func seal(
    numbers: (first: UInt64, last: UInt64), chain: ChainValue, extent: Seal.Extent? = nil
  ) throws(FileError) {
    try endFrame()
    try flush()
    let seal = Seal(
      count: count, firstNumber: numbers.first, lastNumber: numbers.last,
      digest: digest.finishDigest(), root: tree.root(hasher: &hasher), chain: chain, index: index,
      lowClock: clocks?.low ?? 0, highClock: clocks?.high ?? 0, extent: extent)
    let bytes = seal.bytes
    var frame = FrameHeader(
      kind: .seal, frameNumber: frameNumber, firstNumber: numbers.last + 1,
      durableNumber: durableNumber, otherNext: 0, clock: clocks?.high ?? 0)
    put(&frame, stored: bytes, raw: bytes)
    for place in 0..<2 {
      // The second one stands in a page of its own, so that one bad page never takes both.
      if place == 1 { pad() }
      frameNumber += 1
      var mark = FrameHeader(
        kind: .closingMark, frameNumber: frameNumber, firstNumber: numbers.last + 1,
        durableNumber: durableNumber, otherNext: 0, clock: clocks?.high ?? 0)
      put(&mark, stored: [], raw: [])
    }
    try flush()
    try file.sync()
    file.close()
  }

  /// Lets go of a file that is not finished.
  func abandon() { file.close() }

  /// Gives a verified file its final name; on return that survives a power cut.
  static func publish(
    _ file: String, in directory: String, fileSystem: any FileSystem
  ) throws(FileError) {
    let path = "\(directory)/\(file)"
    try fileSystem.rename(path + LogDirectory.temporarySuffix, to: path)
    let folder = file.split(separator: "/").first.map(String.init) ?? ""
    try fileSystem.syncDirectory("\(directory)/\(folder)")
  }
}
