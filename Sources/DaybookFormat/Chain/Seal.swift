/// The payload of a seal frame, which stands before the closing marks: what a file holds, told by
/// whoever wrote it, so that a later change to it is seen.
///
/// Source: `Docs/Format.md`, section "Seal".
package struct Seal: Sendable, Hashable {
  /// Where the entry `number` stands: in the frame that begins at `offset`, as its first one.
  package struct Place: Sendable, Hashable {
    /// The number of the frame's first entry.
    package let number: UInt64
    /// The first byte of the frame.
    package let offset: UInt64

    /// The place of the entry `number`.
    package init(number: UInt64, offset: UInt64) {
      self.number = number
      self.offset = offset
    }
  }

  /// What a snapshot is a snapshot of.
  package struct Extent: Sendable, Hashable {
    /// The number of the last entry of the feed that went into it.
    package var feedNumber: UInt64
    /// The number of the last entry of the outbox that went into it.
    package var outboxNumber: UInt64
    /// The chain value of the feed at ``feedNumber``.
    package var feedChain: ChainValue
    /// The chain value of the outbox at ``outboxNumber``.
    package var outboxChain: ChainValue

    /// The extent of these parts.
    package init(
      feedNumber: UInt64, outboxNumber: UInt64, feedChain: ChainValue, outboxChain: ChainValue
    ) {
      self.feedNumber = feedNumber
      self.outboxNumber = outboxNumber
      self.feedChain = feedChain
      self.outboxChain = outboxChain
    }
  }

  /// The bytes of frames between two places of the index: 64 KiB.
  package static let indexStride = 64 << 10

  /// The entries in the file.
  package var count: UInt64
  /// The number of the first entry.
  package var firstNumber: UInt64
  /// The number of the last entry; ``firstNumber`` - 1 if there is none.
  package var lastNumber: UInt64
  /// SHA-256 of all bytes of the file before the seal's frame.
  package var digest: SHA256Digest
  /// The root of the tree over the hashes of the file's entries.
  package var root: SHA256Digest
  /// The chain value behind the file.
  package var chain: ChainValue
  /// Places of entries, by number, about every ``indexStride`` bytes.
  package var index: [Place]
  /// The lowest clock of a frame with entries; 0 without one.
  package var lowClock: UInt64
  /// The highest clock of a frame with entries; 0 without one.
  package var highClock: UInt64
  /// In a snapshot, what it is a snapshot of.
  package var extent: Extent?

  /// The seal of these parts.
  package init(
    count: UInt64, firstNumber: UInt64, lastNumber: UInt64, digest: SHA256Digest,
    root: SHA256Digest, chain: ChainValue, index: [Place], lowClock: UInt64, highClock: UInt64,
    extent: Extent? = nil
  ) {
    self.count = count
    self.firstNumber = firstNumber
    self.lastNumber = lastNumber
    self.digest = digest
    self.root = root
    self.chain = chain
    self.index = index
    self.lowClock = lowClock
    self.highClock = highClock
    self.extent = extent
  }

  /// Canonical CBOR map: "count", "first", "last", "digest", "root", "chain", "index" (arrays of
  /// number and offset), "low", "high"; in a snapshot also "feed", "outbox", "feedChain" and
  /// "outboxChain".
  package var bytes: [UInt8] {
    var map: ValueMap = [
      "count": .unsigned(count), "first": .unsigned(firstNumber), "last": .unsigned(lastNumber),
      "digest": .bytes(digest.bytes), "root": .bytes(root.bytes),
      "chain": .bytes(chain.digest.bytes), "low": .unsigned(lowClock),
      "high": .unsigned(highClock),
      "index": .array(index.map { .array([.unsigned($0.number), .unsigned($0.offset)]) }),
    ]
    if let extent {
      map["feed"] = .unsigned(extent.feedNumber)
      map["outbox"] = .unsigned(extent.outboxNumber)
      map["feedChain"] = .bytes(extent.feedChain.digest.bytes)
      map["outboxChain"] = .bytes(extent.outboxChain.digest.bytes)
    }
    return CBOREncoder.encode(.map(map))
  }

  /// Decodes `bytes`.
  package init(bytes: ArraySlice<UInt8>) throws(EntryError) {
    let map = try EntryMap(bytes)
    var index: [Place] = []
    for element in try map.array("index") {
      guard let parts = element.array, parts.count == 2, case .unsigned(let number) = parts[0],
        number <= LogLayout.numberLimit, case .unsigned(let offset) = parts[1]
      else { throw .member(name: "index") }
      index.append(Place(number: number, offset: offset))
    }
    self.init(
      count: try map.number("count", from: 0), firstNumber: try map.number("first", from: 1),
      lastNumber: try map.number("last", from: 0), digest: try map.digest("digest"),
      root: try map.digest("root"), chain: ChainValue(digest: try map.digest("chain")),
      index: index, lowClock: try map.unsigned("low"), highClock: try map.unsigned("high"))
    guard lastNumber >= firstNumber - 1 else { throw .member(name: "last") }
    guard map.value["feed"] != nil else { return }
    extent = Extent(
      feedNumber: try map.number("feed", from: 0), outboxNumber: try map.number("outbox", from: 0),
      feedChain: ChainValue(digest: try map.digest("feedChain")),
      outboxChain: ChainValue(digest: try map.digest("outboxChain")))
  }
}
