/// One file of a ``SimulatedDisk``: what programs see, what would survive a power cut, and the
/// changes between the two.
struct DiskFile: Sendable {
  /// A change that was not synced.
  enum Change: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case size(Int)
  }

  /// What becomes of a part of an unsynced write.
  enum Fate {
    case persisted, dropped, garbage
  }

  private(set) var live: [UInt8] = []
  private(set) var durable: [UInt8] = []
  private(set) var changes: [Change] = []
  /// Pages of 4,096 bytes that can't be read any more.
  var badPages: Set<Int> = []

  mutating func write(_ bytes: [UInt8], at offset: Int) {
    let change = Change.write(offset: offset, bytes: bytes)
    DiskFile.put(bytes, at: offset, into: &live)
    changes.append(change)
  }

  mutating func truncate(to byteCount: Int) {
    DiskFile.resize(&live, byteCount)
    changes.append(.size(byteCount))
  }

  mutating func sync() {
    durable = live
    changes = []
  }

  /// Changes bytes that are there, on the device and in what is read from it.
  mutating func damage(_ bytes: [UInt8], at offset: Int) {
    for (place, byte) in bytes.enumerated() {
      if offset + place < live.count { live[offset + place] = byte }
      if offset + place < durable.count { durable[offset + place] = byte }
    }
  }

  /// A sync that failed: every part was stored or not, and no later sync will store it.
  mutating func failSync(_ random: inout SplitMix64) {
    settle(unit: 4096, isCoarse: false, &random) { random in
      random.next() % 2 == 0 ? .persisted : .dropped
    }
  }

  /// What reads find once the cache was dropped.
  mutating func dropCache() {
    live = durable
    for change in changes {
      switch change {
      case .write(let offset, let bytes): DiskFile.put(bytes, at: offset, into: &live)
      case .size(let byteCount): DiskFile.resize(&live, byteCount)
      }
    }
  }

  /// What is left after a power cut, the fate of each `unit` of each write drawn by `fate`.
  mutating func crash(
    unit: Int, isCoarse: Bool, _ random: inout SplitMix64, fate: (inout SplitMix64) -> Fate
  ) {
    if !changes.isEmpty { settle(unit: unit, isCoarse: isCoarse, &random, fate: fate) }
    live = durable
  }

  /// Stores each `unit` of each change, or not. The size has a fate of its own: any one that the
  /// file had since the last sync. With `isCoarse`, garbage fills whole pages.
  private mutating func settle(
    unit: Int, isCoarse: Bool, _ random: inout SplitMix64, fate: (inout SplitMix64) -> Fate
  ) {
    guard !changes.isEmpty else { return }
    var sizes = [durable.count]
    var size = durable.count
    for change in changes {
      switch change {
      case .write(let offset, let bytes):
        size = max(size, offset + bytes.count)
        var start = offset
        while start < offset + bytes.count {
          let end = min((start / unit + 1) * unit, offset + bytes.count)
          let part = Array(bytes[(start - offset)..<(end - offset)])
          switch fate(&random) {
          case .persisted: DiskFile.put(part, at: start, into: &durable)
          case .dropped: break
          case .garbage where isCoarse:
            let page = start / 4096 * 4096
            DiskFile.put(DiskFile.noise(4096, &random), at: page, into: &durable)
          case .garbage:
            DiskFile.put(DiskFile.noise(part.count, &random), at: start, into: &durable)
          }
          start = end
        }
      case .size(let byteCount): size = byteCount
      }
      sizes.append(size)
    }
    var chosen = size
    switch fate(&random) {
    case .persisted: break
    case .dropped: chosen = sizes[0]
    case .garbage: chosen = sizes[Int(random.next() % UInt64(sizes.count))]
    }
    DiskFile.resize(&durable, chosen)
    changes = []
  }

  private static func noise(_ count: Int, _ random: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  private static func put(_ bytes: [UInt8], at offset: Int, into content: inout [UInt8]) {
    let end = offset + bytes.count
    if content.count < end { resize(&content, end) }
    content.replaceSubrange(offset..<end, with: bytes)
  }

  private static func resize(_ content: inout [UInt8], _ byteCount: Int) {
    if content.count > byteCount {
      content.removeLast(content.count - byteCount)
    } else if content.count < byteCount {
      content.append(contentsOf: [UInt8](repeating: 0, count: byteCount - content.count))
    }
  }
}
