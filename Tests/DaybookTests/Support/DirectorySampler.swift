import Foundation
import Synchronization

/// Watches how large a directory is, on a thread of its own, until it is stopped.
final class DirectorySampler: Sendable {
  /// The directory at one moment.
  struct Sample: Sendable {
    /// How far the work was.
    let progress: Int
    /// All files' bytes.
    var byteCount = 0
    /// The bytes that they take on the disk.
    var blockByteCount = 0
  }

  private let path: String
  private let progress: Counter
  private let samples = Mutex<[Sample]>([])
  private let stopped = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// Looks at `path` every few milliseconds, and notes how far `progress` is.
  init(_ path: String, progress: Counter) {
    self.path = path
    self.progress = progress
    Thread.detachNewThread { [self] in
      while stopped.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
        let sample = Self.size(of: path, progress: progress.count)
        samples.withLock { $0.append(sample) }
      }
      ended.signal()
    }
  }

  /// The directory now.
  static func size(of path: String, progress: Int = 0) -> Sample {
    var sample = Sample(progress: progress)
    for name in FileManager.default.subpaths(atPath: path) ?? [] {
      var status = stat()
      // A file may go while it is listed.
      guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      sample.byteCount += Int(status.st_size)
      sample.blockByteCount += Int(status.st_blocks) * 512
    }
    return sample
  }

  /// Stops, and returns what was seen.
  func stop() -> [Sample] {
    stopped.signal()
    ended.wait()
    return samples.withLock { $0 }
  }
}
