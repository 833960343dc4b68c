public import DaybookFormat
import DaybookSync

/// The records of one collection, as an app's type. Reads are synchronous, from any thread, and see
/// every write that has returned.
public struct Collection<R: Record>: Sendable {
  let store: Daybook

  /// The record `id` as it is shown; `nil` if it is not there. About 5 µs.
  ///
  /// - Throws: `notDecodable` if the row does not fit the type.
  public func get(_ id: R.ID) throws(DaybookError) -> R? {
    let key = RecordKey(R.collection, id.recordID)
    guard let shown = store.journal.state.read({ $0.shown(key) }) else { return nil }
    return try RecordCoding.record(R.self, id: key.id, row: shown.row)
  }

  /// The record `id` with what is known of it beside its fields.
  public func details(_ id: R.ID) throws(DaybookError) -> Details? {
    let key = RecordKey(R.collection, id.recordID)
    guard let shown = store.journal.state.read({ $0.shown(key) }) else { return nil }
    return Details(
      record: try RecordCoding.record(R.self, id: key.id, row: shown.row),
      version: shown.version, isPending: shown.isPending)
  }

  /// A record and what is known of it beside its fields.
  public struct Details: Sendable {
    /// The record as it is shown.
    public let record: R
    /// The version of the server's row; `nil` if the server has not told of it.
    public let version: Version?
    /// Whether edits of this device are shown that the server's feed does not show yet.
    public let isPending: Bool
  }

  /// The records that `condition` admits, in `order`, at most `limit`.
  ///
  /// `equals` and `oneOf` on an indexed field, alone or in an `and`, look at the records found by
  /// the index; everything else looks at all records of the collection. Rows that do not fit the
  /// type are left out and counted in ``Status/unreadableRecordCount``.
  public func query(
    where condition: Condition = .all, order: Order = .id, limit: Int = .max
  ) -> [R] {
    let rows = store.journal.state.read { state in
      QueryPlan(condition: condition, order: order, limit: limit)
        .run(on: state, collection: R.collection)
    }
    var unreadable: Set<RecordKey> = []
    let records = rows.compactMap { shown -> R? in
      do throws(DaybookError) {
        return try RecordCoding.record(R.self, id: shown.key.id, row: shown.row)
      } catch {
        unreadable.insert(shown.key)
        return nil
      }
    }
    store.note(unreadable: unreadable) { records.map { RecordKey(R.collection, $0.id.recordID) } }
    return records
  }

  /// How many records `condition` admits.
  public func count(where condition: Condition = .all) -> Int {
    store.journal.state.read { state in
      QueryPlan(condition: condition, order: .id, limit: .max)
        .run(on: state, collection: R.collection).count
    }
  }

  /// The records that `condition` admits: the current state first, then one value after each
  /// durable batch that touched the collection. A slow observer skips to the newest.
  public func observe(
    where condition: Condition = .all, order: Order = .id, limit: Int = .max
  ) -> Updates<[R]> {
    Updates(store: store, collection: R.collection) {
      query(where: condition, order: order, limit: limit)
    }
  }

  /// The records that `condition` admits, kept up to date for a view.
  @MainActor public func live(
    where condition: Condition = .all, order: Order = .id, limit: Int = .max
  ) -> LiveQuery<R> {
    LiveQuery(
      query(where: condition, order: order, limit: limit),
      observe(where: condition, order: order, limit: limit))
  }

  /// Whether all scopes that the collection's records may be in have been pulled once.
  public var isComplete: Bool { store.journal.state.read { $0.isComplete(R.collection) } }
}
