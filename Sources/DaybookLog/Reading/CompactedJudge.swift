import DaybookFormat

/// Decides what a file holds that a compaction made. It was written at once and sealed, so it is
/// whole, or its bytes were damaged later: nothing in it is ever a torn tail.
struct CompactedJudge {
  /// The report of `scan`, made of `bytes`, which stands for the ordinals of `file`; `next` is the
  /// number that it must begin with.
  static func judge(
    _ scan: SegmentScan, bytes: [UInt8], file: StreamFile, stream: String, next: UInt64,
    successor: SegmentHeader?
  ) -> SegmentReport {
    var report = SegmentReport(
      file: file.file, stream: stream, ordinal: file.first, lastOrdinal: file.last, scan: scan,
      nextNumber: next)
    report.fileChecksum = CRC32C.checksum(bytes)
    report.validEnd = bytes.count
    if case .newer(let major, _) = scan.newer { report.newerVersion = major }
    let last = successor.map { $0.firstNumber - 1 }
    guard let header = scan.header, header.kind == .segment, header.stream == stream,
      header.ordinal == file.first, header.lastOrdinal == file.last
    else {
      report.add(.header, at: 0, from: next, to: max(last ?? next, next))
      report.nextNumber = (last ?? next) + 1
      return report
    }
    // Behind damage numbers go on above all that were ever named.
    let expected = min(header.predecessor?.lastNumber ?? .max, header.firstNumber - 1)
    if expected >= next || header.firstNumber < next {
      report.add(.missing, at: 0, from: next, to: expected)
    }
    report.nextNumber = header.firstNumber
    if let sealed = SealedScan(scan, bytes: bytes) {
      report.sealed = sealed
      report.isClosed = true
      report.frames = sealed.frames.flatMap(\.byOtherNext)
      report.nextNumber = sealed.seal.lastNumber + 1
    } else {
      report.salvage(scan, last: last)
    }
    return report
  }
}

extension SegmentReport {
  /// Adds a finding that the entries `first` to `last` are lost by, if there are any.
  fileprivate mutating func add(
    _ kind: LogFinding.Kind, at offset: Int, from first: UInt64, to last: UInt64
  ) {
    findings.append(
      LogFinding(
        kind, file: file, offset: UInt64(offset), lost: first <= last ? first...last : nil))
  }

  /// Takes every frame that is there, in one copy or the other, and names what is not: between two
  /// frames any number may have been kept.
  fileprivate mutating func salvage(_ scan: SegmentScan, last: UInt64?) {
    var originals: [UInt64: SegmentScan.Frame] = [:]
    var echoes: [UInt64: SegmentScan.Frame] = [:]
    for frame in scan.frames {
      let number = frame.header.frameNumber
      switch frame.header.kind {
      case .keptEcho: echoes[number] = frame
      case .kept: originals[number] = frame
      case .closingMark: isClosed = true
      default: originals[number] = frame
      }
    }
    let seal = originals.values.first { $0.header.kind == .seal }.flatMap {
      try? Seal(bytes: $0.payload[...])
    }
    let end = seal?.lastNumber ?? last
    let highest = max(originals.keys.max() ?? 0, echoes.keys.max() ?? 0)
    let there = Set(originals.keys).union(echoes.keys).compactMap { originals[$0] ?? echoes[$0] }
    let count = there.reduce(0) { $0 + ($1.isBatch ? UInt64($1.parts.count) : 0) }
    // The seal says how many were kept: if all of them are there, a hole is that of a proof.
    let isComplete = seal?.count == count
    var place = LogLayout.segmentHeaderByteCount
    for number in 0...highest {
      guard let frame = originals[number] ?? echoes[number] else {
        let next = ((number + 1)...(highest + 1)).lazy.compactMap {
          originals[$0] ?? echoes[$0]
        }.first
        let behind = next?.isBatch == true ? next?.header.firstNumber : nil
        let lastLost = isComplete ? 0 : behind.map { $0 - 1 } ?? end ?? nextNumber
        let stray = scan.strayOffsets.first { $0 >= place } ?? place
        add(lastLost >= nextNumber ? .frame : .mark, at: stray, from: nextNumber, to: lastLost)
        nextNumber = max(nextNumber, lastLost + 1)
        continue
      }
      place = max(place, frame.end)
      guard frame.isBatch else { continue }
      if header?.isEchoed == true, originals[number] == nil || echoes[number] == nil {
        add(.frameCopy, at: frame.offset, from: 1, to: 0)
      }
      frames += frame.byOtherNext
      nextNumber = max(nextNumber, frame.nextNumber)
    }
    if let end, nextNumber <= end {
      // Behind the last kept entry all were dropped, unless the seal is gone too.
      if seal == nil { add(.frame, at: place, from: nextNumber, to: end) }
      nextNumber = end + 1
    }
    if findings.isEmpty {
      let stray = scan.strayOffsets.first ?? scan.badHeaderCopies.first ?? byteCount
      add(scan.badHeaderCopies.isEmpty ? .padding : .headerCopy, at: stray, from: 1, to: 0)
    }
  }
}

extension SegmentScan.Frame {
  /// A frame of kept entries as frames of which each was written at one place between the entries
  /// of the other stream; another frame as it is.
  var byOtherNext: [SegmentScan.Frame] {
    let entries = keptEntries
    guard let first = entries.first else { return [self] }
    var frames: [SegmentScan.Frame] = []
    var start = 0
    var current = first.entry
    func take(_ end: Int) {
      var header = self.header
      header.firstNumber = current.number
      header.otherNext = current.otherNext
      header.clock = current.clock
      header.entryCount = UInt32(end - start)
      frames.append(
        SegmentScan.Frame(
          offset: offset, header: header, stored: stored, payload: payload,
          parts: Array(parts[start..<end])))
    }
    for (index, kept) in entries.enumerated()
    where kept.entry.otherNext != current.otherNext || kept.entry.clock != current.clock {
      take(index)
      start = index
      current = kept.entry
    }
    take(entries.count)
    return frames
  }
}
