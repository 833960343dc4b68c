import DaybookFormat

/// The entries that a log gives, each by its number and a checksum: what a copy must give too. It
/// takes 16 bytes an entry.
struct LogCensus {
  private struct Mark {
    let number: UInt64
    let checksum: UInt32
  }

  /// The marks of each stream, by number.
  private var marks: [String: [Mark]] = [:]

  /// Reads all that the streams of `directory` hold. With `isWriter` the caller holds the lock of
  /// the log.
  init(of directory: LogDirectory, isWriter: Bool = false) throws(LogError) {
    var replay = try LogReplay(
      directory, streams: directory.copiedStreams, isWriter: isWriter, history: true)
    try replay.run { entry throws(LogError) in
      let checksum = CRC32C.checksum(entry.bytes, from: UInt32(entry.kind))
      marks[entry.stream, default: []].append(Mark(number: entry.number, checksum: checksum))
    }
    for stream in marks.keys { marks[stream]?.sort { $0.number < $1.number } }
  }

  /// The first stream of which `other` has entries that are not here, and how many; `nil` if all
  /// are. With `ends`, only entries up to these numbers count, and of no other stream.
  func lacks(
    of other: LogCensus, through ends: [String: UInt64]? = nil
  ) -> (stream: String, count: Int)? {
    for stream in other.marks.keys.sorted() {
      let own = marks[stream] ?? []
      let end = ends.map { $0[stream] ?? 0 } ?? .max
      var place = own.startIndex
      var count = 0
      for mark in other.marks[stream] ?? [] where mark.number <= end {
        while place < own.endIndex, own[place].number < mark.number { place += 1 }
        let isThere =
          place < own.endIndex && own[place].number == mark.number
          && own[place].checksum == mark.checksum
        if !isThere { count += 1 }
      }
      if count > 0 { return (stream, count) }
    }
    return nil
  }
}
