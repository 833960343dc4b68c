import DaybookFormat

/// The bytes of a file as far as the disk gives them.
struct FileContent {
  /// What could be read; zeros for a page that can't be.
  var bytes: [UInt8]
  /// The first byte of the first page that can't be read.
  var unreadable: Int?
  /// The file is larger than anything a writer makes: what is behind the limit was not read.
  var isCut = false

  /// The content of the file at `path`, of at most `limit` bytes. Where the disk has an error it is
  /// read page by page.
  ///
  /// - Throws: what the disk says; an input/output error only if no page can be read.
  init(
    of path: String, limit: UInt64 = LogDirectory.segmentByteLimit, _ fileSystem: any FileSystem
  ) throws(FileError) {
    let file = try fileSystem.open(path, writable: false)
    defer { file.close() }
    let byteCount = try file.byteCount()
    let count = Int(min(byteCount, limit))
    do throws(FileError) {
      bytes = try file.read(at: 0, count: count)
    } catch {
      guard error.isUnreadable else { throw error }
      bytes = []
      try readPages(of: file, count: count, error)
    }
    if byteCount > LogDirectory.segmentByteLimit {
      isCut = limit == LogDirectory.segmentByteLimit
      bytes.removeLast(zeroCount)
    }
  }

  private mutating func readPages(
    of file: any OpenFile, count: Int, _ first: FileError
  ) throws(FileError) {
    let page = LogLayout.pageByteCount
    var readCount = 0
    for offset in stride(from: 0, to: count, by: page) {
      let wanted = min(page, count - offset)
      do throws(FileError) {
        let read = try FileContent.page(of: file, at: UInt64(offset), count: wanted)
        bytes += read
        readCount += read.count
        if read.count < wanted { return }
      } catch {
        guard error.isUnreadable else { throw error }
        unreadable = unreadable ?? offset
        bytes += [UInt8](repeating: 0, count: wanted)
      }
    }
    if readCount == 0 { throw first }
  }

  /// A page, asked for once more if it can't be read: an error that passes is no damage.
  private static func page(
    of file: any OpenFile, at offset: UInt64, count: Int
  ) throws(FileError) -> [UInt8] {
    do throws(FileError) {
      return try file.read(at: offset, count: count)
    } catch {
      guard error.isUnreadable else { throw error }
      return try file.read(at: offset, count: count)
    }
  }

  /// The zeros at the end of what was read, found by halving.
  private var zeroCount: Int {
    var (low, high) = (0, bytes.count)
    while low < high {
      let middle = (low + high) / 2
      if SegmentScan.firstNonZero(bytes, middle, bytes.count) == nil {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return bytes.count - low
  }
}

extension FileError {
  /// The device has an error where was to be read: EIO.
  var isUnreadable: Bool { call == .read && reason == .other(5) }
}

extension LogError {
  /// The device has an error where was to be read.
  var isUnreadable: Bool {
    if case .inputOutput(let cause) = self { return cause.isUnreadable }
    return false
  }
}

extension LogDirectory {
  /// The bytes of a file of the log, as far as they can be read.
  func content(of file: String) throws(LogError) -> FileContent {
    do throws(FileError) {
      return try FileContent(of: "\(path)/\(file)", fileSystem)
    } catch {
      throw LogError(error)
    }
  }

  /// All bytes of a file of the log; zeros for a page that can't be read.
  func bytes(of file: String) throws(LogError) -> [UInt8] { try content(of: file).bytes }
}

extension SegmentReport {
  /// Notes what the disk did not give.
  mutating func note(_ content: FileContent, _ known: KnownDamage) {
    var new: [LogFinding] = []
    if let offset = content.unreadable {
      // Zeros in its place make another checksum, and that is all that is known.
      findings.removeAll { $0.kind == .settledTail }
      new.append(LogFinding(.unreadable, file: file, offset: UInt64(offset)))
    }
    if content.isCut, !findings.contains(where: { $0.kind == .fileSize }) {
      new.append(LogFinding(.fileSize, file: file, offset: UInt64(content.bytes.count)))
    }
    for var finding in new {
      finding.record = known.record(of: finding)
      findings.append(finding)
    }
    if !new.isEmpty { findings.sort { $0.offset < $1.offset } }
  }
}
