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

extension SegmentReport {
  /// The entries of `frame`, one of this segment's.
  package func entries(of frame: SegmentScan.Frame) -> [LogEntry] {
    frame.parts.enumerated().map { place, part in
      LogEntry(
        stream: stream, number: frame.header.firstNumber + UInt64(place), kind: part.kind,
        bytes: part.bytes, otherNext: frame.header.otherNext,
        clock: HybridTime(rawValue: frame.header.clock), file: file,
        frameOffset: UInt64(frame.offset))
    }
  }
}
