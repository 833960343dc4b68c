import Foundation

/// The folder of an option `--keep`, which must be new or empty: nothing is ever overwritten.
enum KeptFolder {
  /// Makes the folder at `path`, with `subfolder` in it, if it is not there.
  static func make(_ path: String, with subfolder: String = "") throws -> URL {
    let files = FileManager.default
    var isDirectory: ObjCBool = false
    if files.fileExists(atPath: path, isDirectory: &isDirectory) {
      let isEmpty =
        isDirectory.boolValue && ((try? files.contentsOfDirectory(atPath: path))?.isEmpty ?? false)
      guard isEmpty else {
        throw Failure(
          status: .inputOutput, message: "\(path) is there already and is not an empty folder",
          remedy: "Name a new folder for --keep; nothing is ever overwritten.")
      }
    }
    let directory = URL(fileURLWithPath: path)
    do {
      try files.createDirectory(
        at: subfolder.isEmpty ? directory : directory.appendingPathComponent(subfolder),
        withIntermediateDirectories: true)
    } catch {
      throw Failure(
        status: .inputOutput, message: "\(path) can't be made",
        remedy: "Check the permissions and the disk of its parent folder.")
    }
    return directory
  }
}
