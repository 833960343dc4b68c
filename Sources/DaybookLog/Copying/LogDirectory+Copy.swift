import DaybookFormat

/// What of a log has to be copied so that the copy gives all that the log gives.
extension LogDirectory {
  /// The streams of the log in the order in which a replay takes them: of two frames that may both
  /// come, the feed's was there first.
  var copiedStreams: [String] {
    let isServer = streams.contains { $0.name == "changes" && !$0.files.isEmpty }
    return isServer ? ["changes"] : ["feed", "outbox"]
  }

  /// There is no segment of any stream: nothing names what the log ever held but `HEAD`.
  package var hasNoSegment: Bool { streams.allSatisfy(\.files.isEmpty) }

  /// The files of `stream` that a copy needs, in order: those that serve, each followed by those
  /// that it supersedes if it is not whole, because the reader falls back to them.
  func neededFiles(of stream: Stream) throws(LogError) -> [StreamFile] {
    var needed: [StreamFile] = []
    for file in stream.serving {
      needed.append(file)
      guard file.isCompacted else { continue }
      let older = stream.superseded.filter { $0.first <= file.last && file.first <= $0.last }
      if !older.isEmpty, try !isProvenWhole(file) { needed += older }
    }
    return needed
  }

  /// Whether `file`, a compaction output, is as it was written, and what it holds as it proves it.
  /// Reads it from the device.
  func isProvenWhole(_ file: StreamFile) throws(LogError) -> Bool {
    let bytes = try bytesFromDevice(of: file.file)
    return SealedScan(SegmentScan(bytes), bytes: bytes)?.isProven() ?? false
  }
}
