import DaybookFormat

/// Makes one file of a range of a stream's files, of which nothing is ever written to again: the
/// entries that are kept, and the proof that the others were there.
///
/// Inputs are verified first; a damaged one is left alone for ever. The output is written beside
/// its name, sealed, synced, closed, opened again and verified; only then it gets its name, and
/// only then its inputs are superseded. A crash anywhere leaves the inputs as they are. Source:
/// `Docs/Format.md`, section "Compaction".
package struct Compactor {
  /// What a compaction did.
  package struct Outcome: Sendable, Hashable {
    /// The new file.
    package let output: StreamFile
    /// What it covers.
    package let inputs: [StreamFile]
    /// The entries kept.
    package let keptCount: Int
    /// The entries dropped.
    package let droppedCount: Int
    /// The bytes of the output.
    package let byteCount: UInt64
  }

  let directory: LogDirectory
  private let random: () -> UInt64
  /// Between two steps: whether to stop.
  private let isStopped: () -> Bool

  /// A compactor of the log in `directory`, whose lock the caller's process holds. Salts come from
  /// `random`; once `isStopped` says so it ends at the next file.
  package init(
    _ directory: LogDirectory, random: @escaping () -> UInt64,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.directory = directory
    self.random = random
    self.isStopped = isStopped
  }

  /// Makes one file of `files`, serving files of `stream` that follow each other, keeping the
  /// entries that `keeps` names. `nil` if it was stopped, or if an input is not whole, which is
  /// told to `unfit`: then nothing has changed.
  ///
  /// On return the output survives a power cut, and replay reads it instead of its inputs.
  /// - Throws: ``LogError``: `diskFull`, `notPermitted`, `inputOutput`; `damaged` if what is read
  ///   back is not what was written.
  package func compact(
    _ stream: String, _ files: [StreamFile], isEchoed: Bool, isCompressed: Bool,
    unfit: (StreamFile) -> Void = { _ in }, keeps: (LogEntry) -> Bool
  ) throws(LogError) -> Outcome? {
    guard let first = files.first, let last = files.last,
      StreamFile.isWhole(files, from: first.first, to: last.last),
      let header = try header(of: files, stream: stream, isEchoed: isEchoed)
    else {
      if let first = files.first { unfit(first) }
      return nil
    }
    let output = StreamFile(
      stream: stream, first: first.first, last: last.last, generation: header.generation)
    let temporary = output.file + LogDirectory.temporarySuffix
    let path = "\(directory.path)/\(temporary)"
    do throws(FileError) {
      if try directory.fileSystem.attributes(of: path) != nil {
        try directory.fileSystem.remove(path)
      }
    } catch {
      throw LogError(error)
    }
    var isMade = false
    // A full disk is to have its space back.
    defer { if !isMade { try? directory.fileSystem.remove(path) } }
    guard
      let made = try write(
        path, header: header, isCompressed: isCompressed, stream: stream, files: files,
        unfit: unfit, keeps: keeps)
    else { return nil }
    let bytes = try directory.bytesFromDevice(of: temporary)
    guard let content = SealedScan(SegmentScan(bytes), bytes: bytes), content.isProven(),
      content.header == header, content.seal.count == UInt64(made.kept),
      content.seal.chain == made.chain
    else { throw .damaged(LogFinding(.frame, file: temporary, offset: 0)) }
    do throws(FileError) {
      try SealedFileWriter.publish(
        output.file, in: directory.path, fileSystem: directory.fileSystem)
    } catch {
      throw LogError(error)
    }
    isMade = true
    return Outcome(
      output: output, inputs: files, keptCount: made.kept, droppedCount: made.dropped,
      byteCount: UInt64(bytes.count))
  }

  /// The header of the output; `nil` if an input's can't be read.
  private func header(
    of files: [StreamFile], stream: String, isEchoed: Bool
  ) throws(LogError) -> SegmentHeader? {
    guard let first = files.first, let last = files.last,
      let begin = try directory.header(of: first.file), begin.stream == stream,
      begin.ordinal == first.first
    else { return nil }
    var incarnation = begin.incarnation
    var hasGaps = false
    for file in files {
      guard let header = try directory.header(of: file.file) else { continue }
      incarnation = header.incarnation
      hasGaps = hasGaps || header.beginsAfterDamage
    }
    var header = SegmentHeader(
      logID: begin.logID, incarnation: incarnation,
      salt: Identifier(high: random(), low: random()), stream: stream, ordinal: first.first,
      isEchoed: isEchoed, firstNumber: begin.firstNumber, clock: begin.clock,
      predecessor: begin.predecessor, account: begin.account)
    header.lastOrdinal = last.last
    // Gap entries are looked for where headers say so.
    header.beginsAfterDamage = hasGaps
    let newest = files.map(\.generation).max() ?? 0
    guard newest < .max else { return nil }
    header.generation = newest + 1
    return header
  }

  private func write(
    _ path: String, header: SegmentHeader, isCompressed: Bool, stream: String,
    files: [StreamFile], unfit: (StreamFile) -> Void, keeps: (LogEntry) -> Bool
  ) throws(LogError) -> (kept: Int, dropped: Int, chain: ChainValue)? {
    var range = try RangeReader(directory, stream: stream, files: files)
    var writer: SealedFileWriter
    do throws(FileError) {
      writer = try SealedFileWriter(
        path, header: header, isCompressed: isCompressed, durableNumber: header.firstNumber - 1,
        otherNext: 0, fileSystem: directory.fileSystem)
    } catch {
      throw LogError(error)
    }
    var proofs: [SegmentProof] = []
    var counts = (kept: 0, dropped: 0)
    var end = header.firstNumber - 1
    while let parts = try range.next() {
      guard !parts.isEmpty, !isStopped() else {
        if parts.isEmpty { unfit(range.current) }
        writer.abandon()
        return nil
      }
      for part in parts {
        let (proof, kept) = range.reduce(part, isFirst: proofs.isEmpty, keeps: keeps)
        do throws(FileError) {
          for entry in kept {
            try writer.append(
              kind: entry.kind,
              kept: KeptEntry(
                number: entry.number, otherNext: entry.otherNext, clock: entry.clock.rawValue,
                bytes: entry.bytes))
          }
        } catch {
          writer.abandon()
          throw LogError(error)
        }
        proofs.append(proof)
        counts.kept += kept.count
        counts.dropped += part.entries.count - kept.count
        end = max(end, proof.lastNumber)
      }
      range.compareChain()
      if !range.isProven { break }
    }
    guard range.isProven else {
      unfit(range.current)
      writer.abandon()
      return nil
    }
    do throws(FileError) {
      for proof in proofs { try writer.append(proof: proof) }
      try writer.seal(numbers: (header.firstNumber, end), chain: range.chain)
    } catch {
      writer.abandon()
      throw LogError(error)
    }
    return (counts.kept, counts.dropped, range.chain)
  }
}
