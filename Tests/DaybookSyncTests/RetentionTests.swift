import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

extension SimulatedDevice {
  /// What a compaction at the entry `count` keeps of `entries`, and what follows.
  func compacted(
    _ entries: [ReplayedEntry], at count: Int, horizon: Int64
  ) -> (entries: [ReplayedEntry], keep: OutboxKeep) {
    let front = Array(entries.prefix(count))
    var retention = OutboxRetention()
    for found in front where !found.isFeed { retention.add(found.entry, number: found.position) }
    let keep = retention.keep(in: fold(front, of: self), horizonMilliseconds: horizon)
    let kept = front.filter { $0.isFeed || keep.contains($0.entry, number: $0.position) }
    return (kept + entries.dropFirst(count), keep)
  }
}

@Suite struct `what a compaction keeps of the outbox` {
  @Test(arguments: UInt64(0)..<60)
  func `what is kept makes the state that everything made, byte for byte`(
    seed: UInt64
  ) async throws {
    let run = RandomRun(seed: seed)
    try await run.steps(160)
    var random = SplitMix64(seed: seed)
    for device in run.devices {
      var entries = try device.entries()
      let expected = fold(entries, of: device).canonicalBytes
      for round in 0..<6 {
        let count = Int(random.next() % UInt64(entries.count + 1))
        let horizon = [0, 0, 30_000, 3_600_000][Int(random.next() % 4)]
        let made = device.compacted(entries, at: count, horizon: Int64(horizon))
        let place = "seed \(seed), \(device.configuration.name), \(round), entry \(count)"
        #expect(fold(made.entries, of: device).canonicalBytes == expected, "\(place)")
        // The snapshot taken before, with the outbox that is left, is as good as the feed.
        let front = Array(entries.prefix(count))
        let base = try snapshot(of: front, incarnation: device.state.incarnation)
        let left = made.entries.prefix(made.entries.count - (entries.count - count))
        let tail = base + left.filter { !$0.isFeed } + entries.dropFirst(count)
        #expect(fold(tail, of: device).canonicalBytes == expected, "\(place), snapshot")
        // What was kept once is compacted again.
        entries = made.entries
      }
    }
  }

  @Test func `with no horizon and everything at its end, little is left`() async throws {
    let run = RandomRun(seed: 7)
    try await run.steps(200)
    _ = try await run.finish()
    for device in run.devices {
      let entries = try device.entries()
      let made = device.compacted(entries, at: entries.count, horizon: 0)
      let before = entries.count { $0.entry.kind == .operation }
      let after = made.keep.operations.count
      #expect(after <= device.state.keptOperations.count * 2 + 3, "\(after) of \(before)")
    }
  }

  @Test func `what took effect within the horizon stays`() async throws {
    let run = RandomRun(seed: 3)
    try await run.steps(200)
    _ = try await run.finish()
    for device in run.devices {
      let entries = try device.entries()
      let written = Set(
        entries.compactMap { found in
          if case .operation(let operation) = found.entry { operation.id } else { nil }
        })
      let accepted = Set(
        entries.compactMap { found -> Identifier? in
          guard case .settlement(let settlement) = found.entry, settlement.acceptance != nil else {
            return nil
          }
          return settlement.operationID
        }
      ).intersection(written)
      let month: Int64 = 30 * 86_400_000
      let keep = device.compacted(entries, at: entries.count, horizon: month).keep
      #expect(accepted.isSubset(of: keep.operations))
    }
  }
}
