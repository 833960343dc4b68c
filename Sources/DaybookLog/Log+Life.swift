import DaybookFormat
import Synchronization

extension Log {
  /// Where the log is between opening and closing.
  ///
  ///     open  -- suspend() -->  suspended  -- resume() -->  open
  ///       \\---- close() ---->  closed  <---- close() ----/
  struct Life {
    /// Held while the log is open for writing.
    var lock: (any FileLock)?
    var isClosed = false
    /// What the directory held when the log was suspended; `nil` while it is not.
    var suspension: Suspension?
  }

  /// What was left behind at a suspension, to see whether somebody else wrote since.
  struct Suspension: Equatable {
    /// The segment files and snapshots with their sizes; `nil` if they could not be looked at.
    var files: [String: UInt64]?
    /// The header of the last segment of each stream.
    var headers: [SegmentHeader]?
  }

  /// Ends the log: what waits is written, every stream that was written to gets its closing marks,
  /// and the lock is let go. Closing twice does nothing; a suspended log has nothing to write.
  package func close() throws(LogError) {
    try life.withLock { life throws(LogError) in
      guard !life.isClosed else { return }
      life.isClosed = true
      defer { life.lock?.release() }
      guard let committer else { return }
      _ = try wait { done in committer.enqueue(.close(done: done)) }
    }
  }

  /// Ends writing for a while: what waits is written, the streams get their closing marks, and no
  /// file is held, so that a system may stop the process at any point. Until ``resume()`` every
  /// append fails with `suspended`, and nothing of it exists.
  ///
  /// Suspending twice does nothing. Blocks: never to be called on Swift's cooperative pool.
  /// - Throws: why the closing marks could not be written. The log is suspended all the same, its
  ///   lock let go; what was acknowledged is durable, and resuming goes on from there.
  package func suspend() throws(LogError) {
    try life.withLock { life throws(LogError) in
      guard !life.isClosed else { throw .closed }
      guard life.suspension == nil, life.lock != nil else { return }
      defer {
        life.suspension = look()
        life.lock?.release()
        life.lock = nil
      }
      guard let committer else { return }
      _ = try wait { done in committer.enqueue(.suspend(done: done)) }
    }
  }

  /// Takes the lock again and lets writing go on, in new segments. Does nothing if the log is not
  /// suspended. Blocks as ``suspend()`` does.
  /// - Throws: ``LogError``: `locked` while somebody else has the log open, `writtenByOther` if
  ///   somebody else has written to it: then it is to be closed and opened anew. The log stays
  ///   suspended, and nothing has been written.
  package func resume() throws(LogError) {
    try life.withLock { life throws(LogError) in
      guard !life.isClosed else { throw .closed }
      guard let suspension = life.suspension else { return }
      let lock: any FileLock
      do throws(FileError) {
        lock = try fileSystem.lock("\(directory)/\(LogDirectory.lockFile)")
      } catch {
        throw LogError(error)
      }
      guard suspension.files != nil, suspension == look() else {
        lock.release()
        throw .writtenByOther(path: directory)
      }
      let sequence = (try? LogDirectory(directory, fileSystem: fileSystem))?.head?.sequence
      life.lock = lock
      life.suspension = nil
      guard let committer else { return }
      _ = try wait { done in committer.enqueue(.resume(headSequence: sequence ?? 0, done: done)) }
    }
  }

  /// What the directory holds now, as far as another writer would have changed it.
  private func look() -> Suspension {
    do {
      let found = try LogDirectory(directory, fileSystem: fileSystem)
      var files: [String: UInt64] = [:]
      for folder in streams + ["snapshots"] {
        guard try fileSystem.attributes(of: "\(directory)/\(folder)") != nil else { continue }
        for name in try fileSystem.list("\(directory)/\(folder)") {
          let file = "\(folder)/\(name)"
          files[file] = try fileSystem.attributes(of: "\(directory)/\(file)")?.byteCount
        }
      }
      var headers: [SegmentHeader] = []
      for stream in found.streams {
        if let last = stream.segments.last, let header = try found.header(of: last.file) {
          headers.append(header)
        }
      }
      return Suspension(files: files, headers: headers)
    } catch {
      return Suspension()
    }
  }
}
