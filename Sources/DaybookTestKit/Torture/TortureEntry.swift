import DaybookFormat
import DaybookLog

/// The streams of a device's log.
enum TortureStreamName: String, Sendable, CaseIterable {
  case outbox, feed
}

/// One entry as the model knows it: its bytes, and what it means in the model's own words.
struct TortureEntry: Sendable {
  /// What an entry means to the model.
  enum Meaning: Sendable {
    /// An operation of this device.
    case operation(TortureOperation)
    /// The server took it, at this sequence number.
    case accepted(Identifier, sequence: UInt64)
    /// The server refused it.
    case refused(Identifier)
    /// Operations left their lane; they stay shown if they only failed.
    case left([Identifier], root: Identifier, staysShown: Bool)
    /// Something was decided about the group of `root`.
    case decided(root: Identifier, isResent: Bool)
    /// The server's change at this sequence number.
    case change(sequence: UInt64)
    /// Everything up to this sequence number is in.
    case cursor(sequence: UInt64)
    /// A new base as of this sequence number begins.
    case bootstrapBegin(sequence: UInt64)
    /// The new base is complete.
    case bootstrapEnd
    /// Nothing that rows or verdicts depend on.
    case other
  }

  let kind: UInt8
  let bytes: [UInt8]
  let meaning: Meaning

  init(_ entry: Entry, _ meaning: Meaning = .other) {
    kind = entry.kind.rawValue
    bytes = entry.bytes
    self.meaning = meaning
  }

  var new: NewEntry { NewEntry(kind: kind, bytes: bytes) }
}

/// What the model keeps of an operation.
struct TortureOperation: Sendable {
  let id: Identifier
  let record: String
  let action: Action
  let fields: [String: Int64]
  let unset: [String]
  /// It is shown before the server has taken it.
  let isLazy: Bool
}

/// An entry as an opening found it.
struct TortureFound: Sendable, Equatable {
  let number: UInt64
  let kind: UInt8
  let bytes: ArraySlice<UInt8>
}
