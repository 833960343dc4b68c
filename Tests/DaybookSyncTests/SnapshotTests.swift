import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// An entry of a device's log, as a replay finds it.
struct ReplayedEntry {
  let entry: Entry
  let position: UInt64

  /// It is one of the feed.
  var isFeed: Bool { (16..<32).contains(entry.kind.rawValue) }
}

extension SimulatedDevice {
  /// All entries of the device's log in replay order.
  func entries() throws -> [ReplayedEntry] {
    try journal.replay().map { ReplayedEntry(entry: $0.entry, position: $0.position) }
  }
}

/// Folds `entries` into a state of `device`.
func fold(_ entries: [ReplayedEntry], of device: SimulatedDevice) -> ClientState {
  var state = ClientState(schema: World.schema, incarnation: device.state.incarnation)
  for found in entries { state.apply(found.entry, position: found.position) }
  state.endReplay()
  return state
}

/// The entries of a snapshot of `entries`, as their bytes give them back.
func snapshot(
  of entries: [ReplayedEntry], incarnation: Identifier
) throws -> [ReplayedEntry] {
  var fold = SnapshotFold(incarnation: incarnation)
  for found in entries { fold.add(found.entry, position: found.position) }
  var snapshot: [ReplayedEntry] = []
  try fold.export { entry throws(EntryError) in
    guard let back = try Entry(kind: entry.kind.rawValue, bytes: entry.bytes[...]) else { return }
    snapshot.append(ReplayedEntry(entry: back, position: UInt64(snapshot.count + 1)))
  }
  return snapshot
}

@Suite struct `snapshots of the base` {
  private static let seeds: Range<UInt64> = 0..<60

  /// What a log replays that has `snapshot`, made of the first `count` of `entries`.
  private func tail(
    behind snapshot: [ReplayedEntry], of entries: [ReplayedEntry], at count: Int
  ) -> [ReplayedEntry] {
    snapshot + entries.prefix(count).filter { !$0.isFeed } + entries.dropFirst(count)
  }

  @Test(arguments: seeds)
  func `a snapshot and what follows make the state of a full replay, byte for byte`(
    seed: UInt64
  ) async throws {
    let run = RandomRun(seed: seed)
    try await run.steps(160)
    var random = SplitMix64(seed: seed)
    for device in run.devices {
      let entries = try device.entries()
      let expected = fold(entries, of: device).canonicalBytes
      let incarnation = device.state.incarnation
      var older: (count: Int, entries: [ReplayedEntry])?
      for _ in 0..<12 {
        let count = Int(random.next() % UInt64(entries.count + 1))
        let place = "seed \(seed), \(device.configuration.name), entry \(count)"
        let made = try snapshot(of: Array(entries.prefix(count)), incarnation: incarnation)
        let replayed = fold(tail(behind: made, of: entries, at: count), of: device)
        #expect(replayed.canonicalBytes == expected, Comment(rawValue: place))
        if let older, older.count <= count {
          // A snapshot made from an older one is the one made from everything.
          let prefix = Array(entries.prefix(count))
          let behind = tail(behind: older.entries, of: prefix, at: older.count)
          let chained = try snapshot(of: behind, incarnation: incarnation)
          #expect(chained.map(\.entry.bytes) == made.map(\.entry.bytes), Comment(rawValue: place))
        }
        older = (count, made)
      }
    }
  }

  @Test func `a snapshot of nothing is empty, and one of an epoch alone holds it`() throws {
    let incarnation = Identifier(high: 1, low: 2)
    #expect(try snapshot(of: [], incarnation: incarnation).isEmpty)
    let epoch = Identifier(high: 3, low: 4)
    let entries = [ReplayedEntry(entry: .cursor(Cursor(epoch: epoch)), position: 1)]
    let made = try snapshot(of: entries, incarnation: incarnation)
    #expect(made.map(\.entry) == [.scopeBase(ScopeBase(scope: nil, epoch: epoch))])
  }
}

@Suite struct `a snapshot's place in the outbox` {
  @Test func `is not moved by what the feed says of its own damage`() {
    var fold = SnapshotFold(incarnation: Identifier(high: 1, low: 1))
    func gap(_ file: String) -> Entry {
      .gap(
        Gap(
          file: file, offset: 0, kind: "frame", lost: 3...7, cut: 3, evidence: [], quarantine: nil,
          time: Timestamp(milliseconds: 1)))
    }
    fold.add(gap("feed/00000002.g0.dbs"), position: 9)
    fold.add(gap("snapshots/0000000002-0000000001.dbs"), position: 10)
    #expect(fold.outboxNumber == 0)
    fold.add(gap("outbox/00000002.g0.dbs"), position: 4)
    #expect(fold.outboxNumber == 4)
  }
}
