/// The way from the outermost value to an inner one, as a chain: it is built while an app's type is
/// walked through, and spelled out as `codingPath` only when someone asks.
final class CodingTrail: Sendable {
  private let parent: CodingTrail?
  private let key: any CodingKey
  /// Keys from the outermost value to here.
  let depth: Int

  init(_ parent: CodingTrail?, _ key: any CodingKey) {
    self.parent = parent
    self.key = key
    depth = (parent?.depth ?? 0) + 1
  }

  /// The keys of `trail`, the outermost first.
  static func path(_ trail: CodingTrail?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var next = trail
    while let step = next {
      keys.append(step.key)
      next = step.parent
    }
    return keys.reversed()
  }

  /// The keys of `trail` and one more.
  static func path(_ trail: CodingTrail?, _ key: any CodingKey) -> [any CodingKey] {
    path(trail) + [key]
  }
}

/// A place in an array, or the `super` of a class, where a key is asked for.
enum PlainKey: CodingKey {
  case index(Int)
  case name(String)

  /// The name under which a class keeps its superclass, as every coder of Foundation does.
  static let superclass = PlainKey.name("super")

  init?(stringValue: String) { self = .name(stringValue) }

  init?(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .index(let index): return "Index \(index)"
    case .name(let name): return name
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { return index }
    return nil
  }
}
