import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A log of two lives with six outbox and five feed entries, to be damaged at known places.
struct WoundedLog {
  static let steps: [Workload.Step] = [
    .open, .append("outbox", [["o1"]]), .append("feed", [["f1"], ["f2"]]), .idle,
    .append("outbox", [["o2"], ["o3"], ["o4"]]), .append("feed", [["f3"]]),
    .append("outbox", [["o5"]]), .append("feed", [["f4"]]), .idle, .close,
    .open, .append("outbox", [["o6"]]), .append("feed", [["f5"]]), .idle,
  ]
  static let all: Set<String> = [
    "outbox:1 o1", "outbox:2 o2", "outbox:3 o3", "outbox:4 o4", "outbox:5 o5", "outbox:6 o6",
    "feed:1 f1", "feed:2 f2", "feed:3 f3", "feed:4 f4", "feed:5 f5",
  ]

  let disk: SimulatedDisk

  init() {
    let disk = SimulatedDisk()
    var workload = Workload()
    workload.run(Self.steps, on: disk)
    self.disk = disk.crashed(.persisted, seed: 1)
  }

  init(disk: SimulatedDisk) { self.disk = disk }

  /// The same once more, to be damaged in another way.
  var copy: WoundedLog { WoundedLog(disk: disk.crashed(.killed, seed: 0)) }

  static func path(_ file: String) -> String { "\(SmallLog.directory)/\(file)" }

  func content(_ file: String) throws -> [UInt8] {
    try #require(disk.content(of: Self.path(file)))
  }

  /// Flips a bit at each offset of `file`.
  func flip(_ file: String, _ offsets: [Int]) throws {
    var bytes = try content(file)
    for offset in offsets { bytes[offset] ^= 4 }
    disk.put(bytes, at: Self.path(file))
  }

  /// Zeros whole pages of `file`.
  func zero(_ file: String, pages: [Int]) throws {
    var bytes = try content(file)
    for page in pages {
      for offset in (page * 4_096)..<min(page * 4_096 + 4_096, bytes.count) { bytes[offset] = 0 }
    }
    disk.put(bytes, at: Self.path(file))
  }

  func drop(_ file: String) { disk.drop(Self.path(file)) }

  /// The frames of `file`.
  func frames(_ file: String) throws -> [SegmentScan.Frame] {
    SegmentScan(try content(file)).frames
  }

  /// Where the original and the echo of the frame that holds `number` begin.
  func copies(_ file: String, holding number: UInt64) throws -> [Int] {
    try frames(file).filter {
      $0.isBatch && $0.header.firstNumber <= number && number < $0.nextNumber
    }.map(\.offset)
  }

  /// The files of the log, without `HEAD`, `LOCK` and quarantine.
  var contents: [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for path in disk.paths where path.hasSuffix(".dbs") || path.contains("/quarantine/") {
      contents[path] = disk.content(of: path)
    }
    return contents
  }

  var quarantine: [String] { disk.paths.filter { $0.contains("/quarantine/") } }

  /// The files of `stream` that hold something, in order.
  func files(_ stream: String) -> [String] {
    disk.paths.filter { path in
      path.hasPrefix(Self.path(stream)) && disk.content(of: path)?.contains { $0 != 0 } == true
    }.map { String($0.dropFirst(SmallLog.directory.count + 1)) }
  }

  /// The file of `stream` that holds `number`, and where each copy of its frame begins.
  func place(_ stream: String, _ number: UInt64) throws -> (file: String, copies: [Int]) {
    for file in files(stream) {
      let copies = try copies(file, holding: number)
      if !copies.isEmpty { return (file, copies) }
    }
    throw LogError.noSuchStream(stream)
  }

  /// Zeros the pages on which copies of the frame of `number` begin.
  func zero(_ stream: String, _ number: UInt64) throws {
    let (file, copies) = try place(stream, number)
    try zero(file, pages: copies.map { $0 / 4_096 })
  }

  /// Flips a bit in the first entry of the frame of `number`, in each copy.
  func flip(_ stream: String, _ number: UInt64) throws {
    let (file, copies) = try place(stream, number)
    try flip(file, copies.map { $0 + 84 })
  }

  /// Ways to damage the log, with what is lost for good and the first entry of the feed that does
  /// not count.
  static let wounds: [Wound] = [
    Wound("both copies of a group", lost: 2...4) { try $0.zero("outbox", 3) },
    Wound("the last group, that a mark knows of", lost: 6...6) { try $0.zero("outbox", 6) },
    Wound("a whole outbox segment", lost: 1...4) { log in
      log.drop(try log.place("outbox", 1).file)
    },
    Wound("a frame of the feed", cut: 3) { try $0.flip("feed", 3) },
    Wound("the last frame of the feed", cut: 5) { try $0.flip("feed", 5) },
    Wound("a whole feed segment", cut: 1) { $0.drop($0.files("feed")[0]) },
    Wound("all of the feed", cut: 1) { log in for file in log.files("feed") { log.drop(file) } },
    Wound("both streams", lost: 5...5, cut: 3) { log in
      try log.zero("outbox", 5)
      try log.flip("feed", 3)
    },
    Wound("one copy of a frame") { log in
      let (file, copies) = try log.place("outbox", 3)
      try log.flip(file, [copies[0] + 84])
    },
  ]
}

/// One way to damage a ``WoundedLog``.
struct Wound: CustomTestStringConvertible, Sendable {
  let name: String
  let lost: ClosedRange<UInt64>?
  let cut: UInt64?
  let inflict: @Sendable (WoundedLog) throws -> Void

  init(
    _ name: String, lost: ClosedRange<UInt64>? = nil, cut: UInt64? = nil,
    _ inflict: @escaping @Sendable (WoundedLog) throws -> Void
  ) {
    self.name = name
    self.lost = lost
    self.cut = cut
    self.inflict = inflict
  }

  var testDescription: String { name }

  /// The damaged log.
  func log() throws -> WoundedLog {
    let log = WoundedLog()
    try inflict(log)
    return log
  }

  /// What must be replayed.
  var left: Set<String> {
    WoundedLog.all.filter { place in
      let number = UInt64(place.drop { $0 != ":" }.dropFirst().prefix { $0 != " " }) ?? 0
      if place.hasPrefix("outbox") { return lost?.contains(number) != true }
      return number < cut ?? .max
    }
  }
}
