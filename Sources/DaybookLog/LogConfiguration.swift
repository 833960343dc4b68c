package import DaybookFormat

/// How a stream of a log is written.
package struct StreamOptions: Sendable, Hashable {
  /// How the next segment is made ready.
  package enum Preparation: Sendable, Hashable {
    /// Filled with zeros, so that a write changes no metadata.
    case zeroFilled
    /// Reserved where the file system can, else grown.
    case reserved
  }

  /// The stream's name, and its folder's: up to 16 bytes of ASCII.
  package let name: String
  /// Each group is written twice, in different pages, under one sync.
  package let isEchoed: Bool
  /// Payloads are compressed where that saves something.
  package let isCompressed: Bool
  /// Where a segment is full; one group may go beyond it.
  package var segmentByteLimit: Int
  /// How the next segment is made ready.
  package let preparation: Preparation
  /// What opening does about damage, by who else has the data.
  package var onDamage: DamagePolicy

  /// A stream of these properties; `onDamage` is ``DamagePolicy/usual(for:)`` unless given.
  package init(
    name: String, isEchoed: Bool, isCompressed: Bool, segmentByteLimit: Int,
    preparation: Preparation, onDamage: DamagePolicy? = nil
  ) {
    self.name = name
    self.isEchoed = isEchoed
    self.isCompressed = isCompressed
    self.segmentByteLimit = segmentByteLimit
    self.preparation = preparation
    self.onDamage = onDamage ?? .usual(for: name)
  }

  /// What only this device has: echoed, raw, 1 MiB segments filled with zeros.
  package static let outbox = StreamOptions(
    name: "outbox", isEchoed: true, isCompressed: false, segmentByteLimit: 1 << 20,
    preparation: .zeroFilled)
  /// What the server can send again: compressed, 4 MiB segments, so that
  /// snapshots keep up.
  package static let feed = StreamOptions(
    name: "feed", isEchoed: false, isCompressed: true, segmentByteLimit: 4 << 20,
    preparation: .reserved)
  /// The server's own: compressed, 16 MiB segments.
  package static let changes = StreamOptions(
    name: "changes", isEchoed: false, isCompressed: true, segmentByteLimit: 16 << 20,
    preparation: .reserved)
}

/// How a log is opened.
package struct LogConfiguration: Sendable {
  /// The streams, in the order in which one of two frames that may both come is replayed first.
  package var streams: [StreamOptions]
  /// Whose log it is, up to 128 bytes; checked against the headers.
  package var account: String
  /// Damage with a loss that no earlier opening recorded is an error, and nothing is written.
  package var isStrict = false
  /// The door to the disk.
  package var fileSystem: any FileSystem
  /// Evenly drawn 64-bit numbers, for ids and salts.
  package var random: @Sendable () -> UInt64
  /// The clock that frames are stamped with; no rule reads it.
  package var clock: @Sendable () -> HybridTime
  /// How long after the last group the idle mark is written; `nil` for never by itself.
  package var idleMarkDelay: Duration?
  /// Begins a new life of the log by this name: each stream gets a segment that names it, at the
  /// latest when the log is closed. `nil` goes on with the life that the log has.
  package var newIncarnation: Identifier?
  /// Told on the committer's thread when a segment begins, so that the one before it is closed: the
  /// bytes of that one, 0 if there is none.
  package var segmentBegun: (@Sendable (UInt64) -> Void)?

  /// A configuration of these parts.
  package init(
    streams: [StreamOptions], account: String, fileSystem: any FileSystem = SystemFileSystem(),
    random: @escaping @Sendable () -> UInt64, clock: @escaping @Sendable () -> HybridTime,
    idleMarkDelay: Duration? = .milliseconds(50)
  ) {
    self.streams = streams
    self.account = account
    self.fileSystem = fileSystem
    self.random = random
    self.clock = clock
    self.idleMarkDelay = idleMarkDelay
  }
}

/// Who a log is.
package struct LogIdentity: Sendable, Hashable {
  /// The log, for ever.
  package let logID: Identifier
  /// This life of it.
  package let incarnation: Identifier
  /// Whose it is.
  package let account: String

  /// The life `incarnation` of the log `logID`.
  package init(logID: Identifier, incarnation: Identifier, account: String) {
    self.logID = logID
    self.incarnation = incarnation
    self.account = account
  }
}

/// An entry to be appended.
package struct NewEntry: Sendable {
  /// Its kind, for the reader to know.
  package let kind: UInt8
  /// Its bytes.
  package let bytes: [UInt8]

  /// An entry of this kind.
  package init(kind: UInt8, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }
}
