import DaybookFormat
import Testing

@Suite struct AnchorTests {
  static let anchor: Anchor = {
    let digests = MerkleTreeTests.leaves(3).map { ChainValue(digest: $0) }
    return Anchor(
      logID: EntrySamples.identifier(5),
      places: [
        Anchor.Place(
          stream: "outbox", ordinal: 3, firstNumber: 41, number: 57, chain: digests[0],
          boundary: digests[1]),
        Anchor.Place(
          stream: "feed", ordinal: 1, firstNumber: 1, number: 0, chain: digests[2],
          boundary: .zero),
      ])
  }()

  private let text = """
    daybook anchor 1
    log 0198c0de-0000-7000-8000-000000000005
    feed 1 1 0 #2
    feed boundary 0 0 0000000000000000000000000000000000000000000000000000000000000000
    outbox 3 41 57 #0
    outbox boundary 2 40 #1

    """

  private var filled: String {
    var text = self.text
    for (place, leaf) in MerkleTreeTests.leaves(3).enumerated() {
      text.replace("#\(place)", with: leaf.hexadecimal)
    }
    return text
  }

  @Test func `an anchor comes back from its text and its bytes`() throws {
    #expect(Self.anchor.text == filled)
    #expect(try Anchor(text: filled) == Self.anchor)
    #expect(try Anchor(text: filled.replacing("\n", with: "\r\n")) == Self.anchor)
    let bytes = CBOREncoder.encode(Self.anchor.value)
    let value = try CBORDecoder.decode(bytes[...], mode: .canonical)
    #expect(try Anchor(value: value) == Self.anchor)
  }

  @Test func `a text that is no anchor is told with its line`() {
    func error(_ change: (String) -> String) -> Anchor.TextError? {
      do throws(Anchor.TextError) {
        _ = try Anchor(text: change(filled))
        return nil
      } catch {
        return error
      }
    }
    #expect(error { _ in "" } == .notAnAnchor)
    #expect(error { "x" + $0 } == .notAnAnchor)
    #expect(error { $0.replacing("anchor 1", with: "anchor 2") } == .newer(version: 2))
    #expect(error { $0.replacing("log 0198", with: "log 198") } == .line(2))
    #expect(error { $0.replacing("feed 1 1 0", with: "feed 0 1 0") } == .line(3))
    #expect(error { $0.replacing("feed 1 1 0", with: "feed 1 3 1") } == .line(3))
    #expect(error { $0.replacing("outbox boundary 2", with: "outbox boundary 1") } == .line(5))
    #expect(error { $0.replacing("outbox 3", with: "outbox  3") } == .line(5))
    #expect(error { String($0.dropLast(3)) } == .line(5))
    let lines = filled.split(separator: "\n")
    #expect(error { _ in lines.dropLast().joined(separator: "\n") } == .line(6))
  }

  @Test func `a push and an incarnation carry an anchor, and do without`() throws {
    for anchor in [nil, Self.anchor] {
      let push = PushRequest(
        account: "rep-7", device: "phone", incarnation: EntrySamples.identifier(2),
        serverID: EntrySamples.identifier(7), watermark: 5, known: EntrySamples.cursor, items: [],
        anchor: anchor)
      #expect(try PushRequest(value: push.value) == push)
      #expect((push.value.map?["anchor"] == nil) == (anchor == nil))
      let row = IncarnationRow(
        incarnation: EntrySamples.identifier(2), account: "rep-7", device: "phone", watermark: 5,
        lastContact: EntrySamples.time, anchor: anchor)
      #expect(try IncarnationRow(bytes: row.bytes[...]) == row)
    }
  }

  @Test func `numbers that no log has make no anchor`() {
    let value = Self.anchor.value
    guard var map = value.map, case .array(let streams)? = map["streams"],
      case .array(let parts) = streams[0]
    else {
      Issue.record("no streams")
      return
    }
    for (place, bad) in [(1, Value.unsigned(0)), (2, .unsigned(1 << 60)), (0, .text("a b"))] {
      var changed = parts
      changed[place] = bad
      map["streams"] = .array([.array(changed)])
      #expect(throws: EntryError.self) { try Anchor(value: .map(map)) }
    }
    map["streams"] = .array([Value](repeating: streams[0], count: 9))
    #expect(throws: EntryError.self) { try Anchor(value: .map(map)) }
  }
}
