import Daybook
import DaybookFormat
import DaybookLog
import DaybookServer
import DaybookTestKit
import Foundation
import Synchronization
import Testing

/// A plain `cp -r` of a log in use, as anybody would take it.
@Suite(.timeLimit(.minutes(5))) struct PlainCopyTests {
  typealias Note = TestShop.Note

  /// How often the log is copied while it is written to.
  private static let copyCount = 50

  /// Writes pairs of notes, one transaction each, until it is told to end, and syncs now and then.
  private final class Writer: Sendable {
    let store: Daybook
    private let state = Mutex((acknowledged: 0, isOver: false))

    init(_ store: Daybook) { self.store = store }

    /// Pairs up to this number are durable.
    var acknowledged: Int { state.withLock { $0.acknowledged } }

    func end() { state.withLock { $0.isOver = true } }

    func run() async throws {
      var pair = 0
      while !state.withLock({ $0.isOver }) {
        pair += 1
        let text = "\(pair)" + String(repeating: "x", count: pair % 7 == 0 ? 3_000 : 10)
        try await store.write { [pair] tx in
          try tx.insert(Note(id: 2 * pair, text: text))
          try tx.insert(Note(id: 2 * pair + 1, text: text))
        }
        state.withLock { [pair] in $0.acknowledged = pair }
        if pair.isMultiple(of: 5) { await store.sync() }
      }
    }
  }

  private func copy(_ source: URL, to target: URL) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cp")
    process.arguments = ["-r", source.path, target.path]
    try process.run()
    process.waitUntilExit()
    // A prepared file may go while it is listed; what matters is what was copied.
    #expect([0, 1].contains(process.terminationStatus))
  }

  @Test
  func `taken fifty times during writing and compaction, all restore to a consistent prefix`()
    async throws
  {
    let server = try await TestServer()
    let store = try await server.device("rep") { options in
      // Every full segment is compacted, and every page of the feed is worth a snapshot.
      options.maintenanceLimits.rawByteLimit = 1 << 20
      options.maintenanceLimits.rawFileLimit = 1
      options.maintenanceLimits.snapshotByteLimit = 64 << 10
    }
    await store.sync()
    let writer = Writer(store)
    let writing = Task { try await writer.run() }
    var promised: [Int] = []
    for number in 0..<Self.copyCount {
      while writer.acknowledged < (promised.last ?? 0) + 6 { await Task.yield() }
      promised.append(writer.acknowledged)
      try copy(server.folder.place("rep"), to: server.folder.place("copy-\(number)"))
    }
    writer.end()
    try await writing.value
    try await store.close()
    let outbox = try FileManager.default.contentsOfDirectory(
      atPath: server.folder.place("rep").path + "/outbox")
    #expect(outbox.contains { $0.contains(".g1.") }, "nothing was compacted: \(outbox.sorted())")
    for (number, pairs) in promised.enumerated() {
      try await check(server, number, pairs: pairs)
    }
    try await server.server.stop()
  }

  /// Restores copy `number`, in which at least `pairs` pairs must be.
  private func check(_ server: TestServer, _ number: Int, pairs: Int) async throws {
    let source = server.folder.place("copy-\(number)").path
    let target = server.folder.place("restored-\(number)")
    let outcome = try LogRestore(
      from: source, into: target.path, fileSystem: SystemFileSystem(),
      random: { UInt64.random(in: .min ... .max) },
      clock: { HybridTime(Timestamp(milliseconds: 1_800_000_000_000)) }
    ).run(LogRestore.Request())
    #expect(!outcome.prefix.hasHole, "copy \(number)")
    var replay = try LogReplay(
      LogDirectory(target.path, fileSystem: SystemFileSystem()), streams: ["feed", "outbox"])
    try replay.run { _ throws(LogError) in }
    #expect(replay.findings.isEmpty, "copy \(number): \(replay.findings.map(\.message))")

    var options = DaybookOptions()
    options.sync = .manual
    let restored = try await Daybook.open(
      at: target, account: "rep-7", schema: server.schema, options: options)
    #expect(await restored.status.damage == nil, "copy \(number)")
    let notes = restored.collection(Note.self).query()
    let texts = Dictionary(notes.map { ($0.id, $0.text) }, uniquingKeysWith: { $1 })
    for pair in 1...pairs {
      #expect(texts[2 * pair] != nil, "copy \(number): pair \(pair) was acknowledged and is lost")
    }
    for pair in 1...(pairs + 1_000) {
      #expect(
        texts[2 * pair] == texts[2 * pair + 1], "copy \(number): half of pair \(pair) is there")
    }
    let count = notes.count / 2
    #expect(Set(texts.keys) == Set(2..<(2 * count + 2)), "copy \(number): a hole")
    try await restored.close()
  }
}
