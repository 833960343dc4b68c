/// What an operation does to its record.
public enum Action: Sendable, Hashable, CustomStringConvertible {
  /// Makes the record; refused if there is one.
  case create
  /// Sets and unsets fields; never makes a record.
  case patch
  /// Sets the whole row: fields that are not given are unset.
  case replace
  /// Removes the record; its version stays behind as a tombstone.
  case delete
  /// An action of the schema by its name, judged by the states it may start from and nothing else.
  case named(String)

  /// The action's name as tools show it.
  public var description: String {
    switch self {
    case .create: return "create"
    case .patch: return "patch"
    case .replace: return "replace"
    case .delete: return "delete"
    case .named(let name): return name
    }
  }

  var code: UInt8 {
    switch self {
    case .create: return 1
    case .patch: return 2
    case .replace: return 3
    case .delete: return 4
    case .named: return 5
    }
  }

  init?(code: UInt8, name: String) {
    switch code {
    case 1: self = .create
    case 2: self = .patch
    case 3: self = .replace
    case 4: self = .delete
    case 5: self = .named(name)
    default: return nil
    }
    guard (code == 5) != name.isEmpty else { return nil }
  }
}

/// When the effect of an operation is shown, and when it is sent.
public enum Strategy: UInt8, Sendable, Hashable, CaseIterable {
  /// Shown at once, sent when possible.
  case lazy = 1
  /// Sent when possible, shown when confirmed.
  case queued = 2
  /// Sent at once, shown when confirmed; given up when the caller stops waiting.
  case online = 3

  /// The strategy's name as tools show it.
  public var name: String {
    switch self {
    case .lazy: return "lazy"
    case .queued: return "queued"
    case .online: return "online"
    }
  }
}

/// What the author of an operation had before them.
package enum Base: Sendable, Hashable {
  /// Nothing: a create, or an action that does not look.
  case none
  /// A row of the server's.
  case version(Version)
  /// The result of an earlier operation of the same device on the same record.
  case operation(Identifier)
}

/// A hybrid logical clock's reading: milliseconds since 1970 in the upper 48 bits, a count below.
public struct HybridTime: Sendable, Hashable, Comparable {
  /// Milliseconds and count in one number, ordered like the pair.
  public let rawValue: UInt64

  /// The reading whose number is `rawValue`.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The first reading of `time`.
  public init(_ time: Timestamp, count: UInt16 = 0) {
    rawValue = UInt64(max(0, time.milliseconds)) << 16 | UInt64(count)
  }

  /// The wall clock's part.
  public var time: Timestamp { Timestamp(milliseconds: Int64(rawValue >> 16)) }

  /// Earlier comes first.
  public static func < (left: HybridTime, right: HybridTime) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The reading for an event at `time` that follows this one: never smaller or equal.
  public func next(at time: Timestamp) -> HybridTime {
    let wall = HybridTime(time)
    return wall > self ? wall : HybridTime(rawValue: rawValue &+ 1)
  }
}
