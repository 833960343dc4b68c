import DaybookFormat
import DaybookLog
import DaybookSync

/// Counts over one log: its files, its entries, and what they come to.
struct LogStatistics {
  /// One stream's counts.
  struct Stream {
    var segmentCount = 0
    var byteCount = 0
    var frameCount = 0
    var entryCount = 0
    /// The number of the last entry; 0 without any.
    var last: UInt64 = 0
    var kinds: [UInt8: Int] = [:]
  }

  /// The files beside the segments that count, which take room all the same.
  struct Others {
    let name: String
    var count = 0
    var byteCount: UInt64 = 0
  }

  var streams: [String: Stream] = [:]
  /// Superseded files, snapshots and the quarantine, as far as there are any.
  private(set) var others: [Others] = []
  /// The clocks of the first and the last frame with entries, by the device's clock.
  private(set) var oldest: HybridTime?
  private(set) var newest: HybridTime?
  var findings: [LogFinding] = []

  /// Counts the files of `log`.
  init(_ log: OpenedLog) throws(LogError) {
    let witnesses = try log.directory.witnesses()
    var counted: Set<String> = []
    for stream in log.streams {
      streams[stream] = Stream()
      var segments = try log.directory.segments(of: stream, witnesses: witnesses)
      while let report = try segments.next() {
        if Task.isCancelled { throw .closed }
        findings += report.findings
        if let version = report.newerVersion {
          throw .newerFormat(
            file: report.file, found: Int(version), supported: Int(LogLayout.version))
        }
        add(report, to: stream)
        counted.insert(report.file)
      }
    }
    try countOthers(of: log.directory, besides: counted)
  }

  /// The bytes of everything that was counted.
  var byteCount: Int {
    streams.values.reduce(0) { $0 + $1.byteCount }
      + others.reduce(0) { $0 + Int(clamping: $1.byteCount) }
  }

  private mutating func countOthers(
    of directory: LogDirectory, besides counted: Set<String>
  ) throws(LogError) {
    var superseded = Others(name: "superseded")
    for stream in directory.streams {
      for file in try directory.sized(stream.superseded) where !counted.contains(file.file.file) {
        superseded.count += 1
        superseded.byteCount += file.byteCount
      }
    }
    var snapshots = Others(name: "snapshots", count: directory.snapshots.count)
    for file in directory.snapshots {
      snapshots.byteCount += try directory.byteCount(of: file.file)
    }
    let kept = try directory.quarantined()
    let quarantine = Others(name: "quarantine", count: kept.count, byteCount: kept.byteCount)
    others = [superseded, snapshots, quarantine].filter { $0.count > 0 }
  }

  private mutating func add(_ report: SegmentReport, to name: String) {
    var stream = streams[name] ?? Stream()
    if report.verdict != .missing || report.byteCount > 0 { stream.segmentCount += 1 }
    stream.byteCount += report.byteCount
    stream.frameCount += report.frames.count
    for frame in report.frames {
      let clock = HybridTime(rawValue: frame.header.clock)
      oldest = oldest.map { min($0, clock) } ?? clock
      newest = newest.map { max($0, clock) } ?? clock
      stream.entryCount += frame.parts.count
      stream.last = max(stream.last, frame.nextNumber - 1)
      for part in frame.parts { stream.kinds[part.kind, default: 0] += 1 }
    }
    streams[name] = stream
  }
}

/// What a log's entries come to: records, positions, what waits, who the server is.
struct LogContents {
  private(set) var state: ClientState
  /// Live records by collection, as a server's log tells them.
  private var live: Set<RecordKey> = []
  private(set) var history: HistoryIdentity?
  private(set) var positions: [String: ScopePosition] = [:]
  private(set) var incarnations: [Identifier: IncarnationRow] = [:]
  private let isServer: Bool

  init(_ log: OpenedLog) {
    isServer = log.isServer
    state = ClientState(
      schema: Schema(name: "", collections: []), incarnation: log.header?.incarnation ?? .zero)
  }

  /// Nothing follows.
  mutating func end() { state.endReplay() }

  mutating func add(_ entry: Entry, position: UInt64) {
    guard isServer else {
      state.apply(entry, position: position)
      return
    }
    switch entry {
    case .history(let identity): history = identity
    case .incarnation(let row): incarnations[row.incarnation] = row
    case .change(let change):
      positions[change.scope] = ScopePosition(
        sequence: change.sequence, mark: change.version.mark)
      if change.isSuperfluous { return }
      switch change.extent {
      case .removal: live.remove(change.record)
      case .row, .delta: live.insert(change.record)
      }
    default: break
    }
  }

  /// The server's identity, once known.
  var serverID: Identifier? { isServer ? history?.serverID : state.binding?.serverID }

  /// The history that positions belong to.
  var epoch: Identifier? { isServer ? history?.epoch : state.epoch }

  /// The number of live records of the base by collection, in byte order.
  var records: [(collection: String, count: Int)] {
    var counts: [String: Int] = [:]
    if isServer {
      for key in live { counts[key.collection, default: 0] += 1 }
    } else {
      counts = state.collections.mapValues { $0.base.values.count { $0.rowBytes != nil } }
    }
    return counts.sorted { ByteOrder.precedes($0.key, $1.key) }.map { ($0.key, $0.value) }
  }

  /// How far each scope has come, in byte order; `nil` for one whose bootstrap is not complete.
  var scopes: [(name: String, position: ScopePosition?)] {
    let places: [(String, ScopePosition?)] =
      isServer
      ? positions.map { ($0.key, $0.value) } : state.scopes.map { ($0.key, $0.value.position) }
    return places.sorted { ByteOrder.precedes($0.0, $1.0) }
  }

  /// Kept operations by how they stand, only those that there are.
  var standings: [(standing: OperationStanding, count: Int)] {
    let all = state.keptOperations.map {
      OperationStanding(settlement: $0.settlement, departure: $0.departure)
    }
    return OperationStanding.allCases.compactMap { standing in
      let count = all.count { $0 == standing }
      return count == 0 ? nil : (standing, count)
    }
  }
}
