import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// A stored log that is changed in one place: reading says so, with the file, or nothing is lost.
@Suite struct LoudOrIntactTests {
  /// A log that was closed, with frames, copies, compressed frames and marks in both streams.
  private static let closed = DamageTests.log(DamageTests.steps + [.close])
  /// The same log of somebody else.
  private static let other: SimulatedDisk = {
    let disk = SimulatedDisk(seed: 9)
    var workload = Workload()
    workload.run(DamageTests.steps + [.close], on: disk, seed: 9)
    return disk
  }()
  /// A larger one, with a roll of each stream and two lives.
  private static let large = DamageTests.log(Workload.everything + [.close])

  private static func segments(_ disk: SimulatedDisk) -> [String] {
    disk.paths.filter { $0.hasSuffix(".dbs") }
  }

  /// One fault within a page: the outbox is whole; the feed is, or says so.
  private func complaint(
    _ found: SmallLog.Found, _ workload: Workload, outboxIsSafe: Bool
  ) -> String? {
    for stream in ["outbox", "feed"] {
      let written = workload.attempted[stream] ?? []
      let texts = found.texts[stream] ?? []
      if texts == written { continue }
      if stream == "outbox", outboxIsSafe { return "the outbox changed" }
      let known = Set(written)
      if let strange = texts.first(where: { !known.contains($0) }) {
        return "\(stream): \(strange.prefix(8)) was never written"
      }
      if written.filter(Set(texts).contains) != texts { return "\(stream): out of order" }
      if found.damage.isEmpty { return "\(stream): lost in silence" }
    }
    return nil
  }

  private func look(
    _ log: (disk: SimulatedDisk, workload: Workload), _ kind: DamageEnumerator.Kind,
    mustBeTold: Bool, outboxIsSafe: Bool = true
  ) -> Int {
    let enumerator = DamageEnumerator(
      log.disk, paths: Self.segments(log.disk), donor: Self.other)
    let density: DamageEnumerator.Density = Thoroughness.isFull ? .all : .busy(oneOf: 61)
    return enumerator.forEach(kind, density: density) { disk, damage in
      withKnownPlace(damage.place) {
        let found = try SmallLog.inspect(disk)
        if let complaint = complaint(found, log.workload, outboxIsSafe: outboxIsSafe) {
          Issue.record("\(damage.place): \(complaint) \(found.findings.map(\.message))")
        }
        let file = String(damage.path.dropFirst(SmallLog.directory.count + 1))
        if mustBeTold, !found.damage.contains(where: { $0.file == file }) {
          Issue.record("\(damage.place) is not told: \(found.findings.map(\.message))")
        }
      }
    }
  }

  @Test(arguments: DamageEnumerator.Kind.allCases)
  func `any one change of a small closed log is told with its file`(
    _ kind: DamageEnumerator.Kind
  ) {
    let isLocal = ![.cut, .missingFile, .swappedFrames, .spliced].contains(kind)
    let count = look(Self.closed, kind, mustBeTold: true, outboxIsSafe: isLocal)
    #expect(count > 0)
  }

  @Test(arguments: [
    DamageEnumerator.Kind.zeroedSector, .zeroedPage, .noisySector, .missingFile, .swappedFrames,
  ])
  func `any one change of a larger closed log is told with its file`(
    _ kind: DamageEnumerator.Kind
  ) {
    let isLocal = ![.missingFile, .swappedFrames].contains(kind)
    #expect(look(Self.large, kind, mustBeTold: true, outboxIsSafe: isLocal) > 0)
  }
}
