/// A state of one record: a count, and a mark of the history it belongs to.
///
/// A record's first count is the sequence number of its create; each change adds one. The mark is
/// the first 8 bytes of the scope's running hash at that change, so versions of two histories are
/// never equal, whoever restored what.
public struct Version: Sendable, Hashable {
  /// Grows by one with each change of the record.
  public let number: UInt64
  /// The first 8 bytes of the scope's running hash, the first one the most significant.
  public let mark: UInt64

  /// The version of this count in the history of this mark.
  public init(number: UInt64, mark: UInt64) {
    self.number = number
    self.mark = mark
  }
}

/// One record of the whole database: its collection and its id.
public struct RecordKey: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The collection's name in the schema.
  public let collection: String
  /// The id, made on the device that created the record.
  public let id: String

  /// The record `id` of `collection`.
  public init(_ collection: String, _ id: String) {
    self.collection = collection
    self.id = id
  }

  /// By collection, then by id, each by its UTF-8 bytes.
  public static func < (left: RecordKey, right: RecordKey) -> Bool {
    left.collection == right.collection
      ? ByteOrder.precedes(left.id, right.id)
      : ByteOrder.precedes(left.collection, right.collection)
  }

  /// `COLLECTION/ID`, as the command writes it.
  public var description: String { "\(collection)/\(id)" }

  /// The record that `text` names as `COLLECTION/ID`; `nil` without a slash or with an empty half.
  public init?(_ text: String) {
    guard let slash = text.firstIndex(of: "/") else { return nil }
    let id = text[text.index(after: slash)...]
    guard slash > text.startIndex, !id.isEmpty else { return nil }
    self.init(String(text[..<slash]), String(id))
  }
}

/// A place in one scope's sequence, and the history it belongs to.
package struct ScopePosition: Sendable, Hashable {
  /// The sequence number; 0 before the first change.
  package var sequence: UInt64
  /// The first 8 bytes of the scope's running hash there.
  package var mark: UInt64

  /// The place `sequence` in the history of `mark`.
  package init(sequence: UInt64, mark: UInt64) {
    self.sequence = sequence
    self.mark = mark
  }
}
