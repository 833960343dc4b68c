import DaybookFormat
import Synchronization

/// Where the chains of a log's streams stand, as far as they are durable: written by the thread
/// that writes the log, read by anybody.
final class ChainBoard: Sendable {
  private let positions = Mutex<[String: ChainPosition]>([:])

  /// The chain of its stream stands at `position`, and all of that is durable.
  func set(_ position: ChainPosition) {
    positions.withLock { $0[position.link.stream] = position }
  }

  /// The chain value of `stream`; zero if it has no segment.
  func value(of stream: String) -> ChainValue {
    links.first { $0.stream == stream }?.value ?? .zero
  }

  /// The links of all streams that have a segment, by the stream's name.
  var links: [ChainLink] {
    let positions = self.positions.withLock { $0 }
    var hasher = ChainHasher()
    return positions.values.map { $0.finished(hasher: &hasher) }.sorted {
      ByteOrder.precedes($0.stream, $1.stream)
    }
  }
}
