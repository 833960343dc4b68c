public import Observation

/// The records of a query, kept up to date for a view.
@MainActor @Observable
public final class LiveQuery<R: Record> {
  /// The records as of the newest durable batch seen.
  public private(set) var rows: [R] = []
  @ObservationIgnored private var task: Task<Void, Never>?

  init(_ observation: Updates<[R]>) {
    task = Task { [weak self] in
      for await rows in observation {
        guard let self else { return }
        self.rows = rows
      }
    }
  }

  isolated deinit { task?.cancel() }
}
