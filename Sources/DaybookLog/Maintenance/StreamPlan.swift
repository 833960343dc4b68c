/// A file of a stream and its size.
package struct SizedFile: Sendable, Hashable {
  /// The file.
  package let file: StreamFile
  /// Its size.
  package let byteCount: UInt64

  /// The file of this size.
  package init(file: StreamFile, byteCount: UInt64) {
    self.file = file
    self.byteCount = byteCount
  }
}

/// Which files of a stream are worth being made into one, by their sizes alone.
package struct StreamPlan: Sendable {
  private let limits: MaintenanceLimits

  /// A plan by `limits`.
  package init(limits: MaintenanceLimits) { self.limits = limits }

  /// The next range to be compacted; `nil` if there is nothing to do. `files` serve the ordinals,
  /// in order, and nothing is written to any of them again. `damaged` ones are left alone.
  /// `garbage` tells how many bytes of an output could go, as far as that is known.
  package func next(
    _ files: [SizedFile], damaged: Set<StreamFile> = [],
    garbage: (StreamFile) -> UInt64? = { _ in nil }
  ) -> [StreamFile]? {
    for run in runs(of: files, without: damaged) {
      if let range = raw(run) ?? worn(run, garbage) ?? merged(run) { return range }
    }
    return nil
  }

  /// Files that follow each other without a hole and without a damaged one.
  private func runs(of files: [SizedFile], without damaged: Set<StreamFile>) -> [[SizedFile]] {
    var runs: [[SizedFile]] = []
    var next: UInt64?
    for file in files {
      if damaged.contains(file.file) {
        next = nil
        continue
      }
      if file.file.first == next { runs[runs.count - 1].append(file) } else { runs.append([file]) }
      next = file.file.last + 1
    }
    return runs
  }

  /// Segments as they were written, from the first one on.
  private func raw(_ run: [SizedFile]) -> [StreamFile]? {
    let raw = run.split(whereSeparator: \.file.isCompacted).first { part in
      part.reduce(0) { $0 + $1.byteCount } >= limits.rawByteLimit
        || part.count >= limits.rawFileLimit
    }
    return raw.map { prefix(of: $0) }
  }

  /// An output of which most could go.
  private func worn(_ run: [SizedFile], _ garbage: (StreamFile) -> UInt64?) -> [StreamFile]? {
    let worn = run.first { file in
      guard file.file.isCompacted, let bytes = garbage(file.file) else { return false }
      return bytes >= limits.garbageByteLimit && bytes > file.byteCount / 2
    }
    return worn.map { [$0.file] }
  }

  /// Many small files from an output to an output: with what was left between them, as a file whose
  /// header never became whole.
  private func merged(_ run: [SizedFile]) -> [StreamFile]? {
    for start in run.indices where run[start].file.isCompacted {
      var range = prefix(of: run[start...])
      while let last = range.last, !last.isCompacted { range.removeLast() }
      if range.count >= limits.mergeFileLimit { return range }
    }
    return nil
  }

  /// The first files of `files` that are together within the limit; at least one.
  private func prefix(of files: ArraySlice<SizedFile>) -> [StreamFile] {
    var sum: UInt64 = 0
    var range: [StreamFile] = []
    for file in files {
      sum += file.byteCount
      if !range.isEmpty, sum > limits.inputByteLimit { break }
      range.append(file.file)
    }
    return range
  }
}
