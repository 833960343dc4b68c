import DaybookFormat
import DaybookLog
import DaybookTestKit
import Foundation
import Testing

/// `daybook verify` on whole logs and on harmed ones.
@Suite struct VerifyTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try SampleDay.make(in: directory)
  }

  private var device: String { directory.path("day/reps/07") }

  private func file(_ name: String) -> LogFile { LogFile(path: directory.path("day/\(name)")) }

  private func verify(_ arguments: String...) async throws -> CommandRun.Outcome {
    try await CommandRun(["verify"] + arguments, in: directory.path).outcome()
  }

  private func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: directory.path("day/\(name)"))
  }

  /// The device's log as a crash leaves it, with the outbox's last batch overwritten by `harm`.
  private func tearLastBatch() throws -> String {
    let path = directory.path("torn")
    let log = try SampleDay.openDevice(at: directory.path("alive"))
    try FileManager.default.copyItem(atPath: directory.path("alive"), toPath: path)
    try log.close()
    let outbox = LogFile(path: path + "/outbox/00000001.g0.dbs")
    var bytes = try outbox.bytes
    let frames = SegmentScan(bytes).frames
    let last = try #require(frames.last?.header.frameNumber)
    for frame in frames where frame.header.frameNumber == last {
      for offset in frame.offset + 40..<frame.offset + 48 { bytes[offset] = 0x5A }
    }
    try outbox.write(bytes)
    return path
  }

  /// A log that was closed begins its next segment when it is opened and written to again.
  private func addSegment() throws {
    try SampleDay.openDevice(at: device, [SampleDay.deviceEntries[10]]).close()
  }

  static let files = [
    "reps/07/outbox/00000001.g0.dbs", "reps/07/outbox/00000002.g0.dbs",
    "reps/07/feed/00000001.g0.dbs", "server/changes/00000001.g0.dbs",
  ]

  @Test func `every log below a directory is found and whole`() async throws {
    let run = try await verify("day")
    #expect(run.status == 0)
    #expect(run.errors == "")
    #expect(
      run.lines == [
        "clean    reps/07/outbox/00000001.g0.dbs, 10 entries, closed",
        "clean    reps/07/feed/00000001.g0.dbs, 6 entries, closed",
        "clean    server/changes/00000001.g0.dbs, 6 entries, closed",
        "Whole: 3 files of 2 logs.",
      ])
    let json = try await verify("day/reps/07", "day/server/", "--json")
    #expect(json.status == 0)
    let validEnd = try file("server/changes/00000001.g0.dbs").byteCount
    #expect(
      json.lines.suffix(2) == [
        #"{"file":"day/server/changes/00000001.g0.dbs","sealed":true,"validEnd":\#(validEnd),"#
          + #""verdict":"clean","firstBad":null,"lost":0}"#,
        #"{"whole":true}"#,
      ])
  }

  @Test func `a snapshot that is not whole is told, and counts for the size`() async throws {
    let name = "snapshots/0000000003-0000000003.dbs"
    try FileManager.default.createDirectory(
      atPath: device + "/snapshots", withIntermediateDirectories: true)
    try LogFile(path: "\(device)/\(name)").write([UInt8](repeating: 0, count: 9_000))
    let run = try await verify("day/reps/07")
    #expect(run.status == 12)
    #expect(run.lines.contains { $0.hasPrefix("healed   \(name), byte 0: ") })
    #expect(run.lines.contains { $0.hasPrefix("No entry is lost") })
    let json = try await verify("day/reps/07", "--json")
    #expect(json.lines.contains { $0.hasPrefix(#"{"file":"\#(name)","sealed":false"#) })
    let stat = try await CommandRun(["stat", "day/reps/07", "--json"], in: directory.path).outcome()
    #expect(stat.lines.contains(#"{"files":"snapshots","count":1,"bytes":9000}"#))
  }

  @Test func `a log without any segment is not whole`() async throws {
    for name in ["reps/07/outbox", "reps/07/feed", "reps/07/HEAD"] { try remove(name) }
    let run = try await verify("day/reps/07")
    #expect(run.status == 12)
    #expect(run.lines.contains { $0.contains("no stream of the log has a segment") })
    for command in ["outbox", "stat", "dump"] {
      let other = try await CommandRun([command, "day/reps/07"], in: directory.path).outcome()
      #expect(other.status == 12, "\(command)")
      #expect(!other.lines.contains { $0.contains("all is confirmed") })
      #expect(other.errors.contains("no stream of the log has a segment"))
    }
  }

  @Test(arguments: [UInt64(20)])
  func `one flipped bit anywhere is damage with its file and a byte`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    try addSegment()
    // The ends of all regions, then 200 drawn ones.
    var places: [(name: String, offset: Int)] = []
    for name in Self.files {
      let count = try file(name).byteCount
      for offset in [0, 511, 512, 4_095, 4_096, 4_607, 4_608, 8_191, 8_192, count - 1] {
        places.append((name, offset))
      }
    }
    for _ in 0..<200 {
      let name = Self.files[Int.random(in: 0..<Self.files.count, using: &random)]
      places.append((name, Int.random(in: 0..<(try file(name).byteCount), using: &random)))
    }
    for (name, offset) in places {
      let bit = Int.random(in: 0..<8, using: &random)
      try file(name).flip(offset, bit: bit)
      let run = try await verify("day", "--json")
      try file(name).flip(offset, bit: bit)
      let what = "seed \(seed), \(name), byte \(offset), bit \(bit)"
      #expect(run.status == 12, "\(what): \(run.output)\(run.errors)")
      let line = try #require(run.lines.first { $0.contains("\"file\":\"\(name)\"") })
      let found = try #require(firstBad(line), "\(what): \(line)")
      #expect(found <= offset, "\(what): \(line)")
      #expect(run.errors.contains("\(name), byte \(found): "), "\(what): \(run.errors)")
      #expect(run.lines.last == #"{"whole":false}"#)
    }
  }

  private func firstBad(_ line: String) -> Int? {
    line.firstMatch(of: #/"firstBad":(\d+)/#).flatMap { Int($0.1) }
  }

  @Test func `a torn last write is status 10 and loses nothing`() async throws {
    let path = try tearLastBatch()
    let run = try await verify(path)
    #expect(run.status == 10)
    #expect(run.lines.first?.hasPrefix("torn     outbox/00000001.g0.dbs, byte ") == true)
    #expect(run.lines.last?.hasPrefix("Nothing is lost: ") == true)
    // The next opening begins a segment that names the valid end: that settles it.
    try SampleDay.openDevice(at: path, [SampleDay.deviceEntries[10]]).close()
    let settled = try await verify(path)
    #expect(settled.status == 0)
    #expect(settled.lines.first == "settled  outbox/00000001.g0.dbs, 8 entries, open")
  }

  @Test func `a log in use is whole, its unfinished write is not told`() async throws {
    let path = directory.path("alive")
    let log = try SampleDay.openDevice(at: path)
    let outbox = LogFile(path: path + "/outbox/00000001.g0.dbs")
    let frames = SegmentScan(try outbox.bytes).frames
    let end = try #require(frames.last).end
    let handle = try FileHandle(forWritingTo: URL(filePath: outbox.path))
    try handle.seek(toOffset: UInt64((end + 4_095) / 4_096 * 4_096))
    try handle.write(contentsOf: Data("DBF1 and no more".utf8))
    try handle.close()
    let run = try await verify(path)
    #expect(run.status == 0, "\(run.output)")
    let stat = try await CommandRun("stat", path).outcome()
    #expect(stat.lines.contains("in use       yes"))
    try log.close()
  }

  @Test func `a file that is too short loses entries by number`() async throws {
    let name = "reps/07/outbox/00000001.g0.dbs"
    let bytes = try file(name).bytes
    let frames = SegmentScan(bytes).frames
    let edit = try #require(frames.first { $0.header.firstNumber == 5 })
    try file(name).write(Array(bytes.prefix(edit.offset)))
    let run = try await verify("day")
    #expect(run.status == 12)
    #expect(
      run.lines.contains {
        $0.hasPrefix("missing  \(name), byte ") && $0.hasSuffix(" (entries 5 to 10)")
      }, "\(run.output)")
    #expect(run.lines.last?.hasPrefix("6 entries are lost. Copy the directory") == true)
  }

  @Test func `entries lost before a later segment are counted once`() async throws {
    try addSegment()
    let name = "reps/07/outbox/00000001.g0.dbs"
    let bytes = try file(name).bytes
    let edit = try #require(SegmentScan(bytes).frames.first { $0.header.firstNumber == 5 })
    try file(name).write(Array(bytes.prefix(edit.offset)))
    let run = try await verify("day")
    #expect(run.status == 12)
    #expect(run.lines.last?.hasPrefix("6 entries are lost. ") == true, "\(run.output)")
  }

  @Test func `a file that is gone is missing, also without HEAD and its folder`() async throws {
    try remove("reps/07/feed/00000001.g0.dbs")
    let first = try await verify("day", "--json")
    #expect(first.status == 12)
    let line =
      #"{"file":"reps/07/feed/00000001.g0.dbs","sealed":false,"validEnd":0,"#
      + #""verdict":"missing","firstBad":0,"lost":6}"#
    #expect(first.lines.contains(line), "\(first.output)")
    try remove("reps/07/HEAD")
    try remove("reps/07/feed")
    let second = try await verify("day", "--json")
    #expect(second.status == 12)
    #expect(second.lines.contains(line), "\(second.output)")
  }

  @Test func `a missing first segment is told with its name`() async throws {
    try addSegment()
    try remove("reps/07/outbox/00000001.g0.dbs")
    let run = try await verify("day/reps/07")
    #expect(run.status == 12)
    #expect(
      run.lines.first
        == "missing  outbox/00000001.g0.dbs, byte 0: acknowledged entries are missing "
        + "(entries 1 to 10)")
  }

  @Test func `FORMAT, HEAD and LOCK may be lost, with a note`() async throws {
    for name in ["FORMAT", "HEAD", "LOCK"] { try remove("reps/07/\(name)") }
    let run = try await verify("day")
    #expect(run.status == 0)
    #expect(run.lines.last == "Whole: 3 files of 2 logs.")
    #expect(
      run.errorLines == [
        "day/reps/07: FORMAT is missing or unreadable; the segments name the log.",
        "day/reps/07: LOCK is missing; it is made when needed.",
        "day/reps/07: HEAD is missing or unreadable; it is made when needed.",
      ])
  }

  @Test func `a newer format is status 11, and damage beside it status 12`() async throws {
    try file("reps/07/FORMAT").write(Array("daybook 2\n".utf8))
    // Where segments can be read, they know better.
    #expect(try await verify("day").status == 0)
    for stream in ["outbox", "feed"] { try remove("reps/07/\(stream)/00000001.g0.dbs") }
    let run = try await verify("day", "--json")
    #expect(run.status == 11)
    #expect(
      run.lines.first
        == #"{"file":"reps/07/FORMAT","sealed":false,"validEnd":0,"verdict":"newer","#
        + #""firstBad":null,"lost":0}"#)
    #expect(run.errors.contains("reps/07/FORMAT: format 2, and this version reads up to 1"))
    try file("server/changes/00000001.g0.dbs").flip(9_000, bit: 3)
    #expect(try await verify("day").status == 12)
  }

  @Test func `an entry that can't be read is damage, though its bytes are whole`() async throws {
    let log = try SampleDay.openDevice(at: directory.path("odd"))
    _ = try log.appendAndWait("feed", [[NewEntry(kind: 16, bytes: [1, 2, 3])]])
    _ = try log.appendAndWait("feed", [[NewEntry(kind: 200, bytes: [1, 2, 3])]])
    try log.close()
    let run = try await verify("odd")
    #expect(run.status == 12)
    #expect(
      run.lines.contains {
        $0.hasPrefix("damaged  feed/00000001.g0.dbs, byte ")
          && $0.hasSuffix(": the entry feed:7 is whole, and can't be read")
      }, "\(run.output)")
  }
}
