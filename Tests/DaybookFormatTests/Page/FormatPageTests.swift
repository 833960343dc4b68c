import DaybookFormat
import Testing

/// Whether `Docs/Format.md` says what the code does.
@Suite struct `the page of the format` {
  @Test func `in every byte table each row begins where the one before it ends`() throws {
    let tables = try FormatPage.byteTables().values
    #expect(tables.count >= ByteProbe.all.count)
    for table in tables {
      #expect(table.rows.first?.offset == 0, "\(table.section)")
      for (row, next) in zip(table.rows, table.rows.dropFirst()) {
        #expect(
          row.offset + (row.byteCount ?? 0) == next.offset,
          "\(table.section), offset \(row.offset): the next row begins at \(next.offset)")
      }
    }
  }

  @Test func `every byte table is held against the code`() throws {
    #expect(Set(try FormatPage.byteTables().keys) == Set(ByteProbe.all.map(\.section)))
  }

  @Test(arguments: ByteProbe.all)
  func `a table is as long as the structure`(_ probe: ByteProbe) throws {
    let table = try #require(try FormatPage.byteTables()[probe.section])
    if let byteCount = probe.byteCount { #expect(table.byteCount == byteCount) }
    if table.rows.last?.byteCount != nil { #expect(table.byteCount == probe.bytes.count) }
  }

  @Test(arguments: ByteProbe.all)
  func `the doc comment has the same offsets and sizes`(_ probe: ByteProbe) throws {
    let page = try #require(try FormatPage.byteTables()[probe.section])
    let comment = try FormatPage.byteTable(inSource: probe.source)
    let described = { (row: ByteTable.Row) in "\(row.offset) \(row.byteCount ?? -1)" }
    #expect(comment.rows.map(described) == page.rows.map(described))
  }

  @Test(arguments: ByteProbe.all)
  func `a field that changes, changes its own bytes and no others`(_ probe: ByteProbe) throws {
    let table = try #require(try FormatPage.byteTables()[probe.section])
    let checksums = table.rows.filter(\.isChecksum).map { $0.range(in: probe.bytes) }
    // A frame's payload stands behind what is made here.
    for row in table.rows where row.offset < probe.bytes.count {
      guard !row.isConstant, !row.isChecksum else { continue }
      let place = "\(probe.section), offset \(row.offset)"
      let changed = try #require(probe.changed[row.offset], "\(place): no probe")
      let range = row.range(in: changed)
      // What has no fixed size comes last and may grow; before it all has its place.
      let end = table.rows.last?.byteCount == nil ? table.byteCount : changed.count
      let others = table.rows.filter { $0.offset == probe.together[row.offset] }
      let allowed = others.map { $0.range(in: changed) } + checksums + [range]
      let touched = changed.indices.filter {
        $0 >= probe.bytes.count || changed[$0] != probe.bytes[$0]
      }
      let stray = touched.filter { place in
        place < end && !allowed.contains { $0.contains(place) }
      }
      #expect(stray.isEmpty, "\(place): bytes \(stray) changed too")
      let own = touched.filter(range.contains)
      #expect(!own.isEmpty, "\(place): nothing changed")
      if let byteCount = row.byteCount, !probe.partial.contains(row.offset) {
        #expect(own.count == byteCount, "\(place): only \(own) changed")
      }
    }
    #expect(Set(probe.changed.keys).isSubset(of: table.rows.map(\.offset)))
  }

  @Test(arguments: ByteProbe.all)
  func `what is zero on the page is zero`(_ probe: ByteProbe) throws {
    let table = try #require(try FormatPage.byteTables()[probe.section])
    for bytes in [probe.bytes] + probe.changed.values {
      for row in table.rows where row.field == "zero" {
        #expect(
          bytes[row.range(in: bytes)].allSatisfy { $0 == 0 },
          "\(probe.section), offset \(row.offset)")
      }
    }
  }

  @Test func `the kinds of entries on the page are those of the code`() throws {
    let tables = try FormatPage.tables().filter { $0.section == "Entries" }
    let rows = try #require(tables.first).rows
    let numbers = rows.flatMap { row in
      (row.first ?? "").split(separator: ", ").compactMap { UInt8($0) }
    }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers) == Set(EntryKind.allCases.map(\.rawValue)))
    #expect(numbers.count == EntryKind.allCases.count)
  }

  @Test func `the numbers that fields may have are those of the code`() throws {
    let tables = try FormatPage.byteTables()
    func named(_ section: String, _ offset: Int) throws -> [Int: String] {
      try #require(tables[section]?.rows.first { $0.offset == offset }).namedNumbers
    }
    let bytes = 0...UInt8.max
    #expect(
      try named("Frame", 8).keys.sorted()
        == bytes.filter { FrameHeader.Kind(rawValue: $0) != nil }.map(Int.init))
    #expect(
      try named("Segment header", 14).keys.sorted()
        == bytes.filter { SegmentHeader.Kind(rawValue: $0) != nil }.map(Int.init))
    #expect(
      try named("Frame", 9).keys.sorted()
        == bytes.filter { FrameHeader.Codec(rawValue: $0) != nil }.map(Int.init))
    #expect(
      try named("Operation", 60)
        == Dictionary(uniqueKeysWithValues: Strategy.allCases.map { (Int($0.rawValue), $0.name) }))
    #expect(
      try named("Change", 65).keys.sorted()
        == bytes.filter { Change.Extent(rawValue: $0) != nil }.map(Int.init))
    for (number, name) in try named("Operation", 61) {
      let action = EntrySamples.actions.first { $0.description == name }
      let operation = EntrySamples.operation(try #require(action, "no action \(name)"))
      #expect(operation.bytes[61] == UInt8(number))
    }
    #expect(try named("Operation", 61).count == EntrySamples.actions.count)
    let verdicts = try named("Settlement", 24)
    for verdict in EntrySamples.verdicts {
      let settlement = EntrySamples.settlement(verdict)
      let name = verdicts[Int(settlement.bytes[24])]
      #expect(name?.filter { $0 != " " }.lowercased() == settlement.verdictName.lowercased())
    }
    #expect(verdicts.count == EntrySamples.verdicts.count)
  }

  @Test func `a chain value is the hash of the fields on the page`() throws {
    let table = try #require(
      try FormatPage.tables().first { $0.section == "Chain" && $0.columns == ["size", "field"] })
    let link = ChainLink(
      logID: EntrySamples.identifier(1), stream: "outbox", ordinal: 2, firstNumber: 3,
      lastNumber: 4, root: try #require(SHA256Digest(bytes: SHA256Digest.hash([5]))),
      before: ChainValue(digest: try #require(SHA256Digest(bytes: SHA256Digest.hash([6])))))
    let parts: [(word: String, bytes: [UInt8])] = [
      ("2", [2]), ("log id", link.logID.bytes),
      ("stream", Array("outbox".utf8) + [UInt8](repeating: 0, count: 10)),
      ("ordinal", [2, 0, 0, 0, 0, 0, 0, 0]), ("number of the first", [3, 0, 0, 0, 0, 0, 0, 0]),
      ("number of the last", [4, 0, 0, 0, 0, 0, 0, 0]), ("Merkle root", link.root.bytes),
      ("chain value of the segment before", link.before.digest.bytes),
    ]
    #expect(table.rows.count == parts.count)
    for (row, part) in zip(table.rows, parts) {
      #expect(row.first == "\(part.bytes.count)")
      #expect(row.last?.hasPrefix(part.word) == true, "\(row)")
    }
    #expect(link.value.digest.bytes == SHA256Digest.hash(parts.flatMap(\.bytes)))
  }
}
