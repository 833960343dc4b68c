package import DaybookFormat
package import DaybookSync

/// When a device loses its power. Appends are counted from 1 over the device's whole life.
package enum PowerCut: Sendable, Hashable {
  /// Nothing of this append is there afterwards.
  case beforeAppend(Int)
  /// The append is durable, and nobody has heard of it.
  case afterAppend(Int)
}

/// The device lost its power: it does nothing more until it is started again.
package struct PowerLost: Error, Sendable, Hashable {
  /// The append that it happened at.
  package let append: Int
}

/// A log without files: the appends of both streams in their order, each durable at once.
package struct SimulatedJournal: Sendable {
  /// The streams of a device.
  package enum Stream: Sendable, Hashable { case outbox, feed }

  private struct Append: Sendable {
    let stream: Stream
    let entries: [(kind: UInt8, bytes: [UInt8])]
  }

  private var appends: [Append] = []
  private var counts: [Stream: UInt64] = [:]

  /// A journal of which nothing has been written.
  package init() {}

  /// The appends so far.
  package var appendCount: Int { appends.count }

  /// The number of the next entry of `stream`; the first one is 1.
  package func nextPosition(in stream: Stream) -> UInt64 { (counts[stream] ?? 0) + 1 }

  /// Appends `entries` together.
  package mutating func append(_ entries: [Entry], to stream: Stream) {
    appends.append(
      Append(stream: stream, entries: entries.map { ($0.kind.rawValue, $0.bytes) }))
    counts[stream, default: 0] += UInt64(entries.count)
  }

  /// All entries in the order in which they were appended, each with its number in its stream,
  /// decoded from their bytes.
  package func replay() throws(EntryError) -> [(entry: Entry, position: UInt64)] {
    var positions: [Stream: UInt64] = [:]
    var replayed: [(entry: Entry, position: UInt64)] = []
    for append in appends {
      for stored in append.entries {
        positions[append.stream, default: 0] += 1
        if let entry = try Entry(kind: stored.kind, bytes: stored.bytes[...]) {
          replayed.append((entry, positions[append.stream] ?? 0))
        }
      }
    }
    return replayed
  }

  /// The state that all entries make.
  package func state(
    schema: Schema, incarnation: Identifier
  ) throws(EntryError) -> ClientState {
    var state = ClientState(schema: schema, incarnation: incarnation)
    for (entry, position) in try replay() { state.apply(entry, position: position) }
    return state
  }
}
