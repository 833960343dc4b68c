/// The hashes of the chain: of entries, of nodes of their tree, and of segments. Each kind begins
/// with a byte of its own, so that none can be taken for another.
///
/// Keep one for many hashes: it holds libcrypto's context. Source: RFC 6962, section 2.1;
/// `Docs/Format.md`, section "Chain".
package struct ChainHasher: ~Copyable {
  private var hasher = SHA256Digest.Hasher()

  /// The root of no entries: SHA-256 of nothing.
  package static let emptyRoot = {
    var hasher = SHA256Digest.Hasher()
    return hasher.finishDigest()
  }()

  /// A hasher that has hashed nothing.
  package init() {}

  /// The hash of an entry: SHA-256(0x00, number (8), kind (1), the entry's bytes).
  package mutating func leaf(
    number: UInt64, kind: UInt8, bytes: UnsafeRawBufferPointer
  ) -> SHA256Digest {
    withUnsafeTemporaryAllocation(byteCount: 10, alignment: 8) { head in
      head[0] = 0
      head.storeBytes(of: number.littleEndian, toByteOffset: 1, as: UInt64.self)
      head[9] = kind
      hasher.update(UnsafeRawBufferPointer(head))
    }
    hasher.update(bytes)
    return hasher.finishDigest()
  }

  /// The hash of an entry, whose bytes are a slice.
  package mutating func leaf(
    number: UInt64, kind: UInt8, bytes: ArraySlice<UInt8>
  ) -> SHA256Digest {
    bytes.withUnsafeBytes { leaf(number: number, kind: kind, bytes: $0) }
  }

  /// The hash of an entry, whose bytes are an array.
  package mutating func leaf(number: UInt64, kind: UInt8, bytes: [UInt8]) -> SHA256Digest {
    bytes.withUnsafeBytes { leaf(number: number, kind: kind, bytes: $0) }
  }

  /// The hash of a node: SHA-256(0x01, left (32), right (32)).
  package mutating func node(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
    let width = SHA256Digest.byteCount
    withUnsafeTemporaryAllocation(byteCount: 1 + 2 * width, alignment: 8) { buffer in
      buffer[0] = 1
      left.withBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[1...]).copyMemory(from: $0) }
      right.withBytes {
        UnsafeMutableRawBufferPointer(rebasing: buffer[(1 + width)...]).copyMemory(from: $0)
      }
      hasher.update(UnsafeRawBufferPointer(buffer))
    }
    return hasher.finishDigest()
  }

  /// The chain value of a segment: see ``ChainLink``.
  package mutating func value(of link: ChainLink) -> ChainValue {
    var writer = ByteWriter(capacity: 1 + 16 + 16 + 24 + 64)
    writer.append(UInt8(2))
    writer.append(link.logID)
    let name = Array(link.stream.utf8.prefix(LogLayout.streamNameByteLimit))
    writer.append(contentsOf: name)
    writer.appendZeros(LogLayout.streamNameByteLimit - name.count)
    writer.append(link.ordinal)
    writer.append(link.firstNumber)
    writer.append(link.lastNumber)
    writer.append(contentsOf: link.root.bytes)
    writer.append(contentsOf: link.before.digest.bytes)
    hasher.update(writer.bytes)
    return ChainValue(digest: hasher.finishDigest())
  }
}
