import DaybookFormat
import Testing

@Suite struct CBORTests {
  @Test func `the table has every row of the RFC`() {
    #expect(CBORVector.appendixA.count == 81)
  }

  @Test(arguments: CBORVector.appendixA)
  func `a vector of RFC 8949 is read and written`(vector: CBORVector) throws {
    let bytes = try #require(Hexadecimal.bytes(of: vector.bytes))
    let value = try CBORDecoder.decode(bytes, mode: .lenient)
    #expect(value == vector.value)
    #expect(Hexadecimal.text(of: CBOREncoder.encode(value)) == vector.canonical)
    if vector.bytes == vector.canonical {
      #expect(try CBORDecoder.decode(bytes, mode: .canonical) == vector.value)
    } else {
      #expect(throws: CBORError.self) { try CBORDecoder.decode(bytes, mode: .canonical) }
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `random values come back from their canonical bytes`(seed: UInt64) throws {
    var random = RandomValue(seed: seed)
    for index in 0..<500 {
      let value = random.value()
      let bytes = CBOREncoder.encode(value)
      let place = "seed \(seed), value \(index)"
      #expect(try CBORDecoder.decode(bytes, mode: .canonical) == value, "\(place)")
      #expect(try CBORDecoder.decode(bytes, mode: .lenient) == value, "\(place)")
      #expect(value.storageProblem == nil)
    }
  }

  @Test func `every truncation throws and names an offset inside`() throws {
    var random = RandomValue(seed: 11)
    for _ in 0..<100 {
      let bytes = CBOREncoder.encode(random.value())
      for count in 0..<bytes.count {
        #expect(throws: CBORError.self) {
          try CBORDecoder.decode(bytes[..<count], mode: .canonical)
        }
        #expect(throws: CBORError.self) { try CBORDecoder.decode(bytes[..<count], mode: .lenient) }
      }
    }
  }

  @Test func `a flipped bit never traps, and what still decodes is canonical`() throws {
    var random = RandomValue(seed: 12)
    for _ in 0..<60 {
      let bytes = CBOREncoder.encode(random.value())
      for bit in 0..<bytes.count * 8 {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        if let value = try? CBORDecoder.decode(flipped, mode: .canonical) {
          #expect(CBOREncoder.encode(value) == flipped)
        }
        if let value = try? CBORDecoder.decode(flipped, mode: .lenient) {
          #expect(try CBORDecoder.decode(CBOREncoder.encode(value), mode: .canonical) == value)
        }
      }
    }
  }

  @Test func `noise never traps`() throws {
    var random = RandomValue(seed: 13)
    for _ in 0..<20_000 {
      let bytes = random.bytes(random.generator.next() % 24)
      if let value = try? CBORDecoder.decode(bytes, mode: .canonical) {
        #expect(CBOREncoder.encode(value) == bytes)
      }
      _ = try? CBORDecoder.decode(bytes, mode: .lenient)
    }
  }

  @Test func `a prefix is read and measured, a rest is refused`() throws {
    let (value, byteCount) = try CBORDecoder.decodeFirst([0x82, 0x01, 0x02, 0xFF])
    #expect(value == .array([.unsigned(1), .unsigned(2)]))
    #expect(byteCount == 3)
    #expect(throws: CBORError.trailing(offset: 1)) { try CBORDecoder.decode([0x00, 0x00]) }
    let slice = ([0xFF, 0x01, 0x02] as [UInt8])[1...]
    #expect(throws: CBORError.trailing(offset: 1)) { try CBORDecoder.decode(slice) }
  }
}
