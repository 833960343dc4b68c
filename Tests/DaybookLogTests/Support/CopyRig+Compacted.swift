import DaybookFormat
import DaybookLog
import DaybookTestKit
import Synchronization
import Testing

extension CopyRig {
  /// A closed log whose first files of the outbox a compaction has made one of, with those beside
  /// it; every entry is kept. With `isBackedUp`, it was backed up before that.
  func writeCompacted(_ groups: Int = 8, isBackedUp: Bool = false) throws -> StreamFile {
    try write(groups).close()
    try write(1, from: groups, seed: 2).close()
    if isBackedUp { _ = try backup() }
    let directory = try LogDirectory(SmallLog.directory, fileSystem: disk)
    let closed = try directory.closedFiles(of: "outbox").map(\.file)
    let random = Mutex(SplitMix64(seed: 31))
    let outcome = try Compactor(directory, random: { random.withLock { $0.next() } }).compact(
      "outbox", closed, isEchoed: true, isCompressed: false
    ) { _ in true }
    return try #require(outcome).output
  }

  /// Removes from the log what it has superseded.
  func removeSuperseded() throws -> [StreamFile] {
    let directory = try LogDirectory(SmallLog.directory, fileSystem: disk)
    return try Compactor(directory, random: { 0 }).removeSuperseded(of: "outbox", limit: 0)
  }

  /// Zeros everything behind the header of a file of the log, or of `directory`.
  func spoil(
    _ file: String, in directory: String = SmallLog.directory, from offset: Int = 8_192
  ) throws {
    let path = "\(directory)/\(file)"
    var bytes = try #require(disk.content(of: path))
    for index in offset..<bytes.count { bytes[index] = 0 }
    disk.put(bytes, at: path)
  }
}
