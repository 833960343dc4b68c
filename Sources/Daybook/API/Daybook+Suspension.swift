extension Daybook {
  /// Ends sync and writing for a while and lets go of the log's lock, so that the system may stop
  /// the process at any point. Call it before the app sleeps: iOS kills an app that is stopped with
  /// a lock held in a shared container (0xdead10cc).
  ///
  /// A request under way is given up and sent again later; writes that wait are finished. Until
  /// ``resume()`` reads and observers go on, ``write(strategy:_:)`` throws `suspended` and nothing
  /// of it exists. Suspending twice does nothing.
  /// - Throws: why the log could not be closed cleanly, or `closed`. But for `closed` the store is
  ///   suspended all the same, and what was acknowledged is stored.
  public func suspend() async throws {
    try await inTurn { [driver, journal, upkeep] in
      await driver?.suspend()
      await upkeep.pause()
      try await journal.suspend()
    }
  }

  /// Takes the log's lock again; writing and sync go on. Does nothing if the store is not
  /// suspended.
  ///
  /// - Throws: ``DaybookError``: `locked` while another process has the log open (try again later),
  ///   `writtenByOther` if one has written to it: close the store and open it anew. Nothing is
  ///   lost, and the store stays suspended.
  public func resume() async throws {
    try await inTurn { [driver, journal, upkeep] in
      try await journal.resume()
      upkeep.goOn()
      await driver?.goOn()
    }
  }
}
