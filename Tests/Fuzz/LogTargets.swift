import DaybookFormat
import DaybookLog
import DaybookTestKit

/// Parts of a log's files, whole files, and whole directories.
enum LogTargets {
  /// A segment's header, with its checksum put right.
  static func header(_ input: [UInt8]) {
    guard input.count <= 512 else { return }
    var bytes = input + [UInt8](repeating: 0, count: LogLayout.pageByteCount - input.count)
    Mending.segment(&bytes)
    guard let header = try? SegmentHeader(copy: bytes[...]) else { return }
    let again = try? SegmentHeader(copy: header.pages[...])
    hold(again == header, "a header is another one after writing it")
  }

  /// A slot of `HEAD`, with its checksum put right.
  static func head(_ input: [UInt8]) {
    guard input.count <= HeadSlot.byteCount else { return }
    var bytes = input + [UInt8](repeating: 0, count: HeadSlot.byteCount - input.count)
    Mending.slot(&bytes, at: 0)
    guard let slot = HeadSlot(bytes: bytes[...]) else { return }
    hold(HeadSlot(bytes: slot.bytes[...]) == slot, "a slot is another one after writing it")
  }

  /// One frame, its header first, in a segment that is whole.
  static func frame(_ input: [UInt8]) {
    let header = SegmentHeader(
      logID: .zero, incarnation: .zero, salt: Identifier(high: 1, low: 2), stream: "outbox",
      ordinal: 1, isEchoed: true, firstNumber: 1, clock: 1, predecessor: nil, account: "")
    var bytes = header.pages + input
    Mending.segment(&bytes)
    examine(SegmentScan(bytes))
  }

  /// A byte whose lowest bit chooses whether checksums are put right, then a segment file.
  static func segment(_ input: [UInt8]) {
    var bytes = Array(input.dropFirst())
    if input.first.map({ $0 & 1 == 1 }) ?? false { Mending.segment(&bytes) }
    examine(SegmentScan(bytes))
  }

  private static func examine(_ scan: SegmentScan) {
    var end = LogLayout.segmentHeaderByteCount
    for frame in scan.frames {
      hold(frame.offset >= end, "frames overlap")
      end = frame.end
      if frame.isBatch {
        hold(frame.parts.count == Int(frame.header.entryCount), "a frame of other entries")
      }
      for part in frame.parts { _ = try? Entry(kind: part.kind, bytes: part.bytes) }
    }
  }

  /// A directory: read as the tools do, and replayed.
  static func log(_ input: [UInt8]) {
    let disk = SimulatedDisk()
    guard unpack(input, to: disk),
      let directory = try? LogDirectory(path, fileSystem: disk),
      let witnesses = try? directory.witnesses()
    else { return }
    for stream in directory.streams {
      guard var reports = try? directory.segments(of: stream.name, witnesses: witnesses) else {
        return
      }
      reports.isHashed = true
      var check = ChainCheck(logID: directory.formatLogID ?? .zero)
      while var report = try? reports.next() {
        check.check(&report)
        if let sealed = report.sealed { _ = sealed.isProven() }
        for finding in report.findings { hold(!finding.message.isEmpty, "a finding has no words") }
      }
    }
    _ = try? directory.newestSnapshot()
    let names = directory.streams.map(\.name).sorted(by: >)
    guard var replay = try? LogReplay(directory, streams: names) else { return }
    var next: [String: UInt64] = [:]
    try? replay.run { entry throws(LogError) in
      hold(entry.number >= next[entry.stream, default: 1], "an entry comes twice")
      next[entry.stream] = entry.number + 1
      _ = try? Entry(kind: entry.kind, bytes: entry.bytes)
    }
  }

  /// A directory, opened as an app does, closed, and opened again: the second opening shows all
  /// that the first did, in order. Of a log with several made-up faults it may show more: what was
  /// recorded names numbers that let one more entry be lifted out of damaged bytes. Where checksums
  /// are put right, two frames may claim one number, and nothing tells which was there.
  static func open(_ input: [UInt8]) {
    let disk = SimulatedDisk()
    guard unpack(input, to: disk) else { return }
    guard let first = shown(disk), let second = shown(disk) else { return }
    if input.first.map({ $0 & 1 == 1 }) ?? false { return }
    var place = first.startIndex
    for entry in second where place < first.endIndex && first[place] == entry { place += 1 }
    hold(place == first.endIndex, "what was shown once is not shown again")
  }

  private static func shown(_ disk: SimulatedDisk) -> [String]? {
    let account = "rep-7"
    let isServer = disk.paths.contains { $0.contains("/changes/") }
    var number: UInt64 = 1
    let configuration = LogConfiguration(
      streams: isServer ? [.changes] : [.feed, .outbox], account: isServer ? "" : account,
      fileSystem: disk,
      random: { UInt64(disk.callCount) },
      clock: { HybridTime(rawValue: UInt64(disk.callCount)) }, idleMarkDelay: nil)
    var entries: [String] = []
    do {
      let log = try Log.open(path, configuration) { _, entry throws(LogError) in
        number += 1
        entries.append("\(entry.stream):\(entry.number) \(CRC32C.checksum(entry.bytes))")
      }
      try? log.close()
    } catch {
      return nil
    }
    return entries
  }

  private static let path = "\(SimulatedDisk.root)/log"
  /// The most bytes of an input that are worth the time.
  private static let inputLimit = 1 << 20

  /// Puts the files of an archive on `disk`: for each its name's place in ``names`` (1 byte), its
  /// size (4) and its bytes. The first byte says whether checksums are put right.
  private static func unpack(_ input: [UInt8], to disk: SimulatedDisk) -> Bool {
    guard let mode = input.first, input.count <= inputLimit else { return false }
    var reader = ByteReader(input.dropFirst())
    while !reader.rest.isEmpty {
      guard let index = try? reader.read(UInt8.self), let count = try? reader.read(UInt32.self)
      else { return false }
      let name = names[Int(index) % names.count]
      guard var bytes = try? Array(reader.read(count: min(Int(count), reader.rest.count))) else {
        return false
      }
      if mode & 1 == 1 {
        if name == "HEAD" {
          Mending.slot(&bytes, at: 0)
          Mending.slot(&bytes, at: HeadSlot.byteCount)
        } else if name != "FORMAT" {
          Mending.segment(&bytes)
        }
      }
      disk.put(bytes, at: "\(path)/\(name)")
    }
    return disk.paths.contains { $0.hasPrefix(path) }
  }

  /// The same as in `seeds.py`.
  private static let names = [
    "FORMAT", "HEAD", "outbox/00000001.g0.dbs", "outbox/00000002.g0.dbs",
    "outbox/00000003.g0.dbs", "outbox/00000001-00000002.g1.dbs", "feed/00000001.g0.dbs",
    "feed/00000002.g0.dbs", "feed/00000003.g0.dbs", "feed/00000001-00000002.g1.dbs",
    "snapshots/0000000004-0000000004.dbs", "changes/00000001.g0.dbs", "changes/00000002.g0.dbs",
  ]
}
