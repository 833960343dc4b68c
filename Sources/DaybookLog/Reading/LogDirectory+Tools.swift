import DaybookFormat

/// What the tools want to see beside what opening needs.
extension LogDirectory {
  /// Everything that the bytes of a segment hold, judged or not.
  package func scan(_ file: String) throws(LogError) -> SegmentScan {
    SegmentScan(try bytes(of: file))
  }

  /// The file name of a stream's segment, from the log's directory on, whether it is there or not.
  package static func file(of stream: String, ordinal: UInt64) -> String {
    segmentFile(stream: stream, ordinal: ordinal)
  }
}

extension LogDirectory {
  /// Makes what the last segments of `stream` hold durable, and has it read from the device: back
  /// to the newest one with a header, since all before it were synced when it was begun.
  func syncTail(of stream: Stream) throws(LogError) {
    guard !stream.segments.isEmpty else { return }
    do throws(FileError) {
      for segment in stream.segments.reversed() {
        let file = try fileSystem.open("\(path)/\(segment.file)", writable: false)
        defer { file.close() }
        try file.sync()
        file.dropCache()
        if try LogDirectory.header(of: segment.file, in: path, fileSystem) != nil { break }
      }
      try fileSystem.syncDirectory("\(path)/\(stream.name)")
    } catch {
      throw LogError(error)
    }
  }
}

extension SegmentReport {
  /// The entries of `frame`, one of this segment's.
  package func entries(of frame: SegmentScan.Frame) -> [LogEntry] {
    frame.entries(stream: stream, file: file)
  }
}

extension SegmentScan.Frame {
  /// The entries of the frame, which stands in `file` of `stream`; kept ones as they were written.
  func entries(stream: String, file: String) -> [LogEntry] {
    let isKept = header.kind == .kept || header.kind == .keptEcho
    return parts.enumerated().compactMap { place, part in
      let kept = isKept ? KeptEntry(stored: part.bytes) : nil
      if isKept, kept == nil { return nil }
      return LogEntry(
        stream: stream, number: kept?.number ?? header.firstNumber + UInt64(place),
        kind: part.kind, bytes: kept?.bytes ?? part.bytes,
        otherNext: kept?.otherNext ?? header.otherNext,
        clock: HybridTime(rawValue: kept?.clock ?? header.clock), file: self.file ?? file,
        frameOffset: UInt64(offset))
    }
  }
}
