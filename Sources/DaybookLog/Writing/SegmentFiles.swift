/// Makes the files of a stream's segments. Used by the log's committer thread alone.
final class SegmentFiles {
  private let options: StreamOptions
  private let directory: String
  private let fileSystem: any FileSystem
  /// The next file, made ahead.
  private var ready: (ordinal: UInt64, file: any OpenFile)?
  /// A file of this ordinal may be there that was made here and never written to.
  private var leftover: UInt64?

  init(options: StreamOptions, directory: String, fileSystem: any FileSystem) {
    self.options = options
    self.directory = directory
    self.fileSystem = fileSystem
  }

  /// The empty file of `ordinal`, ready to be written, with its directory entry durable. Throws
  /// `exists` if somebody else has made one.
  func take(_ ordinal: UInt64) throws(FileError) -> any OpenFile {
    guard let ready, ready.ordinal == ordinal else { return try make(ordinal) }
    self.ready = nil
    return ready.file
  }

  /// Makes the file of `ordinal` ahead; failing is no harm, since `take` tries again.
  func makeReady(_ ordinal: UInt64) {
    guard ready == nil, let file = try? make(ordinal) else { return }
    ready = (ordinal, file)
  }

  /// Removes a file that was made ahead.
  func dropReady() throws(FileError) {
    guard let ready else { return }
    self.ready = nil
    ready.file.close()
    leftover = ready.ordinal
    try fileSystem.remove(path(ready.ordinal))
    try fileSystem.syncDirectory(folder)
  }

  private var folder: String { "\(directory)/\(options.name)" }

  private func path(_ ordinal: UInt64) -> String {
    "\(directory)/\(LogDirectory.segmentFile(stream: options.name, ordinal: ordinal))"
  }

  private func make(_ ordinal: UInt64) throws(FileError) -> any OpenFile {
    let file = try create(ordinal)
    do throws(FileError) {
      try prepare(file)
      try file.sync()
      try fileSystem.syncDirectory(folder)
    } catch {
      file.close()
      if (try? fileSystem.remove(path(ordinal))) == nil { leftover = ordinal }
      throw error
    }
    return file
  }

  /// Creates a file. One that is there is removed only if it was made here and never written to.
  private func create(_ ordinal: UInt64) throws(FileError) -> any OpenFile {
    do throws(FileError) {
      return try fileSystem.create(path(ordinal))
    } catch {
      guard error.reason == .exists else {
        // It may be there all the same.
        leftover = ordinal
        throw error
      }
      guard leftover == ordinal else { throw error }
      try fileSystem.remove(path(ordinal))
      return try fileSystem.create(path(ordinal))
    }
  }

  /// Takes the space of a segment ahead. Where there is not enough, the file grows with its groups:
  /// the last free pages are for operations, and some systems say full when they are not.
  private func prepare(_ file: any OpenFile) throws(FileError) {
    do throws(FileError) {
      switch options.preparation {
      case .zeroFilled:
        try file.write([UInt8](repeating: 0, count: options.segmentByteLimit), at: 0)
      case .reserved: try file.reserve(UInt64(options.segmentByteLimit))
      }
    } catch {
      guard error.reason == .diskFull else { throw error }
      try file.truncate(to: 0)
    }
  }
}
