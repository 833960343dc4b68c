import DaybookFormat
import DaybookLog

/// Changes a stored log in one place at a time, in every place.
///
/// What reads it must say so, with the file, or have lost nothing: loud or intact. Source:
/// `Docs/Testing.md`, section "Damage".
package struct DamageEnumerator: Sendable {
  /// A way to change a log.
  package enum Kind: Sendable, Hashable, CaseIterable {
    /// One bit is another.
    case flippedBit
    /// A sector of 512 bytes is zero.
    case zeroedSector
    /// A page of 4,096 bytes is zero.
    case zeroedPage
    /// A sector holds noise.
    case noisySector
    /// A file ends early.
    case cut
    /// A file is not there.
    case missingFile
    /// Two neighbouring frames have changed places.
    case swappedFrames
    /// A page, or a whole file, is that of another log.
    case spliced
  }

  /// How many places are looked at.
  package enum Density: Sendable, Hashable {
    /// Every place.
    case all
    /// Every place with a byte that is not zero near it, and one of this many of the others.
    case busy(oneOf: Int)
  }

  /// One change.
  package struct Damage: Sendable {
    /// The path of the file.
    package let path: String
    /// What was done, in words.
    package let place: String
  }

  private let disk: SimulatedDisk
  private let donor: SimulatedDisk?
  private let paths: [String]

  /// The places of the files at `paths` of `disk`; spliced parts come from the same paths of
  /// `donor`.
  package init(_ disk: SimulatedDisk, paths: [String], donor: SimulatedDisk? = nil) {
    self.disk = disk
    self.paths = paths
    self.donor = donor
  }

  /// Gives a disk with one change of `kind` to `check`, for each place in turn. It is the same
  /// disk each time, mended in between, unless `isFresh` asks for one that may be written to.
  /// Returns the number of places.
  @discardableResult
  package func forEach(
    _ kind: Kind, density: Density = .all, isFresh: Bool = false,
    _ check: (SimulatedDisk, Damage) throws -> Void
  ) rethrows -> Int {
    let shared = disk.crashed(.killed, seed: 0)
    var count = 0
    for path in paths {
      guard let content = disk.content(of: path) else { continue }
      for change in changes(kind, content, path, density) {
        let hurt = isFresh ? disk.crashed(.killed, seed: 0) : shared
        if let changed = change.make() { hurt.put(changed, at: path) } else { hurt.drop(path) }
        try check(hurt, Damage(path: path, place: "\(path): \(change.place)"))
        if !isFresh { hurt.put(content, at: path) }
        count += 1
      }
    }
    return count
  }

  /// What the file becomes, made only when it is its turn; `nil` for nothing.
  private struct Change {
    let place: String
    let make: () -> [UInt8]?

    init(_ place: String, _ make: @escaping () -> [UInt8]?) {
      self.place = place
      self.make = make
    }
  }

  private func changes(
    _ kind: Kind, _ content: [UInt8], _ path: String, _ density: Density
  ) -> [Change] {
    switch kind {
    case .flippedBit: return flips(content, density)
    case .zeroedSector: return fills(content, 512) { [UInt8](repeating: 0, count: $0) }
    case .zeroedPage: return fills(content, 4_096) { [UInt8](repeating: 0, count: $0) }
    case .noisySector:
      var random = SplitMix64(seed: UInt64(content.count))
      return fills(content, 512) { count in
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      }
    case .cut:
      return places(content, density).map { end in
        Change("cut to \(end) bytes") { Array(content[..<end]) }
      }
    case .missingFile: return [Change("missing") { nil }]
    case .swappedFrames: return swaps(content)
    case .spliced: return splices(content, path)
    }
  }

  private func places(_ content: [UInt8], _ density: Density) -> [Int] {
    guard case .busy(let oneOf) = density else { return Array(content.indices) }
    return content.indices.filter { index in
      if index % oneOf == 0 { return true }
      return content[max(0, index - 2)...min(content.count - 1, index + 2)].contains { $0 != 0 }
    }
  }

  private func flips(_ content: [UInt8], _ density: Density) -> [Change] {
    places(content, density).flatMap { offset in
      let isBusy = content[max(0, offset - 2)...min(content.count - 1, offset + 2)].contains {
        $0 != 0
      }
      let bits = density == .all || isBusy ? Array(0..<8) : [offset % 8]
      return bits.map { bit in
        Change("bit \(bit) of byte \(offset)") {
          var changed = content
          changed[offset] ^= 1 << UInt8(bit)
          return changed
        }
      }
    }
  }

  private func fills(
    _ content: [UInt8], _ unit: Int, _ filling: @escaping (Int) -> [UInt8]
  ) -> [Change] {
    stride(from: 0, to: content.count, by: unit).compactMap { start in
      let end = min(start + unit, content.count)
      guard content[start..<end].contains(where: { $0 != 0 }) else { return nil }
      return Change("bytes \(start) to \(end - 1)") {
        var changed = content
        changed.replaceSubrange(start..<end, with: filling(end - start))
        return changed
      }
    }
  }

  private func swaps(_ content: [UInt8]) -> [Change] {
    let frames = SegmentScan(content).frames
    return zip(frames, frames.dropFirst()).compactMap { first, second in
      guard second.end <= content.count, first.end <= second.offset else { return nil }
      return Change("the frames at \(first.offset) and \(second.offset) swapped") {
        let gap = content[first.end..<second.offset]
        let swapped = content[second.offset..<second.end] + gap + content[first.offset..<first.end]
        return Array(content[..<first.offset] + swapped + content[second.end...])
      }
    }
  }

  private func splices(_ content: [UInt8], _ path: String) -> [Change] {
    guard let other = donor?.content(of: path), other != content else { return [] }
    var changes: [Change] = [Change("the whole file of another log") { other }]
    let count = min(content.count, other.count)
    for start in stride(from: 0, to: count, by: 4_096) {
      let end = min(start + 4_096, count)
      guard content[start..<end] != other[start..<end] else { continue }
      changes.append(
        Change("the page at \(start) of another log") {
          var changed = content
          changed.replaceSubrange(start..<end, with: other[start..<end])
          return changed
        })
    }
    return changes
  }
}
