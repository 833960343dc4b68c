import DaybookFormat
package import DaybookLog

/// A stream of the server's entries on a disk, as ``EmbeddedStore`` needs it.
package protocol EntryLog: Sendable {
  /// Takes `entries`, which have at most `LogLayout.frameByteLimit` bytes, as one frame: all of
  /// them survive, or none. Does not block.
  ///
  /// Calls take effect in their order. `completion` is called once, in the same order: with `nil`
  /// when the entries survive a power cut, else with the reason why they may not.
  func append(
    _ entries: [NewEntry], completion: @escaping @Sendable (StoreError?) -> Void)

  /// Writes what was taken and lets go of the directory. Blocks; the last call of all.
  func close() throws(StoreError)
}

/// The stream `changes` of a log directory.
struct ChangesLog: EntryLog {
  let log: Log

  func append(
    _ entries: [NewEntry], completion: @escaping @Sendable (StoreError?) -> Void
  ) {
    log.append(StreamOptions.changes.name, [entries]) { result in
      switch result {
      case .success: completion(nil)
      case .failure(let error): completion(.log(error))
      }
    }
  }

  func close() throws(StoreError) {
    do throws(LogError) {
      try log.close()
    } catch {
      throw .log(error)
    }
  }
}
