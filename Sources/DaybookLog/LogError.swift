/// Why a log can't be opened, read or written. Offsets are bytes from the start of the file.
package enum LogError: Error, Sendable, Hashable {
  /// There is nothing at the path.
  case notFound(path: String)
  /// The path leads to a file where a directory is meant.
  case notADirectory(path: String)
  /// The directory holds something that is no log.
  case notALog(path: String)
  /// Somebody else has the log open; the process, if it could be told.
  case locked(path: String, by: Int32?)
  /// A newer version wrote the file.
  case newerFormat(file: String, found: Int, supported: Int)
  /// The log belongs to another account.
  case otherAccount(path: String, found: String)
  /// The log is damaged, so it is open for reading only; the worst finding.
  case damaged(LogFinding)
  /// A feature of the file must be known to write to it.
  case readOnlyFormat(file: String)
  /// The disk is full.
  case diskFull(path: String)
  /// No permission, or a read-only disk.
  case notPermitted(path: String)
  /// One transaction has more bytes than a frame may.
  case tooLarge(byteCount: Int, limit: Int)
  /// There is no such stream.
  case noSuchStream(String)
  /// The stream's entries have all the numbers that there are, or damage says so: nothing was
  /// written.
  case numbersUsedUp(stream: String)
  /// The group was not stored: its numbers will be given to others.
  case notWritten(FileError)
  /// The disk does not say whether the group is stored; the next open tells.
  case outcomeUnknown(FileError)
  /// The log was closed.
  case closed
  /// The log is suspended: nothing was written. Resume it first.
  case suspended
  /// Somebody else has written to the log since it was opened: open it anew. Nothing was written
  /// over it.
  case writtenByOther(path: String)
  /// An entry that the log replayed could not be taken.
  case unreadableEntry(file: String, offset: UInt64, stream: String, number: UInt64)
  /// Another failure of the disk.
  case inputOutput(FileError)

  /// It keeps a log from being written to and not from being read.
  var allowsReading: Bool {
    switch self {
    case .notPermitted, .diskFull: return true
    default: return false
    }
  }

  init(_ error: FileError) {
    switch error.reason {
    case .diskFull: self = .diskFull(path: error.path)
    case .readOnly, .permission: self = .notPermitted(path: error.path)
    case .notFound: self = .notFound(path: error.path)
    case .notADirectory: self = .notADirectory(path: error.path)
    case .locked(let process): self = .locked(path: error.path, by: process)
    case .exists, .isADirectory, .other: self = .inputOutput(error)
    }
  }
}

/// One thing that is wrong with a file of a log.
package struct LogFinding: Sendable, Hashable {
  /// What is wrong.
  package enum Kind: String, Sendable, Hashable {
    /// A copy of the segment's header fails its checksum.
    case headerCopy
    /// Both copies of the header fail theirs.
    case header
    /// Header and frames are whole, but another log's.
    case foreign
    /// Every frame is whole, but the seal was made of other entries or other bytes.
    case seal
    /// Every frame is whole, but the segments before are not those that the header was written
    /// after.
    case chain
    /// A frame that had been acknowledged fails its checks, and nothing stands in for it.
    case frame
    /// A frame fails its checks; its twin stands in for it.
    case frameCopy
    /// Bytes that must be zero are not.
    case padding
    /// The bytes behind the valid end are not those that were settled.
    case settledTail
    /// The file has another size than it was closed or settled with.
    case fileSize
    /// The file, or its end, is missing.
    case missing
    /// A mark that ends a closed segment fails its checks; its twin stands in for it.
    case mark
    /// Bytes that were never acknowledged, as a crash leaves them.
    case tornTail
    /// A frame and its twin fail their checks; all its entries were read one by one.
    case salvaged
    /// An entry is as it was written, and can't be read or taken.
    case entry
    /// The file is not whole, and what it was made of, or what is made of it, stands in for it.
    case standIn
    /// The disk has an error where a page was to be read.
    case unreadable

    /// Whether entries are lost or can't be told whole by it.
    package var isLoss: Bool {
      switch self {
      case .header, .foreign, .seal, .chain, .frame, .missing, .entry: return true
      case .headerCopy, .frameCopy, .padding, .settledTail, .fileSize, .mark, .tornTail, .salvaged,
        .standIn, .unreadable:
        return false
      }
    }
  }

  /// What is wrong.
  package let kind: Kind
  /// The file, from the log's directory on.
  package let file: String
  /// The first byte that is wrong.
  package let offset: UInt64
  /// The numbers of the entries that are lost, as far as known.
  package let lost: ClosedRange<UInt64>?
  /// The gap entry of the same stream that recorded it at an earlier opening: then it is known.
  package var record: UInt64?

  /// Something wrong at `offset` of `file`.
  package init(
    _ kind: Kind, file: String, offset: UInt64, lost: ClosedRange<UInt64>? = nil
  ) {
    self.kind = kind
    self.file = file
    self.offset = offset
    self.lost = lost
  }

  /// Whether entries are lost or can't be told whole by it.
  package var isLoss: Bool { kind.isLoss }

  /// The stream: the file's folder, or that for which a snapshot stands.
  package var stream: String {
    let folder = String(file.prefix { $0 != "/" })
    return folder == SnapshotFile.folder ? SnapshotFile.stream : folder
  }

  /// The finding in a sentence.
  package var message: String {
    let what: String
    switch kind {
    case .headerCopy: what = "one copy of the header fails its checksum; the other stands in"
    case .header: what = "both copies of the header fail their checksum"
    case .foreign: what = "the file belongs to another log"
    case .seal: what = "what stands before the seal is not what it was made of"
    case .chain: what = "the entries before are not those that this segment was written after"
    case .frame: what = "an acknowledged frame fails its checks"
    case .frameCopy: what = "one copy of a frame fails its checks; the other stands in"
    case .padding: what = "bytes that must be zero are not; no entry is touched"
    case .settledTail: what = "the bytes behind the valid end have changed; no entry is touched"
    case .fileSize: what = "the file has another size than it was closed with"
    case .missing: what = "acknowledged entries are missing"
    case .mark: what = "a mark or the seal fails its checks; no entry is touched"
    case .tornTail: what = "the last write did not finish; it was never acknowledged"
    case .salvaged:
      what = "both copies of a frame fail their checks; every entry was read by its own checksum"
    case .entry: what = "an entry is whole and can't be read; it is kept aside"
    case .standIn: what = "the file is not whole; others stand in for it, and no entry is touched"
    case .unreadable: what = "the disk can't read a page; what stood there counts as zeros"
    }
    var text = "\(file), byte \(offset): \(what)"
    if let lost {
      text += " (\(LogFinding.words(for: lost)))"
    }
    if let record { text += "; known, recorded as \(stream):\(record)" }
    return text
  }

  /// `entry 7`, or `entries 7 to 9`.
  package static func words(for numbers: ClosedRange<UInt64>) -> String {
    numbers.count == 1
      ? "entry \(numbers.lowerBound)"
      : "entries \(numbers.lowerBound) to \(numbers.upperBound)"
  }
}
