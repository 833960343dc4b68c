import DaybookLog
import DaybookTestKit
import Synchronization

/// A disk whose log is never read twice with the same bytes, as if it were written without a pause.
final class RestlessDisk: ForwardingDisk {
  let base: any FileSystem
  private let count = Mutex<UInt8>(0)

  init(_ base: SimulatedDisk) { self.base = base }

  /// Changes the end of what was read of a segment of the log.
  fileprivate func stir(_ bytes: [UInt8], _ path: String) -> [UInt8] {
    let isSegment = path.hasPrefix("\(SmallLog.directory)/outbox/")
    guard isSegment, bytes.count > 16_384 else { return bytes }
    var bytes = bytes
    bytes[bytes.count - 1] = count.withLock { count in
      count = count % 250 + 1
      return count
    }
    return bytes
  }

  func open(_ path: String, writable: Bool) throws(FileError) -> any OpenFile {
    RestlessFile(try base.open(path, writable: writable), path, self)
  }
}

private final class RestlessFile: ForwardingFile {
  let base: any OpenFile
  private let path: String
  private let disk: RestlessDisk

  init(_ base: any OpenFile, _ path: String, _ disk: RestlessDisk) {
    self.base = base
    self.path = path
    self.disk = disk
  }

  func read(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    disk.stir(try base.read(at: offset, count: count), path)
  }
}
