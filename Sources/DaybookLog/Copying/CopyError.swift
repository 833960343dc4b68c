/// Why a log was not backed up or restored. Nothing was changed, but for what the case says.
package enum CopyError: Error, Sendable, Hashable {
  /// Both paths lead to the same directory.
  case sameDirectory(path: String)
  /// The copy would lie in the log itself.
  case inside(path: String, of: String)
  /// The directory holds a copy of another log.
  case otherLog(path: String)
  /// The directory holds another life of the log, or a newer state of it, as this file shows.
  case otherLife(path: String, file: String)
  /// There is something in the directory already.
  case notEmpty(path: String)
  /// The log holds nothing that could be restored.
  case nothingWhole(path: String)
  /// What was read back is not what was written; the file is not in its place.
  case notVerified(path: String)
  /// The log has no segment: there is nothing to copy.
  case noSegment(path: String)
  /// The copy at the path gives so many entries of the stream less than the log it was made of.
  case lacksEntries(path: String, stream: String, count: Int)
  /// Entries are missing in what a compaction made, which can't be cut before them.
  case hole(LogFinding, path: String)
  /// Files changed or went away as often as they were read. What was copied stays.
  case unsteady(path: String)
  /// Compaction has dropped what that place needs.
  case compacted(path: String)
  /// The log or the disk, as for any other reader and writer.
  case log(LogError)

  init(_ error: FileError) { self = .log(LogError(error)) }

  /// A file that was listed was not there any more.
  var isVanishedFile: Bool {
    if case .log(.notFound) = self { return true }
    return false
  }
}
