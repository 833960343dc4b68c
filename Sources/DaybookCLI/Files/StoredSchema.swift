import DaybookFormat
import DaybookLog
import DaybookServer
import DaybookServerCore
import Foundation

/// The schema that a server starts with: the file that was named, else the copy beside its data.
struct StoredSchema {
  static let fileName = "schema.json"
  /// Bytes of a schema: 4 MiB, thousands of collections.
  static let byteLimit: UInt64 = 4 << 20

  let schema: Schema
  private let bytes: [UInt8]
  private let keptPath: String
  private let isKept: Bool

  init(directory: String, given path: String?) throws {
    keptPath = "\(directory)/\(Self.fileName)"
    let kept = try Self.read(keptPath)
    if let path {
      guard let given = try Self.read(path) else {
        throw Failure(
          status: .inputOutput, message: "there is no file \(path)",
          remedy: "Check the path of the schema.")
      }
      bytes = given
    } else if let kept {
      bytes = kept
    } else {
      try Self.checkDirectory(directory)
      throw Failure(
        status: .schema, message: "there is no schema in \(directory) yet",
        remedy: "Name one with --schema FILE: a copy of it stays there.")
    }
    isKept = bytes == kept
    do throws(SchemaError) {
      schema = try Schema(json: bytes)
    } catch {
      throw Failure(
        status: .schema, message: "\(path ?? keptPath) is not a schema",
        remedy: error.description)
    }
  }

  /// Keeps a copy beside the data: on return it survives a power cut, whole, or the old one does.
  func keep() throws {
    if isKept { return }
    let files = SystemFileSystem()
    let newPath = keptPath + ".new"
    do throws(FileError) {
      if try files.attributes(of: newPath) != nil { try files.remove(newPath) }
      let file = try files.create(newPath)
      defer { file.close() }
      try file.write(bytes, at: 0)
      try file.sync()
      guard rename(newPath, keptPath) == 0 else {
        throw FileError(.other(errno), .rename, keptPath)
      }
      try files.syncDirectory(URL(filePath: keptPath).deletingLastPathComponent().path)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Tells a wrong directory from one that only lacks a schema.
  private static func checkDirectory(_ directory: String) throws {
    do throws(LogError) {
      _ = try LogDirectory(directory, fileSystem: SystemFileSystem())
    } catch {
      if case .notFound = error { return }
      throw SyncServerError(StoreError.log(error))
    }
  }

  /// The bytes of a file; `nil` if it is not there.
  private static func read(_ path: String) throws -> [UInt8]? {
    let files = SystemFileSystem()
    do throws(FileError) {
      guard let found = try files.attributes(of: path) else { return nil }
      guard found.kind != .directory else { throw FileError(.isADirectory, .open, path) }
      guard found.byteCount <= byteLimit else { throw FileError(.other(EFBIG), .read, path) }
      let file = try files.open(path, writable: false)
      defer { file.close() }
      return try file.read(at: 0, count: Int(found.byteCount))
    } catch {
      // A file where the directory is meant has no schema in it, and is told by opening it.
      if error.reason == .notADirectory { return nil }
      throw failure(error)
    }
  }

  private static func failure(_ error: FileError) -> Failure {
    switch error.reason {
    case .diskFull:
      return Failure(
        status: .diskFull, message: "the disk of \(error.path) is full",
        remedy: "Free some space and start the server again.")
    case .permission, .readOnly:
      return Failure(
        status: .inputOutput, message: "\(error.path) can't be read or written by this user",
        remedy: "Give this user the right to, or choose another path.")
    case .isADirectory:
      return Failure(
        status: .inputOutput, message: "\(error.path) is a folder, not a schema",
        remedy: "Name the schema's file.")
    case .other(EFBIG):
      return Failure(
        status: .schema, message: "\(error.path) has more than \(byteLimit) bytes",
        remedy: "Check the path of the schema.")
    case .notFound, .exists, .notADirectory, .locked, .other:
      return Failure(
        status: .inputOutput, message: "\(error.call.rawValue) failed on \(error.path)",
        remedy: "Check the path and the disk.")
    }
  }
}
