import DaybookFormat

/// Copies single files: each is written beside its place, synced, read back from the device and
/// compared, and only then moved to its place.
struct FileCopier {
  let fileSystem: any FileSystem

  /// Bytes read and written at a time.
  static let chunkByteCount = 4 << 20
  /// The end of the name of a file that is not in place yet.
  static let temporarySuffix = ".tmp"

  /// Whether two files hold the same bytes. Reads both, the second one from the device.
  func isSame(_ path: String, _ other: String) throws(FileError) -> Bool {
    guard let size = try fileSystem.attributes(of: path)?.byteCount,
      try fileSystem.attributes(of: other)?.byteCount == size
    else { return false }
    let file = try fileSystem.open(path, writable: false)
    defer { file.close() }
    let twin = try fileSystem.open(other, writable: false)
    defer { twin.close() }
    twin.dropCache()
    var offset: UInt64 = 0
    while offset < size {
      let bytes = try file.read(at: offset, count: FileCopier.chunkByteCount)
      guard !bytes.isEmpty, bytes == (try twin.read(at: offset, count: bytes.count)) else {
        return false
      }
      offset += UInt64(bytes.count)
    }
    return true
  }

  /// Puts a copy of the file `source` in the place `target`. Returns its size.
  func copy(_ source: String, to target: String) throws(CopyError) -> UInt64 {
    do throws(FileError) { return try place(copyOf: source, at: target) } catch {
      throw problem(error)
    }
  }

  /// The same, with the error as the disk gives it; ``problem(_:)`` tells what it means.
  func place(copyOf source: String, at target: String) throws(FileError) -> UInt64 {
    let file = try fileSystem.open(source, writable: false)
    defer { file.close() }
    return try place(target) { offset throws(FileError) in
      try file.read(at: offset, count: FileCopier.chunkByteCount)
    }
  }

  /// Puts a file of `bytes` in the place `target`. Returns its size.
  func write(_ bytes: [UInt8], to target: String) throws(CopyError) -> UInt64 {
    do throws(FileError) {
      return try place(target) { offset throws(FileError) in
        Array(bytes.dropFirst(Int(offset)).prefix(FileCopier.chunkByteCount))
      }
    } catch {
      throw problem(error)
    }
  }

  /// What `error`, of placing a file, means.
  func problem(_ error: FileError) -> CopyError {
    // How `place` says that what was read back differs.
    if error.call == .read, error.reason == .exists { return .notVerified(path: error.path) }
    return CopyError(error)
  }

  private func place(
    _ target: String, _ next: (UInt64) throws(FileError) -> [UInt8]
  ) throws(FileError) -> UInt64 {
    let temporary = target + FileCopier.temporarySuffix
    if try fileSystem.attributes(of: temporary) != nil { try fileSystem.remove(temporary) }
    let file = try fileSystem.create(temporary)
    var offset: UInt64 = 0
    do throws(FileError) {
      defer { file.close() }
      var written: UInt32 = 0
      while true {
        let bytes = try next(offset)
        if bytes.isEmpty { break }
        try file.write(bytes, at: offset)
        written = CRC32C.checksum(bytes, from: written)
        offset += UInt64(bytes.count)
      }
      try file.sync()
      file.dropCache()
      guard try checksum(of: file, byteCount: offset) == written else {
        throw FileError(.exists, .read, temporary)
      }
    } catch {
      try? fileSystem.remove(temporary)
      throw error
    }
    try fileSystem.replace(temporary, over: target)
    return offset
  }

  private func checksum(
    of file: any OpenFile, byteCount: UInt64
  ) throws(FileError) -> UInt32 {
    var checksum: UInt32 = 0
    var offset: UInt64 = 0
    while offset < byteCount {
      let bytes = try file.read(at: offset, count: FileCopier.chunkByteCount)
      if bytes.isEmpty { break }
      checksum = CRC32C.checksum(bytes, from: checksum)
      offset += UInt64(bytes.count)
    }
    return checksum
  }
}
