/// The first bytes of a segment: 512 bytes, twice, at offsets 0 and 4,096. The rest of both pages
/// is zero. All numbers are little-endian.
///
///     offset  size  field
///     0       8     magic 89 44 42 4C 0D 0A 1A 0A: shows text-mode and 7-bit damage
///     8       2     major version, 1
///     10      2     minor version, 0
///     12      2     header bytes, 512
///     14      1     kind: 1 segment, 2 snapshot
///     15      1     zero
///     16      8     incompatible features: a reader that does not know a bit must not read
///     24      8     read-only compatible features: such a reader must not write
///     32      8     compatible features
///     40      16    log id
///     56      16    incarnation: one life of the log
///     72      16    salt: random, bound into the checksum of every frame of the file
///     88      16    stream name, ASCII, zero-padded
///     104     8     first ordinal
///     112     8     last ordinal
///     120     4     generation
///     124     4     flags: bit 0, groups are echoed and begin on pages; bit 1, begins after damage
///     128     8     number of the first entry
///     136     8     clock when it was begun (hybrid)
///     144     8     predecessor: ordinal, 0 for none
///     152     8     predecessor: valid end, the offset behind its last valid byte
///     160     8     predecessor: size of the file
///     168     8     predecessor: last entry number
///     176     4     predecessor: CRC-32C of the whole file
///     180     4     predecessor: flags, bit 0: size and CRC-32C are known
///     184     32    predecessor: chain value; zero, not chained
///     216     16    key id, zero until encryption is written
///     232     2     bytes of the account's name
///     234     6     zero
///     240     128   the account's name, UTF-8, zero-padded
///     368     140   zero
///     508     4     CRC-32C of bytes 0 to 507
///
/// Source: `Docs/Format.md`, section "Segment header".
package struct SegmentHeader: Sendable, Hashable {
  /// What a file in the container of a segment is.
  package enum Kind: UInt8, Sendable {
    /// A part of a stream.
    case segment = 1
    /// The state of the feed as of a number.
    case snapshot = 2
  }

  /// The segment before this one, as it was judged when this one was begun.
  package struct Predecessor: Sendable, Hashable {
    /// Its ordinal.
    package var ordinal: UInt64
    /// The offset behind its last valid byte: what follows was never acknowledged.
    package var validEnd: UInt64
    /// The number of its last entry.
    package var lastNumber: UInt64
    /// The size and the checksum of its file; `nil` if it was closed, or if the disk could not be
    /// trusted to tell.
    package var tail: Tail?
    /// Its chain value; zero if its writer knew no chains.
    package var chain: ChainValue

    /// What a file held when it was settled.
    package struct Tail: Sendable, Hashable {
      /// The size of the file.
      package var byteCount: UInt64
      /// CRC-32C of the whole file.
      package var checksum: UInt32

      /// A tail of these properties.
      package init(byteCount: UInt64, checksum: UInt32) {
        self.byteCount = byteCount
        self.checksum = checksum
      }
    }

    /// The segment `ordinal`, valid up to `validEnd`.
    package init(
      ordinal: UInt64, validEnd: UInt64, lastNumber: UInt64, tail: Tail?,
      chain: ChainValue = .zero
    ) {
      self.ordinal = ordinal
      self.validEnd = validEnd
      self.lastNumber = lastNumber
      self.tail = tail
      self.chain = chain
    }
  }

  /// Bytes of one copy.
  package static let byteCount = 512
  /// Where the predecessor's chain value stands.
  package static let chainOffset: UInt64 = 184
  static let magic: [UInt8] = [0x89, 0x44, 0x42, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  private enum Flags {
    static let isEchoed: UInt32 = 1 << 0
    static let beginsAfterDamage: UInt32 = 1 << 1
    static let all = isEchoed | beginsAfterDamage
  }

  /// What the file is.
  package var kind = Kind.segment
  /// Features that a reader must know to read.
  package var incompatibleFeatures: UInt64 = 0
  /// Features that a reader must know to write.
  package var readOnlyFeatures: UInt64 = 0
  /// Features that need not be known.
  package var compatibleFeatures: UInt64 = 0
  /// The log.
  package var logID: Identifier
  /// The life of the log.
  package var incarnation: Identifier
  /// Random bytes that frames of this file are bound to.
  package var salt: Identifier
  /// The stream's name.
  package var stream: String
  /// The segment's place in its stream, from 1; of a compaction output, the first one it stands
  /// for.
  package var ordinal: UInt64
  /// The last place that it stands for; another one than ``ordinal`` only in a compaction output.
  package var lastOrdinal: UInt64
  /// 0 for a segment as it was first written; compaction writes others.
  package var generation: UInt32 = 0
  /// Groups are written twice, each beginning on a page.
  package var isEchoed: Bool
  /// The segment was begun because entries before it are damaged, and begins with what is known of
  /// that.
  package var beginsAfterDamage = false
  /// The number of the first entry.
  package var firstNumber: UInt64
  /// The clock when the segment was begun.
  package var clock: UInt64
  /// The segment before; `nil` for the first one.
  package var predecessor: Predecessor?
  /// Whose log it is.
  package var account: String

  /// A header of these parts.
  package init(
    logID: Identifier, incarnation: Identifier, salt: Identifier, stream: String, ordinal: UInt64,
    isEchoed: Bool, firstNumber: UInt64, clock: UInt64, predecessor: Predecessor?, account: String
  ) {
    self.logID = logID
    self.incarnation = incarnation
    self.salt = salt
    self.stream = stream
    self.ordinal = ordinal
    lastOrdinal = ordinal
    self.isEchoed = isEchoed
    self.firstNumber = firstNumber
    self.clock = clock
    self.predecessor = predecessor
    self.account = account
  }

  /// Both pages: a copy in each, the rest zero.
  package var pages: [UInt8] {
    let copy = self.copy
    let padding = [UInt8](repeating: 0, count: LogLayout.pageByteCount - copy.count)
    return copy + padding + copy + padding
  }

  private var copy: [UInt8] {
    var writer = ByteWriter(capacity: SegmentHeader.byteCount)
    writer.append(contentsOf: SegmentHeader.magic)
    writer.append(LogLayout.version)
    writer.append(UInt16(0))
    writer.append(UInt16(SegmentHeader.byteCount))
    writer.append(kind.rawValue)
    writer.append(UInt8(0))
    writer.append(incompatibleFeatures)
    writer.append(readOnlyFeatures)
    writer.append(compatibleFeatures)
    writer.append(logID)
    writer.append(incarnation)
    writer.append(salt)
    append(stream, to: &writer, width: LogLayout.streamNameByteLimit)
    writer.append(ordinal)
    writer.append(lastOrdinal)
    writer.append(generation)
    writer.append(
      (isEchoed ? Flags.isEchoed : 0) | (beginsAfterDamage ? Flags.beginsAfterDamage : 0))
    writer.append(firstNumber)
    writer.append(clock)
    writer.append(predecessor?.ordinal ?? 0)
    writer.append(predecessor?.validEnd ?? 0)
    writer.append(predecessor?.tail?.byteCount ?? 0)
    writer.append(predecessor?.lastNumber ?? 0)
    writer.append(predecessor?.tail?.checksum ?? 0)
    writer.append(UInt32(predecessor?.tail == nil ? 0 : 1))
    writer.append(contentsOf: (predecessor?.chain ?? .zero).digest.bytes)
    writer.appendZeros(16)
    writer.append(UInt16(account.utf8.count))
    writer.appendZeros(6)
    append(account, to: &writer, width: LogLayout.accountByteLimit)
    writer.appendZeros(140)
    writer.append(CRC32C.checksum(writer.bytes))
    return writer.bytes
  }

  private func append(_ text: String, to writer: inout ByteWriter, width: Int) {
    let bytes = Array(text.utf8.prefix(width))
    writer.append(contentsOf: bytes)
    writer.appendZeros(width - bytes.count)
  }
}

extension SegmentHeader {
  /// Why a copy of a header can't be used.
  package enum Problem: Error, Equatable {
    /// The bytes are not a header, or fail their checksum.
    case damaged
    /// A newer version wrote it.
    case newer(major: UInt16, features: UInt64)
  }

  /// Features that this code knows; a bit beside them is a newer format.
  static let knownIncompatibleFeatures: UInt64 = 0

  /// Reads one copy of a header.
  package init(copy bytes: ArraySlice<UInt8>) throws(Problem) {
    guard bytes.count >= SegmentHeader.byteCount,
      bytes.prefix(8).elementsEqual(SegmentHeader.magic)
    else { throw .damaged }
    let copy = bytes.prefix(SegmentHeader.byteCount)
    do {
      try self.init(reading: copy)
    } catch let problem as Problem {
      throw problem
    } catch {
      throw .damaged
    }
  }

  private init(reading copy: ArraySlice<UInt8>) throws {
    var end = ByteReader(copy.dropFirst(508))
    guard try end.read(UInt32.self) == CRC32C.checksum(copy.prefix(508)) else {
      throw Problem.damaged
    }
    var reader = ByteReader(copy.dropFirst(8))
    let major: UInt16 = try reader.read()
    _ = try reader.read(UInt16.self)
    let byteCount: UInt16 = try reader.read()
    let kindCode: UInt8 = try reader.read()
    try reader.readZeros(1)
    let incompatible: UInt64 = try reader.read()
    guard major == LogLayout.version,
      incompatible & ~SegmentHeader.knownIncompatibleFeatures == 0
    else { throw Problem.newer(major: major, features: incompatible) }
    guard byteCount == UInt16(SegmentHeader.byteCount), let kind = Kind(rawValue: kindCode) else {
      throw Problem.damaged
    }
    let readOnly: UInt64 = try reader.read()
    let compatible: UInt64 = try reader.read()
    let logID = try reader.readIdentifier()
    let incarnation = try reader.readIdentifier()
    let salt = try reader.readIdentifier()
    let name = try reader.read(count: LogLayout.streamNameByteLimit)
    let ordinal: UInt64 = try reader.read()
    let lastOrdinal: UInt64 = try reader.read()
    let generation: UInt32 = try reader.read()
    let flags: UInt32 = try reader.read()
    let firstNumber: UInt64 = try reader.read()
    let clock: UInt64 = try reader.read()
    let predecessor = try SegmentHeader.readPredecessor(&reader)
    try reader.readZeros(16)
    let accountByteCount: UInt16 = try reader.read()
    try reader.readZeros(6)
    let account = try reader.read(count: LogLayout.accountByteLimit)
    guard flags & ~Flags.all == 0, (1...LogLayout.numberLimit).contains(firstNumber),
      (1...LogLayout.numberLimit).contains(ordinal),
      lastOrdinal == ordinal
        || (generation > 0 && (ordinal...LogLayout.numberLimit).contains(lastOrdinal)),
      predecessor?.lastNumber ?? 0 < LogLayout.numberLimit,
      accountByteCount <= UInt16(LogLayout.accountByteLimit),
      let stream = String(validating: name.prefix { $0 != 0 }, as: UTF8.self),
      let accountName = String(
        validating: account.prefix(Int(accountByteCount)), as: UTF8.self)
    else { throw Problem.damaged }
    self.init(
      logID: logID, incarnation: incarnation, salt: salt,
      stream: stream, ordinal: ordinal,
      isEchoed: flags & Flags.isEchoed != 0, firstNumber: firstNumber, clock: clock,
      predecessor: predecessor, account: accountName)
    beginsAfterDamage = flags & Flags.beginsAfterDamage != 0
    self.kind = kind
    self.lastOrdinal = lastOrdinal
    incompatibleFeatures = incompatible
    readOnlyFeatures = readOnly
    compatibleFeatures = compatible
    self.generation = generation
  }

  private static func readPredecessor(
    _ reader: inout ByteReader
  ) throws(EntryError) -> Predecessor? {
    let ordinal: UInt64 = try reader.read()
    let validEnd: UInt64 = try reader.read()
    let byteCount: UInt64 = try reader.read()
    let lastNumber: UInt64 = try reader.read()
    let checksum: UInt32 = try reader.read()
    let flags: UInt32 = try reader.read()
    let chain = try reader.read(count: SHA256Digest.byteCount)
    guard let digest = SHA256Digest(bytes: chain), ordinal > 0 || digest == .zero else {
      throw .invalid(field: .reserved, offset: 184)
    }
    guard ordinal > 0 else { return nil }
    return Predecessor(
      ordinal: ordinal, validEnd: validEnd, lastNumber: lastNumber,
      tail: flags & 1 == 1 ? Predecessor.Tail(byteCount: byteCount, checksum: checksum) : nil,
      chain: ChainValue(digest: digest))
  }
}
