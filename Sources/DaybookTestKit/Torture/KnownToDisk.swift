import DaybookFormat
import DaybookLog

/// What was done to one file.
struct TortureDamage {
  /// The first byte of it.
  let offset: Int
  /// The log had been closed whole before.
  let wasClosed: Bool
}

/// What the files of a damaged log still tell: what nothing tells can't be missed by anybody.
struct KnownToDisk {
  /// The highest number of the feed that anything names as durable.
  private(set) var durableFeed: UInt64 = 0
  /// The highest number that a valid frame of a damaged file of the feed names: what is found lost
  /// is never given out again up to there.
  private(set) var namedFeed: UInt64 = 0
  /// Files of which only bytes were damaged that a write could have left there which never
  /// finished: those behind the end that the next header names, or, if that never became whole,
  /// all besides entries.
  private(set) var untold: Set<String> = []

  /// Files that opening does not read: superseded ones, what a snapshot stands for, and older
  /// snapshots.
  private(set) var unread: Set<String> = []

  /// Reads the log on `disk`, of which `damaged` are the files that were damaged.
  init?(_ disk: SimulatedDisk, _ damaged: Set<String>, _ fresh: [String: TortureDamage]) {
    do throws(LogError) {
      let found = try LogDirectory(TortureWorld.directory, fileSystem: disk)
      durableFeed = try found.witnesses()[TortureStreamName.feed.rawValue] ?? 0
      unread = Set(found.snapshots.dropLast().map(\.file))
      if let last = found.snapshots.last, try found.readSnapshot(last) != nil {
        // Upkeep has made it anew.
        unread.insert(last.file)
      }
      let all = Set(disk.paths)
      unread.formUnion(damaged.filter { !all.contains("\(TortureWorld.directory)/\($0)") })
      let floor = found.snapshots.last?.feedNumber ?? 0
      for stream in found.streams {
        unread.formUnion(stream.superseded.map(\.file))
        if stream.name == TortureStreamName.feed.rawValue, floor > 0 {
          for file in stream.serving {
            if let first = try found.firstNumber(of: file), first > floor { continue }
            unread.insert(file.file)
          }
        }
        for (place, file) in stream.serving.enumerated() where damaged.contains(file.file) {
          if place + 1 < stream.serving.count {
            let next = stream.serving[place + 1].file
            let named = try found.scan(next).header?.predecessor
            let end = named.map { $0.tail == nil ? Int($0.validEnd) : Int.max } ?? 0
            if fresh[file.file]?.offset ?? 0 >= end { untold.insert(file.file) }
          } else if !isNamedClosed(stream.name, in: found) {
            untold.insert(file.file)
          }
          guard stream.name == TortureStreamName.feed.rawValue else { continue }
          for frame in try found.scan(file.file).frames {
            durableFeed = max(durableFeed, frame.header.durableNumber)
            namedFeed = max(namedFeed, frame.nextNumber - 1)
          }
        }
      }
    } catch {
      return nil
    }
  }

  /// Whether `HEAD` says that the stream was closed: a closing that was cut short is torn.
  private func isNamedClosed(_ stream: String, in found: LogDirectory) -> Bool {
    found.head?.streams.first { $0.name == stream }?.isClosed ?? false
  }
}
