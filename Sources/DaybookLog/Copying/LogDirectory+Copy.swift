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
  /// that do not and that no whole compaction output covers, because the reader takes from them
  /// what it misses.
  func neededFiles(of stream: Stream) throws(LogError) -> [StreamFile] {
    var needed: [StreamFile] = []
    var others = stream.superseded
    for file in stream.serving {
      needed.append(file)
      let older = others.filter(file.overlaps)
      if older.isEmpty { continue }
      others.removeAll(where: older.contains)
      var isWhole = false
      if file.isCompacted { isWhole = try isProvenWhole(file) }
      needed += older.filter { !isWhole || !file.supersedes($0) }
    }
    return needed
  }

  /// Whether `file`, a compaction output, is as it was written, and what it holds as it proves it.
  /// Reads it from the device.
  func isProvenWhole(_ file: StreamFile) throws(LogError) -> Bool {
    let bytes = try bytesFromDevice(of: file.file)
    return SealedScan(SegmentScan(bytes), bytes: bytes)?.isProven() ?? false
  }

  /// The log without a compaction output in which `prefix` ends, and which can't be cut: what it
  /// was made of is there, and can be. `nil` if there is no such output.
  func opened(where prefix: LogPrefix) throws(LogError) -> LogDirectory? {
    for (name, end) in prefix.ends {
      guard let place = streams.firstIndex(where: { $0.name == name }),
        let output = streams[place].serving.first(where: { $0.file == end.file }),
        output.isCompacted
      else { continue }
      let others = streams[place].files.filter { $0 != output }
      let inputs = StreamFile.cover(
        others.filter { output.first <= $0.first && $0.last <= output.last })
      guard StreamFile.isWhole(inputs, from: output.first, to: output.last),
        try goesBeyond(prefix, output, end, of: name)
      else { continue }
      var opened = self
      opened.streams[place] = Stream(name: name, files: others)
      return opened
    }
    return nil
  }

  /// Whether `output` holds more than `prefix`, of which the stream's `end` is in it.
  private func goesBeyond(
    _ prefix: LogPrefix, _ output: StreamFile, _ end: LogPrefix.End, of name: String
  ) throws(LogError) -> Bool {
    let others = prefix.ends.filter { $0.key != name }
    let otherNext = others.map(\.value.nextNumber).max() ?? 1
    let bytes = try self.bytes(of: output.file)
    guard let sealed = SealedScan(SegmentScan(bytes), bytes: bytes) else { return false }
    return sealed.seal.lastNumber >= end.nextNumber
      || sealed.frames.flatMap(\.byOtherNext).contains { $0.header.otherNext > otherNext }
  }
}
