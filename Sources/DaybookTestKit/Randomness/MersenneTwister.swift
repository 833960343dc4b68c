/// MT19937, drawing exactly what CPython's `random.Random(seed)` draws for an integer seed.
///
/// Source: Matsumoto and Nishimura, 1998, with the seeding by an array of 2002; CPython's
/// `_randommodule.c` for how an integer becomes that array and words become draws.
package struct MersenneTwister: RandomNumberGenerator, Sendable {
  private static let size = 624
  private static let shift = 397

  private var words: [UInt32]
  private var position = MersenneTwister.size

  /// The stream of `random.Random(seed)`; CPython ignores the sign of a seed, so none is taken.
  package init(seed: UInt64) {
    let low = UInt32(truncatingIfNeeded: seed)
    let high = UInt32(truncatingIfNeeded: seed >> 32)
    words = Self.words(seed: 19_650_218)
    mix(key: high == 0 ? [low] : [low, high])
  }

  /// `getrandbits(64)`.
  package mutating func next() -> UInt64 {
    bits(64)
  }

  /// `getrandbits(count)`, for 1 to 64 bits.
  package mutating func bits(_ count: Int) -> UInt64 {
    precondition((1...64).contains(count), "\(count) bits were asked for, of 1 to 64")
    guard count > 32 else { return UInt64(nextWord() >> UInt32(32 - count)) }
    // The first word drawn is the low one.
    let low = UInt64(nextWord())
    return low | UInt64(nextWord() >> UInt32(64 - count)) << 32
  }

  /// `randrange(bound)`: 0 up to and without `bound`, which is at least 1.
  package mutating func below(_ bound: UInt64) -> UInt64 {
    precondition(bound > 0, "a number below 0 was asked for")
    let count = UInt64.bitWidth - bound.leadingZeroBitCount
    while true {
      let drawn = bits(count)
      if drawn < bound { return drawn }
    }
  }

  /// `genrand_uint32`.
  private mutating func nextWord() -> UInt32 {
    if position == Self.size { refill() }
    var word = words[position]
    position += 1
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C_5680
    word ^= (word << 15) & 0xEFC6_0000
    return word ^ (word >> 18)
  }

  private mutating func refill() {
    for index in 0..<Self.size {
      let next = words[(index + 1) % Self.size]
      let joined = (words[index] & 0x8000_0000) | (next & 0x7FFF_FFFF)
      let twisted = (joined >> 1) ^ (joined & 1 == 0 ? 0 : 0x9908_B0DF)
      words[index] = words[(index + Self.shift) % Self.size] ^ twisted
    }
    position = 0
  }

  /// `init_genrand`.
  private static func words(seed: UInt32) -> [UInt32] {
    var words = [seed]
    words.reserveCapacity(size)
    for index in 1..<size {
      let last = words[index - 1]
      words.append(1_812_433_253 &* (last ^ (last >> 30)) &+ UInt32(index))
    }
    return words
  }

  /// `init_by_array`.
  private mutating func mix(key: [UInt32]) {
    var index = 1
    func scrambled(_ factor: UInt32) -> UInt32 {
      let last = words[index - 1]
      return words[index] ^ ((last ^ (last >> 30)) &* factor)
    }
    func advanced() -> Int { index + 1 == Self.size ? 1 : index + 1 }
    for round in 0..<max(Self.size, key.count) {
      let part = round % key.count
      words[index] = scrambled(1_664_525) &+ key[part] &+ UInt32(part)
      if index == Self.size - 1 { words[0] = words[index] }
      index = advanced()
    }
    for _ in 1..<Self.size {
      words[index] = scrambled(1_566_083_941) &- UInt32(index)
      if index == Self.size - 1 { words[0] = words[index] }
      index = advanced()
    }
    words[0] = 0x8000_0000
  }
}
