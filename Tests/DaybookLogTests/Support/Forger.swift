import DaybookFormat
import DaybookLog
import DaybookTestKit

/// Rewrites the segments of a log with one stream so that every checksum, number, size and mark is
/// right again: what only the chain can tell.
struct Forger {
  /// One segment as the forger would have it.
  struct Segment {
    var header: SegmentHeader
    /// The entries of each batch frame.
    var batches: [[NewEntry]]
    /// What stands in the seal frame; `nil` for no such frame.
    var seal: [UInt8]?
    /// The forger's clock of all frames.
    var clock: UInt64
  }

  /// How much of the chain is made anew.
  enum Effort: CaseIterable {
    /// Checksums, numbers, sizes and marks.
    case checksums
    /// The seal of each segment, too, behind the chain value that its header names.
    case seals
    /// The headers, too: nothing is left of what was.
    case everything
  }

  let disk: SimulatedDisk
  let directory: String
  let stream: String
  var segments: [Segment] = []

  /// Reads the segments of `stream`.
  init(_ disk: SimulatedDisk, _ directory: String, stream: String) {
    self.disk = disk
    self.directory = directory
    self.stream = stream
    for path in paths {
      let scan = SegmentScan(disk.content(of: path) ?? [])
      guard let header = scan.header else { continue }
      let batches = scan.frames.filter { $0.header.kind == .batch }
      segments.append(
        Segment(
          header: header,
          batches: batches.map { frame in
            frame.parts.map { NewEntry(kind: $0.kind, bytes: Array($0.bytes)) }
          },
          seal: scan.frames.first { $0.header.kind == .seal }?.payload,
          clock: batches.first?.header.clock ?? 0))
    }
  }

  private var paths: [String] {
    disk.paths.filter { $0.hasPrefix("\(directory)/\(stream)/") }.sorted()
  }

  /// Writes the segments in place of what was there, as if nothing else had ever been.
  mutating func write(_ effort: Effort) {
    for path in paths { disk.drop(path) }
    disk.drop("\(directory)/HEAD")
    var next: UInt64 = 1
    var predecessor: SegmentHeader.Predecessor?
    for index in segments.indices {
      let ordinal = UInt64(index + 1)
      let named = segments[index].header.predecessor?.chain ?? .zero
      let chain = effort == .everything ? predecessor?.chain ?? .zero : named
      predecessor?.chain = chain
      segments[index].header.predecessor = predecessor
      segments[index].header.ordinal = ordinal
      segments[index].header.lastOrdinal = ordinal
      segments[index].header.firstNumber = next
      let link = link(of: segments[index], before: chain)
      let bytes = bytes(of: segments[index], link: effort == .checksums ? nil : link)
      next = link.lastNumber + 1
      disk.put(bytes, at: "\(directory)/\(LogDirectory.file(of: stream, ordinal: ordinal))")
      predecessor = SegmentHeader.Predecessor(
        ordinal: ordinal, validEnd: UInt64(bytes.count), lastNumber: link.lastNumber, tail: nil,
        chain: link.value)
    }
  }

  private func link(of segment: Segment, before: ChainValue) -> ChainLink {
    var hasher = ChainHasher()
    let first = segment.header.firstNumber
    var leaves: [SHA256Digest] = []
    for entry in segment.batches.joined() {
      let number = first + UInt64(leaves.count)
      leaves.append(hasher.leaf(number: number, kind: entry.kind, bytes: entry.bytes))
    }
    return ChainLink(
      logID: segment.header.logID, stream: stream, ordinal: segment.header.ordinal,
      firstNumber: first, lastNumber: first + UInt64(leaves.count) - 1,
      root: MerkleTree.root(of: leaves, hasher: &hasher), before: before)
  }

  /// The bytes of a file; with `link` its seal is made anew.
  private func bytes(of segment: Segment, link: ChainLink?) -> [UInt8] {
    let page = LogLayout.pageByteCount
    let isEchoed = segment.header.isEchoed
    var bytes = segment.header.pages
    var number = segment.header.firstNumber
    var frameNumber: UInt64 = 0
    func pad(to unit: Int) {
      let end = LogLayout.align(bytes.count, to: unit)
      bytes += [UInt8](repeating: 0, count: end - bytes.count)
    }
    func append(_ kind: FrameHeader.Kind, _ payload: [UInt8] = [], count: Int = 0) {
      pad(to: isEchoed ? page : LogLayout.frameAlignment)
      let header = FrameHeader(
        kind: kind, storedByteCount: UInt32(payload.count), rawByteCount: UInt32(payload.count),
        entryCount: UInt32(count), frameNumber: frameNumber, firstNumber: number,
        durableNumber: number - 1, otherNext: 0, clock: segment.clock,
        storedChecksum: CRC32C.checksum(payload), rawChecksum: CRC32C.checksum(payload))
      bytes += header.bytes(at: bytes.count, salt: segment.header.salt) + payload
    }
    for batch in segment.batches {
      var payload: [UInt8] = []
      for entry in batch {
        FramePayload.append(kind: entry.kind, bytes: entry.bytes, to: &payload)
      }
      append(.batch, payload, count: batch.count)
      if isEchoed { append(.echo, payload, count: batch.count) }
      number += UInt64(batch.count)
      frameNumber += 1
    }
    if let old = segment.seal {
      pad(to: isEchoed ? page : LogLayout.frameAlignment)
      append(.seal, link.map { seal(old, $0, bytes) } ?? old)
      frameNumber += 1
    }
    append(.closingMark)
    frameNumber += 1
    pad(to: page)
    append(.closingMark)
    return bytes
  }

  private func seal(_ old: [UInt8], _ link: ChainLink, _ bytes: [UInt8]) -> [UInt8] {
    guard var seal = try? Seal(bytes: old[...]),
      let digest = SHA256Digest(bytes: SHA256Digest.hash(bytes))
    else { return old }
    seal.count = link.lastNumber + 1 - link.firstNumber
    (seal.firstNumber, seal.lastNumber) = (link.firstNumber, link.lastNumber)
    (seal.root, seal.chain, seal.digest) = (link.root, link.value, digest)
    return seal.bytes
  }
}
