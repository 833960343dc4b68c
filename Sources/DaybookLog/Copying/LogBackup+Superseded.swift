import DaybookFormat

/// What keeps the copy small.
extension LogBackup {
  /// Removes from the copy the files of its streams that the log has superseded and removed, where
  /// the same file of both covers them and is whole in the copy, read from the device.
  ///
  /// Nothing is removed from a copy that holds what the log has lost.
  func removeSuperseded(_ outcome: inout Outcome) throws(CopyError) {
    guard outcome.keptFiles.isEmpty else { return }
    let log = try directory(source)
    let copy = try directory(target)
    for stream in copy.streams {
      let own = Set(log.streams.first { $0.name == stream.name }?.files ?? [])
      var removed = 0
      for cover in stream.serving where cover.isCompacted && own.contains(cover) {
        let old = stream.superseded.filter { cover.supersedes($0) && !own.contains($0) }
        if old.isEmpty { continue }
        do throws(LogError) {
          guard try copy.isProvenWhole(cover) else { continue }
        } catch {
          throw .log(error)
        }
        do throws(FileError) {
          for file in old { try fileSystem.remove("\(target)/\(file.file)") }
        } catch {
          throw CopyError(error)
        }
        removed += old.count
      }
      guard removed > 0 else { continue }
      outcome.removedFileCount += removed
      do throws(FileError) {
        try fileSystem.syncDirectory("\(target)/\(stream.name)")
      } catch {
        throw CopyError(error)
      }
    }
  }
}
