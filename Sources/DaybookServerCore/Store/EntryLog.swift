package import DaybookFormat

/// A stream of the server's entries on a disk, as ``EmbeddedStore`` needs it.
package protocol EntryLog: Sendable {
  /// Takes `entries` as one frame: all of them survive, or none. Does not block.
  ///
  /// Calls take effect in their order. `completion` is called once, in the same order, on a thread
  /// of the log: with `nil` when the entries are durable, else with the reason why nothing more can
  /// be appended, which is the same for every later call.
  func append(
    _ entries: [Entry], completion: @escaping @Sendable (StoreError?) -> Void)

  /// Writes what was taken and lets go of the directory. Blocks; the last call of all.
  func close() throws(StoreError)
}
