import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What can be had of an outbox of which both copies are damaged, entry by entry.
@Suite struct SalvageTests {
  /// One group of eight entries of some 300 bytes between two others.
  private static func makeLog() throws -> WoundedLog {
    let disk = SimulatedDisk()
    let (log, _) = try SmallLog.open(disk)
    let group = (2...9).map { [SmallLog.entry(Workload.long("e\($0)", 300))] }
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("e1")]])
    _ = try log.appendAndWait("outbox", group)
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("e10")]])
    try log.close()
    return WoundedLog(disk: disk)
  }

  private static let all = Set((1...10).map { "outbox:\($0) e\($0)" })

  private func check(
    _ log: WoundedLog, lost: [ClosedRange<UInt64>], _ place: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let left = Self.all.filter { entry in
      let number = UInt64(entry.dropFirst(7).prefix { $0 != " " }) ?? 0
      return !lost.contains { $0.contains(number) }
    }
    let disk = log.disk.crashed(.killed, seed: 0)
    let (opened, found) = try SmallLog.open(disk, seed: 3)
    #expect(found.places == left, place, sourceLocation: sourceLocation)
    #expect(opened.damage.lost["outbox"] ?? [] == lost, place, sourceLocation: sourceLocation)
    #expect(!opened.damage.found.isEmpty, place, sourceLocation: sourceLocation)
    try opened.close()
    let (again, rest) = try SmallLog.open(disk, seed: 4)
    #expect(rest.places == left, place, sourceLocation: sourceLocation)
    #expect(again.damage.found == [], place, sourceLocation: sourceLocation)
    try again.close()
  }

  /// Where entry `number` begins in the original and in the echo: its 12 bytes of header first.
  private func offsets(_ number: Int, _ log: WoundedLog) throws -> [Int] {
    let (file, copies) = try log.place("outbox", UInt64(number))
    let frame = try #require(try log.frames(file).first { $0.offset == copies[0] })
    let part = frame.parts[number - Int(frame.header.firstNumber)]
    return copies.map { $0 + FrameHeader.byteCount + part.offset }
  }

  // F20
  @Test func `entries are lifted from whichever copy has them whole`() throws {
    let log = try Self.makeLog()
    let file = try log.place("outbox", 5).file
    // One entry in the original, another in the echo: nothing is lost.
    try log.flip(file, [try offsets(3, log)[0] + 20, try offsets(6, log)[1] + 20])
    try check(log, lost: [], "bytes of two entries")
  }

  @Test func `only an entry that is damaged in both copies is lost`() throws {
    for number in 2...9 {
      let log = try Self.makeLog()
      let file = try log.place("outbox", 5).file
      try log.flip(file, try offsets(number, log).map { $0 + 20 })
      try check(log, lost: [UInt64(number)...UInt64(number)], "bytes of entry \(number)")
    }
  }

  @Test func `an entry whose length is damaged in both copies takes no other with it`() throws {
    for number in 2...9 {
      let log = try Self.makeLog()
      let file = try log.place("outbox", 5).file
      try log.flip(file, try offsets(number, log))
      try check(log, lost: [UInt64(number)...UInt64(number)], "length of entry \(number)")
    }
  }

  @Test func `entries are had without either header of their frame`() throws {
    let log = try Self.makeLog()
    let (file, copies) = try log.place("outbox", 5)
    try log.flip(file, copies.map { $0 + 20 })
    try check(log, lost: [], "both headers")
  }

  @Test func `without headers the echo has what the original lacks`() throws {
    for number in 2...9 {
      let log = try Self.makeLog()
      let (file, copies) = try log.place("outbox", 5)
      try log.flip(file, copies.map { $0 + 20 } + [try offsets(number, log)[0] + 20])
      try check(log, lost: [], "both headers and entry \(number)")
    }
  }

  @Test func `a file without a header gives all its entries`() throws {
    let log = try Self.makeLog()
    try log.zero(try log.place("outbox", 5).file, pages: [0, 1])
    try check(log, lost: [], "both headers of the file")
  }

  @Test func `a file without a header names what it lacks`() throws {
    let log = try Self.makeLog()
    try log.zero("outbox", 10)
    let file = try log.place("outbox", 5).file
    try log.zero(file, pages: [0, 1])
    try check(log, lost: [10...10], "both headers of the file and a group")
  }

  @Test func `any two pages of zeros cost nothing that neither copy had elsewhere`() throws {
    let log = try Self.makeLog()
    let file = try log.place("outbox", 5).file
    let count = (try log.content(file).count + 4_095) / 4_096
    for first in 0..<count {
      for second in (first + 1)..<count {
        let copy = log.copy
        try copy.zero(file, pages: [first, second])
        let (opened, found) = try SmallLog.open(copy.disk, seed: 3)
        let lost = opened.damage.lost["outbox"] ?? []
        let place: Comment = "pages \(first) and \(second)"
        #expect(found.places.count + lost.reduce(0) { $0 + $1.count } == 10, place)
        #expect(found.places.isSubset(of: Self.all), place)
        try opened.close()
      }
    }
  }

  @Test func `a chain of entries inside an entry is none of the log`() throws {
    let disk = SimulatedDisk()
    let (log, _) = try SmallLog.open(disk)
    var inner: [UInt8] = []
    FramePayload.append(kind: 1, bytes: Array("forged".utf8), to: &inner)
    let outer = NewEntry(kind: 1, bytes: Array(repeating: 0x2D, count: 40) + inner)
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("e1")], [outer]])
    _ = try log.appendAndWait("outbox", [[SmallLog.entry("e3")]])
    try log.close()
    let wounded = WoundedLog(disk: disk)
    let (file, copies) = try wounded.place("outbox", 2)
    let frame = try #require(try wounded.frames(file).first { $0.offset == copies[0] })
    let offset = FrameHeader.byteCount + frame.parts[1].offset
    // The outer entry's bytes, then also its length.
    for place in [20, 0] {
      try wounded.flip(file, copies.map { $0 + offset + place })
      let (opened, found) = try SmallLog.open(wounded.disk.crashed(.killed, seed: 0), seed: 3)
      #expect(found.places == ["outbox:1 e1", "outbox:3 e3"])
      #expect(opened.damage.lost["outbox"] == [2...2])
      try opened.close()
    }
  }

  @Test func `places in a damaged payload are only told where they are certain`() {
    var payload: [UInt8] = []
    var starts: [Int] = []
    for index in 0..<6 {
      starts.append(payload.count)
      FramePayload.append(
        kind: 1, bytes: [UInt8](repeating: UInt8(index + 1), count: 30), to: &payload)
    }
    func places(_ damage: [Int]) -> [Int] {
      var damaged = payload
      for offset in damage { damaged[offset] ^= 0x41 }
      return FramePayload.salvage(damaged[...], count: 6).map(\.place)
    }
    #expect(places([]) == [0, 1, 2, 3, 4, 5])
    #expect(places([starts[2] + 15]) == [0, 1, 3, 4, 5])
    #expect(places([starts[2]]) == [0, 1, 3, 4, 5])
    #expect(places([starts[0]]) == [1, 2, 3, 4, 5])
    #expect(places([starts[5]]) == [0, 1, 2, 3, 4])
    #expect(places([starts[1] + 15, starts[3] + 15]) == [0, 2, 4, 5])
    // Between two broken lengths nothing tells which entry is which.
    #expect(places([starts[1], starts[3]]) == [0, 4, 5])
  }
}
