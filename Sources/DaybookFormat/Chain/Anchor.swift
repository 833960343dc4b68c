/// A place of a log's history, to be kept elsewhere: whoever holds it can tell later whether the
/// history up to it was only extended.
///
/// As text, lines that end with a line feed, fields with one space between:
///
///     daybook anchor 1
///     log <log id>
///     <stream> <ordinal> <first number of the segment> <number> <chain value at the number>
///     <stream> boundary <ordinal - 1> <first number - 1> <chain value before the segment>
///
/// the last two for each stream that has a segment. Source: `Docs/Format.md`, section "Anchor".
package struct Anchor: Sendable, Hashable {
  /// A place in one stream.
  package struct Place: Sendable, Hashable {
    /// The stream's name.
    package let stream: String
    /// The segment that holds the place.
    package let ordinal: UInt64
    /// The number of the segment's first entry.
    package let firstNumber: UInt64
    /// The number of the last entry up to the place; ``firstNumber`` - 1 if the segment has none.
    package let number: UInt64
    /// The chain value at ``number``.
    package let chain: ChainValue
    /// The chain value before the segment: it can still be told when a compaction has dropped
    /// entries of the segment.
    package let boundary: ChainValue

    /// The place of these parts.
    package init(
      stream: String, ordinal: UInt64, firstNumber: UInt64, number: UInt64, chain: ChainValue,
      boundary: ChainValue
    ) {
      self.stream = stream
      self.ordinal = ordinal
      self.firstNumber = firstNumber
      self.number = number
      self.chain = chain
      self.boundary = boundary
    }

    /// The place behind the last entry of `link`.
    package init(_ link: ChainLink) {
      self.init(
        stream: link.stream, ordinal: link.ordinal, firstNumber: link.firstNumber,
        number: link.lastNumber, chain: link.value, boundary: link.before)
    }
  }

  /// The most bytes of an anchor's text: 64 KiB, a hundred times what eight streams take.
  package static let textByteLimit = 64 << 10

  /// The log.
  package let logID: Identifier
  /// A place in each stream that has a segment, by the streams' names.
  package let places: [Place]

  /// The anchor of the log `logID` at `places`.
  package init(logID: Identifier, places: [Place]) {
    self.logID = logID
    self.places = places.sorted { ByteOrder.precedes($0.stream, $1.stream) }
  }

  /// CBOR map: "log", and "streams", arrays of name, ordinal, first number, number, chain value and
  /// the chain value before the segment.
  package var value: Value {
    .map([
      "log": .bytes(logID.bytes),
      "streams": .array(
        places.map { place in
          .array([
            .text(place.stream), .unsigned(place.ordinal), .unsigned(place.firstNumber),
            .unsigned(place.number), .bytes(place.chain.digest.bytes),
            .bytes(place.boundary.digest.bytes),
          ])
        }),
    ])
  }

  /// The anchor that `value` describes.
  package init(value: Value) throws(EntryError) {
    guard let map = value.map.map(EntryMap.init) else { throw .member(name: "anchor") }
    var places: [Place] = []
    for element in try map.array("streams") {
      guard let place = Place(element), places.count < LogLayout.streamLimit else {
        throw .member(name: "streams")
      }
      places.append(place)
    }
    self.init(logID: try map.identifier("log"), places: places)
  }
}

extension Anchor.Place {
  fileprivate init?(_ value: Value) {
    guard let parts = value.array, parts.count == 6, let stream = parts[0].text,
      case .unsigned(let ordinal) = parts[1], case .unsigned(let first) = parts[2],
      case .unsigned(let number) = parts[3],
      let chain = parts[4].bytes.flatMap({ SHA256Digest(bytes: $0) }),
      let boundary = parts[5].bytes.flatMap({ SHA256Digest(bytes: $0) })
    else { return nil }
    self.init(
      stream: stream, ordinal: ordinal, firstNumber: first, number: number,
      chain: ChainValue(digest: chain), boundary: ChainValue(digest: boundary))
    guard isPossible else { return nil }
  }

  /// The numbers are within their limits, and in order.
  fileprivate var isPossible: Bool {
    (1...LogLayout.streamNameByteLimit).contains(stream.utf8.count)
      && stream.utf8.allSatisfy { (0x21...0x7E).contains($0) }
      && (1...LogLayout.numberLimit).contains(ordinal)
      && (1...LogLayout.numberLimit).contains(firstNumber)
      && (firstNumber - 1...LogLayout.numberLimit).contains(number)
  }
}

extension Anchor {
  /// Why a text is no anchor.
  package enum TextError: Error, Equatable {
    /// It does not begin like one.
    case notAnAnchor
    /// A newer version wrote it.
    case newer(version: Int)
    /// The line, from 1, says something that an anchor can't.
    case line(Int)
  }

  private static let title = "daybook anchor "
  private static let version = 1

  /// The text form.
  package var text: String {
    var text = "\(Anchor.title)\(Anchor.version)\nlog \(logID)\n"
    for place in places {
      text += "\(place.stream) \(place.ordinal) \(place.firstNumber) \(place.number) "
      text += "\(place.chain.digest.hexadecimal)\n"
      text += "\(place.stream) boundary \(place.ordinal - 1) \(place.firstNumber - 1) "
      text += "\(place.boundary.digest.hexadecimal)\n"
    }
    return text
  }

  /// The anchor that `text` is.
  package init(text: String) throws(TextError) {
    // A line end of two characters is one `Character`.
    var lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard let first = lines.first, first.hasPrefix(Anchor.title),
      let version = Int(first.dropFirst(Anchor.title.count))
    else { throw .notAnAnchor }
    guard version == Anchor.version else { throw .newer(version: version) }
    guard lines.count >= 2, lines[1].hasPrefix("log "),
      let logID = Identifier(String(lines[1].dropFirst(4)))
    else { throw .line(2) }
    var places: [Place] = []
    for index in stride(from: 2, to: lines.count, by: 2) {
      guard index + 1 < lines.count else { throw .line(index + 2) }
      guard let place = Place(String(lines[index]), String(lines[index + 1])) else {
        throw .line(index + 1)
      }
      places.append(place)
    }
    self.init(logID: logID, places: places)
  }
}

extension Anchor.Place {
  /// The place that two lines of the text form say.
  fileprivate init?(_ line: String, _ boundaryLine: String) {
    let fields = line.split(separator: " ", omittingEmptySubsequences: false)
    let before = boundaryLine.split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 5, before.count == 5, let ordinal = UInt64(fields[1]),
      let first = UInt64(fields[2]), let number = UInt64(fields[3]),
      let chain = SHA256Digest(hexadecimal: String(fields[4])),
      let boundary = SHA256Digest(hexadecimal: String(before[4]))
    else { return nil }
    self.init(
      stream: String(fields[0]), ordinal: ordinal, firstNumber: first, number: number,
      chain: ChainValue(digest: chain), boundary: ChainValue(digest: boundary))
    guard isPossible, before[0] == fields[0], before[1] == "boundary",
      UInt64(before[2]) == ordinal - 1, UInt64(before[3]) == firstNumber - 1
    else { return nil }
  }
}
