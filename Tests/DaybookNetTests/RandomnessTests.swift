import DaybookTestKit
import Testing

@Suite struct RandomnessTests {
  /// From `python3 -c 'import random; r = random.Random(seed); print([r.randrange(5) ...])'`.
  @Test(
    arguments: [
      (7, [2, 1, 3, 0, 0, 4, 0, 2, 4, 0]),
      (0, [3, 3, 0, 2, 4, 3, 3, 2, 3, 2]),
      (1, [1, 4, 0, 2, 0, 3, 3, 3, 3, 1]),
      ((1 << 40) + 3, [1, 0, 4, 0, 4, 2, 3, 1, 3, 4]),
    ] as [(UInt64, [UInt64])])
  func `draws below five are CPython's`(seed: UInt64, expected: [UInt64]) {
    var twister = MersenneTwister(seed: seed)
    #expect((0..<10).map { _ in twister.below(5) } == expected)
  }

  @Test(
    arguments: [
      (7, [1_390_851_128, 4_071_050_724, 647_892_279, 1_695_753_998, 2_795_742_288]),
      (0, [3_626_764_237, 1_654_615_998, 3_255_389_356, 3_823_568_514, 1_806_341_205]),
      (1, [577_090_037, 2_444_712_010, 3_639_700_191, 3_445_702_192, 3_280_387_012]),
      ((1 << 40) + 3, [943_978_446, 261_273_136, 2_359_950_418, 3_580_981_848, 406_355_048]),
    ] as [(UInt64, [UInt64])])
  func `words are CPython's`(seed: UInt64, expected: [UInt64]) {
    var twister = MersenneTwister(seed: seed)
    #expect((0..<5).map { _ in twister.bits(32) } == expected)
  }

  @Test func `draws of other widths and beyond the first refill are CPython's`() {
    var widths = MersenneTwister(seed: 7)
    let drawn = [1, 3, 31, 33, 64].map { widths.bits($0) }
    #expect(drawn == [0, 7, 323_946_139, 5_990_721_294, 1_336_213_610_742_710_224])
    var wide = MersenneTwister(seed: 7)
    let below = (0..<3).map { _ in wide.below(1_000_000_000_000) }
    #expect(below == [434_439_589_175, 54_335_349_840, 902_254_243_635])
    var long = MersenneTwister(seed: 7)
    let sum = (0..<2_000).reduce(UInt64(0)) { sum, _ in sum &+ long.bits(32) }
    #expect(sum == 4_170_787_962_687)
  }

  /// From the authors' C program, seed 1234567.
  @Test func `SplitMix64 gives its published stream`() {
    var generator = SplitMix64(seed: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
    ]
    #expect((0..<3).map { _ in generator.next() } == expected)
  }
}
