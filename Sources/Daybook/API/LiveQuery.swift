public import Observation

/// The records of a query, kept up to date for a view.
@MainActor @Observable
public final class LiveQuery<R: Record> {
  /// The records as of the newest durable batch seen.
  public private(set) var rows: [R]
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Shows `rows` at once, so that a view's first frame is not an empty one.
  init(_ rows: [R], _ observation: Updates<[R]>) {
    self.rows = rows
    task = Task { [weak self] in
      for await rows in observation {
        guard let self else { return }
        self.rows = rows
      }
    }
  }

  isolated deinit { task?.cancel() }
}
