import DaybookFormat

/// Writes one stream. Used by the log's committer thread alone.
///
/// It never appends to a file that it did not begin, and after any error it never writes to the
/// file again: a new segment begins, whose header names the valid end of the old one. Each write
/// tries that anew, so writing goes on by itself once the cause of an error is gone.
final class StreamWriter {
  /// The segment that is being written.
  struct Segment {
    let file: any OpenFile
    let ordinal: UInt64
    let salt: Identifier
    /// The header's pages, until they are written with the first group.
    var pendingHeader: [UInt8]
    /// Where the next group begins.
    var offset: Int
    var frameNumber: UInt64 = 0
    /// Behind the last synced byte.
    var syncedEnd: Int
    /// What the seal is to say.
    let seal: SealBuilder
  }

  let options: StreamOptions
  private let directory: String
  private let identity: LogIdentity
  private let configuration: LogConfiguration
  var segment: Segment?
  private let files: SegmentFiles
  private let chains: ChainBoard
  var previous: SegmentHeader.Predecessor?
  /// The ordinal used last, for a file that may be there.
  private(set) var lastOrdinal: UInt64
  /// The number of the next entry.
  var nextNumber: UInt64
  /// All entries up to this number are synced.
  var durableNumber: UInt64
  /// Groups that were written and are not synced. Without a segment, an error took them away: they
  /// are written again before anything that follows them.
  private var unsynced: [[[NewEntry]]] = []
  private var unsyncedByteCount = 0
  /// The last number before those that damage made unfit, until something above is synced.
  var lastBeforeDamage: UInt64?
  /// The next segment begins with gap entries.
  var beginsAfterDamage = false
  /// An earlier life, or an error, left a file that no closing mark and no later header covers.
  var isUnsettled = false
  /// What frames, the other stream and `HEAD` say to be durable: behind damage, nothing above what
  /// was there, until a segment above it is. Else a crash before that would look like a loss.
  var statedNumber: UInt64 { lastBeforeDamage ?? durableNumber }
  /// Something has been written since the last mark.
  private(set) var wantsMark = false
  private(set) var isClosed = false

  init(
    options: StreamOptions, directory: String, identity: LogIdentity,
    configuration: LogConfiguration, last: SegmentReport?, lowestNext: UInt64, chains: ChainBoard
  ) {
    self.options = options
    self.directory = directory
    self.identity = identity
    self.configuration = configuration
    self.chains = chains
    files = SegmentFiles(
      options: options, directory: directory, fileSystem: configuration.fileSystem)
    nextNumber = max(last?.nextNumber ?? 1, lowestNext)
    durableNumber = nextNumber - 1
    lastOrdinal = last?.lastOrdinal ?? 0
    isClosed = last.map { $0.isClosed && $0.findings.allSatisfy { $0.record != nil } } ?? false
    isUnsettled = last != nil && (!isClosed || configuration.newIncarnation != nil)
    guard let last, last.ordinal > 0 else { return }
    previous = SegmentHeader.Predecessor(
      ordinal: last.lastOrdinal, validEnd: UInt64(last.validEnd), lastNumber: nextNumber - 1,
      tail: SegmentHeader.Predecessor.Tail(
        byteCount: UInt64(last.byteCount), checksum: last.fileChecksum),
      chain: chains.value(of: options.name))
  }

  /// What `HEAD` is to say of the stream: only what is durable.
  var head: HeadSlot.Stream {
    let current = segment.flatMap { $0.syncedEnd > 0 ? $0 : nil }
    return HeadSlot.Stream(
      name: options.name, ordinal: current?.ordinal ?? previous?.ordinal ?? 0,
      durableNumber: statedNumber,
      validEnd: current.map { UInt64($0.syncedEnd) } ?? previous?.validEnd ?? 0,
      isClosed: isClosed)
  }

  // MARK: - Groups

  /// Writes `transactions` as one group. Returns the number of the first entry.
  ///
  /// Durable only after `sync`; every stream that is echoed syncs each group itself.
  func write(_ transactions: [[NewEntry]], otherNext: UInt64) throws(LogError) -> UInt64 {
    let count = transactions.reduce(0) { $0 + UInt64($1.count) }
    guard nextNumber <= LogLayout.numberLimit, count <= LogLayout.numberLimit - nextNumber else {
      throw .numbersUsedUp(stream: options.name)
    }
    try catchUp(otherNext: otherNext)
    let byteCount = transactions.reduce(0) { $0 + GroupBuilder.byteCount(of: $1) }
    let estimate = (options.isEchoed ? 2 : 1) * (byteCount + LogLayout.pageByteCount)
    if let segment, segment.frameNumber > 0,
      segment.offset + estimate > options.segmentByteLimit
    {
      roll(otherNext: otherNext)
      try catchUp(otherNext: otherNext)
    }
    if segment == nil { try begin() }
    let first = nextNumber
    do throws(FileError) {
      try putGroup(transactions, otherNext: otherNext)
      if options.isEchoed { try syncSegment() }
    } catch {
      throw retire(error, otherNext: otherNext)
    }
    if !options.isEchoed {
      unsynced.append(transactions)
      unsyncedByteCount += byteCount
      if unsyncedByteCount > LogLayout.unsyncedByteLimit {
        try sync(withLastWrite: true, otherNext: otherNext)
      }
    }
    return first
  }

  /// Makes all that was written durable. If that fails, the last write fails with it if
  /// `withLastWrite`; what was written before is written again.
  func sync(withLastWrite: Bool, otherNext: UInt64) throws(LogError) {
    try catchUp(otherNext: otherNext)
    do throws(FileError) {
      try syncSegment()
    } catch {
      if withLastWrite { _ = unsynced.popLast() }
      let outcome = retire(error, otherNext: otherNext)
      if case .notWritten = outcome, !withLastWrite { return }
      throw outcome
    }
  }

  func putGroup(_ transactions: [[NewEntry]], otherNext: UInt64) throws(FileError) {
    guard var current = segment else { throw FileError(.other(0), .write, directory) }
    var builder = group(current, otherNext: otherNext)
    builder.append(transactions)
    let bytes = builder.bytes()
    try put(bytes, into: current)
    current.seal.wrote(transactions, at: builder.places, clock: builder.clock)
    current.pendingHeader = []
    current.offset += bytes.count
    current.frameNumber = builder.frameNumber
    segment = current
    nextNumber = builder.nextNumber
    wantsMark = true
  }

  func syncSegment() throws(FileError) {
    // A second sync of the same bytes could only fail, and then say that a durable group is not
    // there.
    guard var current = segment, current.syncedEnd < current.offset,
      current.pendingHeader.isEmpty
    else { return }
    try current.file.sync()
    current.syncedEnd = current.offset
    segment = current
    durableNumber = nextNumber - 1
    lastBeforeDamage = nil
    current.seal.synced()
    chains.set(current.seal.position)
    unsynced = []
    unsyncedByteCount = 0
  }

  private func put(_ bytes: [UInt8], into segment: Segment) throws(FileError) {
    if segment.pendingHeader.isEmpty {
      try segment.file.write(bytes, at: UInt64(segment.offset))
    } else {
      // One write, so that the roll costs no sync of its own.
      try segment.file.write(segment.pendingHeader + bytes, at: 0)
      segment.seal.wrote(segment.pendingHeader)
    }
    segment.seal.wrote(bytes)
  }

  private func group(_ segment: Segment, otherNext: UInt64) -> GroupBuilder {
    GroupBuilder(
      salt: segment.salt, isEchoed: options.isEchoed, isCompressed: options.isCompressed,
      durableNumber: statedNumber, otherNext: otherNext,
      clock: configuration.clock().rawValue, offset: segment.offset,
      frameNumber: segment.frameNumber, nextNumber: nextNumber)
  }

  // MARK: - Segments

  /// Begins the next segment; its header is written with its first group.
  func begin() throws(LogError) {
    // A header beyond would be taken for none.
    guard nextNumber <= LogLayout.numberLimit else { throw .numbersUsedUp(stream: options.name) }
    let ordinal = lastOrdinal + 1
    let file: any OpenFile
    do throws(FileError) {
      file = try files.take(ordinal)
    } catch {
      throw error.reason == .exists ? .writtenByOther(path: error.path) : LogError(error)
    }
    isClosed = false
    lastOrdinal = ordinal
    let random = configuration.random
    var header = SegmentHeader(
      logID: identity.logID, incarnation: identity.incarnation,
      salt: Identifier(high: random(), low: random()), stream: options.name, ordinal: ordinal,
      isEchoed: options.isEchoed, firstNumber: nextNumber,
      clock: configuration.clock().rawValue, predecessor: previous, account: identity.account)
    header.beginsAfterDamage = beginsAfterDamage
    segment = Segment(
      file: file, ordinal: ordinal, salt: header.salt, pendingHeader: header.pages,
      offset: LogLayout.segmentHeaderByteCount, syncedEnd: 0,
      seal: SealBuilder(header))
    configuration.segmentBegun?(previous?.validEnd ?? 0)
  }

  /// Closes the full segment, synced before anything goes into the next.
  private func roll(otherNext: UInt64) {
    do throws(FileError) {
      try syncSegment()
      try finish(otherNext: otherNext)
    } catch {
      abandon(after: error)
    }
  }

  /// Writes the seal and, in two pages, the closing marks, cuts the rest, and closes the file.
  private func finish(otherNext: UInt64) throws(FileError) {
    guard var current = segment else { return }
    let seal = current.seal.seal()
    var builder = group(current, otherNext: otherNext)
    builder.append(seal: seal.bytes)
    let bytes = builder.bytes()
    try put(bytes, into: current)
    current.offset += bytes.count
    current.frameNumber = builder.frameNumber
    for _ in 0..<2 {
      var mark = group(current, otherNext: otherNext)
      mark.append(mark: .closingMark)
      let bytes = Array(mark.bytes().prefix(FrameHeader.byteCount))
      try put(bytes, into: current)
      current.syncedEnd = current.offset + bytes.count
      current.frameNumber = mark.frameNumber
      current.offset = LogLayout.align(current.syncedEnd, to: LogLayout.pageByteCount)
    }
    try current.file.truncate(to: UInt64(current.syncedEnd))
    try current.file.sync()
    current.file.close()
    previous = SegmentHeader.Predecessor(
      ordinal: current.ordinal, validEnd: UInt64(current.syncedEnd),
      lastNumber: nextNumber - 1, tail: nil, chain: seal.chain)
    chains.set(current.seal.position)
    isUnsettled = false
    segment = nil
  }

  /// After an error nothing is known of what was not synced, so the file is never written to again.
  /// What the next segment's header says settles it: where it can be written, the group is not
  /// there. Groups before it that were written and not synced go into the next segment.
  private func retire(_ failure: FileError, otherNext: UInt64) -> LogError {
    guard segment != nil else { return LogError(failure) }
    let isGone = abandon(after: failure)
    do throws(LogError) {
      if unsynced.isEmpty { try settle() } else { try catchUp(otherNext: otherNext) }
      return .notWritten(failure)
    } catch {
      if isGone { return .notWritten(failure) }
      return .outcomeUnknown(FileError(error) ?? FileError(.other(0), .create, directory))
    }
  }

  /// Lets go of the segment: what is not synced in it does not count, and the next header says so.
  ///
  /// A full disk is no broken one: what the failed write took is given back, as room for the next
  /// header. Returns whether that is durable, so that the group is not there whatever comes next.
  @discardableResult
  func abandon(after error: FileError) -> Bool {
    guard let current = segment else { return false }
    var isGone = false
    if error.call == .write, error.reason == .diskFull {
      do throws(FileError) {
        try current.file.truncate(to: UInt64(current.syncedEnd))
        try current.file.sync()
        isGone = true
      } catch {
        // Then the next header says so, or the next opening.
      }
    }
    current.file.close()
    previous = SegmentHeader.Predecessor(
      ordinal: current.ordinal, validEnd: UInt64(current.syncedEnd),
      lastNumber: statedNumber, tail: nil, chain: current.seal.link.value)
    nextNumber = durableNumber + 1
    segment = nil
    isUnsettled = true
    return isGone
  }

  /// Writes again, durably, what an error took away before it was synced. While that fails nothing
  /// follows it, so what is held stays below ``LogLayout/unsyncedByteLimit`` and one group.
  private func catchUp(otherNext: UInt64) throws(LogError) {
    guard segment == nil, !unsynced.isEmpty else { return }
    try begin()
    do throws(FileError) {
      try putGroup(unsynced.flatMap { $0 }, otherNext: otherNext)
      try syncSegment()
    } catch {
      abandon(after: error)
      throw .notWritten(error)
    }
  }

  /// Begins a segment with nothing but its header, which says what counts of the one before.
  func settle() throws(LogError) {
    try begin()
    do throws(FileError) {
      try writeHeader()
    } catch {
      abandon(after: error)
      throw .notWritten(error)
    }
  }

  /// Writes the header of the segment by itself, durable on return.
  private func writeHeader() throws(FileError) {
    guard var next = segment else { return }
    try next.file.write(next.pendingHeader, at: 0)
    next.seal.wrote(next.pendingHeader)
    try next.file.sync()
    next.pendingHeader = []
    next.syncedEnd = LogLayout.segmentHeaderByteCount
    segment = next
  }

  // MARK: - Idle and end

  /// States what is durable, unsynced, so that a later opening can tell a torn tail from damage,
  /// and makes the next segment ready.
  func idle(otherNext: UInt64) throws(LogError) {
    guard wantsMark else { return }
    wantsMark = false
    guard var current = segment else { return }
    do throws(FileError) {
      var mark = group(current, otherNext: otherNext)
      mark.append(mark: .idleMark)
      let bytes = mark.bytes()
      try put(bytes, into: current)
      current.offset += bytes.count
      current.frameNumber = mark.frameNumber
      segment = current
    } catch {
      throw retire(error, otherNext: otherNext)
    }
    // Failing here is no harm: the roll tries again and then says so.
    if current.offset > options.segmentByteLimit / 2 { files.makeReady(lastOrdinal + 1) }
  }

  /// Ends the stream: closing marks, no prepared file. A file that an earlier life or an error left
  /// open is settled by the header of a segment that holds nothing else.
  func close(otherNext: UInt64) throws(LogError) {
    try catchUp(otherNext: otherNext)
    if segment == nil, isUnsettled { try begin() }
    do throws(FileError) {
      // The closing marks prove all that stands before them, a header too.
      if segment?.pendingHeader.isEmpty == false { try writeHeader() }
      try syncSegment()
      let wasOpen = segment != nil
      try finish(otherNext: otherNext)
      if wasOpen { isClosed = true }
    } catch {
      abandon(after: error)
      throw LogError(error)
    }
    do throws(FileError) { try files.dropReady() } catch { throw LogError(error) }
  }
}
