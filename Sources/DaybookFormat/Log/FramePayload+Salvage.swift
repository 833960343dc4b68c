/// Single entries out of a payload of which bytes are damaged: each has a checksum of its own.
///
/// Source: `Docs/Format.md`, section "Recovery".
extension FramePayload {
  /// The entry whose header begins at the index `offset` of `payload`, if it is whole.
  package static func part(of payload: ArraySlice<UInt8>, at offset: Int) -> Part? {
    guard let (kind, checksum, end) = header(of: payload, at: offset) else { return nil }
    let bytes = payload[(offset + LogLayout.entryHeaderByteCount)..<end]
    guard CRC32C.checksum(bytes, from: CRC32C.checksum([kind])) == checksum else { return nil }
    return Part(kind: kind, bytes: bytes, offset: offset)
  }

  /// The whole entries that follow one another from the index `offset` of `payload` on, at most
  /// `limit`.
  package static func chain(
    in payload: ArraySlice<UInt8>, from offset: Int, limit: Int
  ) -> [Part] {
    var parts: [Part] = []
    var offset = offset
    while parts.count < limit, let part = part(of: payload, at: offset) {
      parts.append(part)
      offset = part.bytes.endIndex
    }
    return parts
  }

  /// The entries of a damaged payload that held `count`, each with its place among them.
  ///
  /// Lengths that lead from header to header to the very end give every place. Else the entries
  /// before the damage are counted from the front, and those behind it from the end: the first
  /// place from which whole entries fill the rest exactly. What stands between two damages has no
  /// certain place and is left. Up to O(*n*) places are tried.
  package static func salvage(
    _ payload: ArraySlice<UInt8>, count: Int
  ) -> [(place: Int, part: Part)] {
    if let ends = ends(of: payload, count: count) {
      return ends.enumerated().compactMap { place, offset in
        part(of: payload, at: offset).map { (place, $0) }
      }
    }
    let front = chain(in: payload, from: payload.startIndex, limit: count)
    var found = front.enumerated().map { (place: $0.offset, part: $0.element) }
    let rest = tail(
      of: payload, from: (front.last?.bytes.endIndex ?? payload.startIndex) + 1,
      limit: count - front.count - 1)
    for (place, part) in rest.enumerated() {
      found.append((count - rest.count + place, part))
    }
    return found
  }

  /// Where each of `count` entries begins, if their lengths fill `payload` exactly.
  private static func ends(of payload: ArraySlice<UInt8>, count: Int) -> [Int]? {
    guard count <= payload.count / LogLayout.entryHeaderByteCount else { return nil }
    var offsets: [Int] = []
    var offset = payload.startIndex
    for _ in 0..<count {
      guard let (_, _, end) = header(of: payload, at: offset) else { return nil }
      offsets.append(offset)
      offset = end
    }
    return offset == payload.endIndex ? offsets : nil
  }

  private static func tail(
    of payload: ArraySlice<UInt8>, from start: Int, limit: Int
  ) -> [Part] {
    guard limit > 0 else { return [] }
    // Entries that lead nowhere are not walked again.
    var tried: Set<Int> = []
    var start = start
    while start < payload.endIndex {
      if !tried.contains(start) {
        let parts = chain(in: payload, from: start, limit: .max)
        if parts.last?.bytes.endIndex == payload.endIndex { return parts.suffix(limit) }
        for part in parts { tried.insert(part.offset) }
      }
      start += 1
    }
    return []
  }

  private static func header(
    of payload: ArraySlice<UInt8>, at offset: Int
  ) -> (kind: UInt8, checksum: UInt32, end: Int)? {
    guard offset >= payload.startIndex,
      offset <= payload.endIndex - LogLayout.entryHeaderByteCount
    else { return nil }
    let start = offset + LogLayout.entryHeaderByteCount
    func number(_ at: Int) -> UInt32 {
      UInt32(payload[at]) | UInt32(payload[at + 1]) << 8 | UInt32(payload[at + 2]) << 16
        | UInt32(payload[at + 3]) << 24
    }
    guard payload[offset + 5] == 0, payload[offset + 6] == 0, payload[offset + 7] == 0,
      Int(number(offset)) <= payload.endIndex - start
    else { return nil }
    return (payload[offset + 4], number(offset + 8), start + Int(number(offset)))
  }
}
