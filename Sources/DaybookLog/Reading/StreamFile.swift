import DaybookFormat

/// A file of a stream, by what its name says: `00000007.g0.dbs` is a segment as it was written,
/// `00000001-00000009.g1.dbs` what a compaction made of nine of them.
package struct StreamFile: Sendable, Hashable {
  /// The first ordinal that it covers.
  package let first: UInt64
  /// The last ordinal that it covers.
  package let last: UInt64
  /// 0 for a segment as it was written; what a compaction makes has one more than its inputs.
  package let generation: UInt32
  /// The file, from the log's directory on.
  package let file: String

  /// The file of `stream` that covers `first` to `last`.
  package init(stream: String, first: UInt64, last: UInt64, generation: UInt32) {
    self.first = first
    self.last = last
    self.generation = generation
    let ordinals =
      generation == 0
      ? StreamFile.digits(first) : "\(StreamFile.digits(first))-\(StreamFile.digits(last))"
    file = "\(stream)/\(ordinals).g\(generation)\(LogLayout.segmentSuffix)"
  }

  /// The file `name` in the folder of `stream`; `nil` if it is no segment's name. Other spellings
  /// of a number would be the same segment twice, so they are none.
  init?(name: String, stream: String) {
    guard name.hasSuffix(LogLayout.segmentSuffix) else { return nil }
    let parts = name.dropLast(LogLayout.segmentSuffix.count).split(
      separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasPrefix("g"), let generation = UInt32(parts[1].dropFirst())
    else { return nil }
    let ordinals = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard (1...2).contains(ordinals.count), let first = UInt64(ordinals[0]),
      let last = UInt64(ordinals[ordinals.count - 1]), first <= last,
      (1...LogLayout.numberLimit).contains(first), last <= LogLayout.numberLimit,
      (generation == 0) == (ordinals.count == 1)
    else { return nil }
    self.init(stream: stream, first: first, last: last, generation: generation)
    guard file == "\(stream)/\(name)" else { return nil }
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
  }

  /// What a compaction made.
  package var isCompacted: Bool { generation > 0 }

  /// Whether it covers all that `other` does, and is newer.
  func supersedes(_ other: StreamFile) -> Bool {
    generation > other.generation && first <= other.first && other.last <= last
  }

  /// The files of `all` that serve the ordinals, by ordinal: for each the highest generation that
  /// covers it. What they make superfluous is left out. Those in `void` have no header: they cover
  /// nothing, and are there only where no other file is.
  ///
  /// Outputs cover whole files, so of two that overlap the newer one covers the other.
  static func cover(_ all: [StreamFile], void: Set<StreamFile> = []) -> [StreamFile] {
    // Newest first: what is chosen is covered by nothing else.
    let outputs = all.filter(\.isCompacted).sorted {
      ($0.generation, $1.first) > ($1.generation, $0.first)
    }
    var chosen: [StreamFile] = []
    for file in outputs where !void.contains(file) && !chosen.contains(where: file.overlaps) {
      chosen.append(file)
    }
    chosen += all.filter { file in
      !file.isCompacted && !chosen.contains(where: file.overlaps)
    }
    for file in outputs where void.contains(file) && !chosen.contains(where: file.overlaps) {
      chosen.append(file)
    }
    return chosen.sorted { $0.first < $1.first }
  }

  /// Whether `files`, in order, cover all ordinals from `first` to `last`.
  static func isWhole(_ files: [StreamFile], from first: UInt64, to last: UInt64) -> Bool {
    var next = first
    for file in files {
      guard file.first == next else { return false }
      next = file.last + 1
    }
    return next == last + 1
  }

  func overlaps(_ other: StreamFile) -> Bool {
    first <= other.last && other.first <= last
  }
}
