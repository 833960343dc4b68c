import DaybookLog
import Foundation

extension SampleDay {
  /// `day/reps/07` and `day/server` in `directory`, closed.
  static func make(in directory: TemporaryDirectory) throws {
    try FileManager.default.createDirectory(
      atPath: directory.path("day/reps"), withIntermediateDirectories: true)
    try openDevice(at: directory.path("day/reps/07")).close()
    try write(
      serverEntries, to: directory.path("day/server"), streams: [.changes], account: ""
    ).close()
  }
}

/// A file of a log, to be harmed.
struct LogFile {
  let path: String

  var byteCount: Int { get throws { try bytes.count } }
  var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: URL(filePath: path))) } }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

  /// Flips one bit; flipping it again mends the file.
  func flip(_ offset: Int, bit: Int) throws {
    var bytes = try bytes
    bytes[offset] ^= 1 << bit
    try write(bytes)
  }
}
