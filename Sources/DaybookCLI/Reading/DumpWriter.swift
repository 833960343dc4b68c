import DaybookFormat
import DaybookLog

/// Writes what a log holds, for people or for programs, as it is read.
struct DumpWriter {
  let output: Output
  let isJSON: Bool
  private(set) var segmentCount = 0
  private(set) var frameCount = 0
  private(set) var entryCount = 0
  /// Entries stand alone, without their segments and frames.
  var isOneRecord = false

  init(_ output: Output, isJSON: Bool) {
    self.output = output
    self.isJSON = isJSON
  }

  /// One segment's facts and verdict; its frames follow.
  mutating func write(_ report: SegmentReport) {
    segmentCount += 1
    if isJSON {
      output.object(Self.object(report))
      return
    }
    if segmentCount > 1 { output.line() }
    var facts = [report.verdict.rawValue]
    facts.append(report.isSpare ? "prepared, not used yet" : report.isClosed ? "closed" : "open")
    facts.append("\(grouped(report.byteCount)) bytes, valid up to \(grouped(report.validEnd))")
    output.line("segment \(report.file)  \(facts.joined(separator: ", "))")
    if let header = report.header {
      output.line(
        "  stream \(printable(header.stream)), from number \(header.firstNumber), begun "
          + "\(HybridTime(rawValue: header.clock).time.rfc3339)"
          + (header.isEchoed ? ", every batch twice" : ""))
      output.line(
        "  log \(header.logID), incarnation \(header.incarnation), account \(header.accountText)")
      if let before = header.predecessor {
        let validEnd = grouped(Int(clamping: before.validEnd))
        output.line(
          "  after segment \(before.ordinal), valid up to \(validEnd), last number "
            + "\(before.lastNumber)")
      }
    }
    for finding in report.findings { output.line("  ! \(finding.message)") }
  }

  /// One frame; its entries follow if it counts.
  mutating func write(_ frame: SegmentScan.Frame, of report: SegmentReport, counts: Bool) {
    frameCount += 1
    let header = frame.header
    let clock = HybridTime(rawValue: header.clock).time.rfc3339
    if isJSON {
      output.object(Self.object(frame, of: report, counts: counts))
      return
    }
    var line = "  frame \(header.frameNumber) at byte \(frame.offset): \(Self.word(header.kind))"
    if header.entryCount > 0 {
      line += ", \(header.entryCount == 1 ? "entry" : "entries") \(header.firstNumber)"
      if header.entryCount > 1 { line += " to \(frame.nextNumber - 1)" }
      line += ", \(header.rawByteCount) bytes"
      if header.codec == .lz4 { line += " (\(header.storedByteCount) stored by LZ4)" }
    } else {
      line += ", next number \(header.firstNumber)"
    }
    line += ", durable \(header.durableNumber)"
    // A log of one stream has no other.
    if header.otherNext > 0 { line += ", other stream next \(header.otherNext)" }
    line += ", \(clock)"
    if !counts, header.kind == .batch { line += ", does not count" }
    output.line(line)
  }

  /// One entry, decoded; `nil` for a kind that this version does not know.
  mutating func write(_ stored: LogEntry, _ decoded: Decoded) {
    entryCount += 1
    let position = "\(stored.stream):\(stored.number)"
    let kind = EntryKind.word(of: stored.kind)
    if isJSON {
      var object = JSONObject()
      object.set("type", "entry")
      object.set("position", position)
      object.set("kind", kind)
      object.set("file", stored.file)
      object.set("offset", stored.frameOffset)
      object.set("bytes", stored.bytes.count)
      switch decoded {
      case .entry(let entry): object.set(kind, EntryJSON.object(entry))
      case .skipped: object.set("skipped", true)
      case .unreadable: object.set("unreadable", true)
      }
      output.object(object)
      return
    }
    let margin = isOneRecord ? "" : "    "
    let lines: [String]
    switch decoded {
    case .entry(let entry): lines = EntryText.lines(entry)
    case .skipped: lines = ["\(stored.bytes.count) bytes that this version need not know"]
    case .unreadable: lines = ["\(stored.bytes.count) bytes that can't be read"]
    }
    let place = isOneRecord ? "  (\(stored.file), byte \(stored.frameOffset))" : ""
    output.line("\(margin)\(position) \(kind) \(lines.first ?? "")\(place)")
    for line in lines.dropFirst() { output.line(margin + line) }
  }

  /// The last line.
  func finish() {
    if isJSON {
      var object = JSONObject()
      object.set("segments", segmentCount)
      object.set("frames", frameCount)
      object.set("entries", entryCount)
      output.object(object)
    } else {
      var counts = [("segment", segmentCount), ("frame", frameCount), ("entry", entryCount)]
      if isOneRecord { counts.removeFirst(2) }
      let words = counts.map { name, count in
        let plural = name == "entry" ? "entries" : name + "s"
        return "\(grouped(count)) \(count == 1 ? name : plural)"
      }
      output.line()
      output.line(words.joined(separator: ", "))
    }
  }
}

extension DumpWriter {
  /// What the bytes of an entry came to.
  enum Decoded {
    case entry(Entry)
    /// A kind that this version does not know and may skip.
    case skipped
    case unreadable

    init(_ stored: LogEntry) {
      do throws(EntryError) {
        self = try Entry(kind: stored.kind, bytes: stored.bytes).map(Decoded.entry) ?? .skipped
      } catch {
        self = .unreadable
      }
    }
  }

  private static func word(_ kind: FrameHeader.Kind?) -> String {
    switch kind {
    case .batch: return "batch"
    case .echo: return "echo"
    case .idleMark: return "idleMark"
    case .closingMark: return "closingMark"
    case .seal: return "seal"
    case .kept: return "kept"
    case .proof: return "proof"
    case .keptEcho: return "keptEcho"
    case nil: return "unknown"
    }
  }

  private static func object(_ report: SegmentReport) -> JSONObject {
    var object = JSONObject()
    object.set("type", "segment")
    object.set("file", report.file)
    object.set("stream", report.stream)
    object.set("ordinal", report.ordinal)
    object.set("verdict", report.verdict.rawValue)
    object.set("sealed", report.isClosed)
    object.set("spare", report.isSpare)
    object.set("bytes", report.byteCount)
    object.set("validEnd", report.validEnd)
    object.set("logID", optional: report.header?.logID.description)
    object.set("incarnation", optional: report.header?.incarnation.description)
    object.set("account", optional: report.header?.account)
    object.set("generation", optional: report.header.map { UInt64($0.generation) })
    object.set("first", optional: report.header?.firstNumber)
    object.set(
      "clock", optional: report.header.map { HybridTime(rawValue: $0.clock).time.rfc3339 })
    object.set("echoed", report.header.map { Value.bool($0.isEchoed) } ?? .null)
    if let before = report.header?.predecessor {
      var predecessor = JSONObject()
      predecessor.set("ordinal", before.ordinal)
      predecessor.set("validEnd", before.validEnd)
      predecessor.set("last", before.lastNumber)
      object.set("predecessor", predecessor)
    } else {
      object.set("predecessor", Value.null)
    }
    object.set("findings", Value.array(report.findings.map { .text($0.message) }))
    return object
  }

  private static func object(
    _ frame: SegmentScan.Frame, of report: SegmentReport, counts: Bool
  ) -> JSONObject {
    let header = frame.header
    var object = JSONObject()
    object.set("type", "frame")
    object.set("file", frame.file ?? report.file)
    object.set("offset", frame.offset)
    object.set("kind", word(header.kind))
    object.set("codec", header.codec == .lz4 ? "lz4" : "raw")
    object.set("frame", header.frameNumber)
    object.set("first", header.firstNumber)
    object.set("count", Int(header.entryCount))
    object.set("durable", header.durableNumber)
    object.set("otherNext", header.otherNext)
    object.set("stored", Int(header.storedByteCount))
    object.set("raw", Int(header.rawByteCount))
    object.set("clock", HybridTime(rawValue: header.clock).time.rfc3339)
    object.set("counts", counts)
    return object
  }
}
