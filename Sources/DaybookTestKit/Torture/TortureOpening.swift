import DaybookFormat
import DaybookLog
import DaybookSync

/// A log as one opening found it.
struct TortureOpening {
  let log: Log
  private(set) var found: [TortureStreamName: [TortureFound]] = [.outbox: [], .feed: []]
  let state: ClientState
  /// The first entry that can't be decoded, in words.
  private(set) var unreadable: String?

  /// Opens the log at `directory` and folds it.
  init(_ directory: String, _ configuration: LogConfiguration) throws(LogError) {
    var found = self.found
    var unreadable: String?
    var folded: ClientState?
    log = try Log.open(directory, configuration) { identity, entry throws(LogError) in
      var state =
        folded ?? ClientState(schema: TortureWorld.schema, incarnation: identity.incarnation)
      folded = nil
      do throws(EntryError) {
        if let decoded = try Entry(kind: entry.kind, bytes: entry.bytes) {
          state.apply(decoded, position: entry.number)
        }
      } catch {
        unreadable = "\(entry.stream):\(entry.number) can't be decoded"
      }
      folded = state
      guard let name = TortureStreamName(rawValue: entry.stream) else { return }
      found[name]?.append(
        TortureFound(number: entry.number, kind: entry.kind, bytes: entry.bytes))
    }
    var state =
      folded ?? ClientState(schema: TortureWorld.schema, incarnation: log.identity.incarnation)
    state.endReplay()
    self.state = state
    self.found = found
    self.unreadable = unreadable
  }
}
